/**
 * What differs between the SQL of the two engines, and drizzle's builders on a connection to PostgreSQL. The queries are
 * written once, with drizzle's tables for SQLite; its asynchronous dialect for SQLite is the base here, so rows and types are
 * the same by construction.
 */
import { fillPlaceholders, NoopLogger } from 'drizzle-orm'
import { NoopCache } from 'drizzle-orm/cache/core'
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'
import { RemotePreparedQuery, SqliteRemoteDatabase, SQLiteRemoteSession } from 'drizzle-orm/sqlite-proxy'
import type { DrizzleConnection, LockName } from '../queries/connection.ts'

/** Rows as arrays of values, and how many rows a write changed. */
export type Sent = { readonly rows: unknown[][]; readonly changes: number }

/** What runs the statements of one set of queries. */
export type Wire = {
  send(text: string, values: readonly unknown[]): Promise<Sent>
  /** True inside transactions: what is read to be changed is locked. */
  readonly writes: boolean
}

/** Locks a row, so that any engine with the protocol of PostgreSQL can do it. Held until the transaction ends. */
export const lockText = (name: LockName | 'serial'): string =>
  `SELECT name FROM locks WHERE name = '${name}' FOR UPDATE`

/** SQL as it is written for SQLite, and as PostgreSQL takes it. */
const differences: readonly (readonly [sqlite: RegExp, postgres: string])[] = [
  [/\+\$/g, '$'], // `given` hides a value from SQLite's planner
  [/(?<= on conflict \([^)]*)"\w+"\.(?="\w+")/g, ''], // the target of a conflict is named without its table
  [/\bsqlite_version\(\)/g, "current_setting('server_version')"],
]

class PostgresDialect extends SQLiteAsyncDialect {
  override escapeParam(index: number): string {
    return `$${index + 1}`
  }

  override sqlToQuery(...written: Parameters<SQLiteAsyncDialect['sqlToQuery']>) {
    const query = super.sqlToQuery(...written)
    return { ...query, sql: differences.reduce((text, [from, to]) => text.replaceAll(from, to), query.sql) }
  }
}

/** A statement as `queries/reader.ts` runs it. */
class Statement {
  readonly isAsynchronous = true

  constructor(
    private readonly wire: Wire,
    private readonly text: string,
  ) {}

  readonly values = async (...values: readonly unknown[]): Promise<unknown[][]> =>
    (await this.wire.send(this.text, values)).rows

  readonly run = async (...values: readonly unknown[]): Promise<Sent> => await this.wire.send(this.text, values)

  locking(table: string): Statement {
    return this.wire.writes ? new Statement(this.wire, `${this.text} for update of "${table}"`) : this
  }
}

type Given = Record<string, unknown>
type Prepare = Parameters<SQLiteRemoteSession<NoSchema, NoSchema>['prepareQuery']>
type NoSchema = Record<string, never>

/** A prepared statement of drizzle. Its own would wrap each error in one that repeats the values. */
class Prepared extends RemotePreparedQuery {
  readonly stmt: Statement

  constructor(wire: Wire, [query, fields, method, isArray, mapper]: Prepare) {
    super(notUsed, query, new NoopLogger(), new NoopCache(), undefined, undefined, fields, method, isArray, mapper)
    this.stmt = new Statement(wire, query.sql)
  }

  override async run(given: Given = {}) {
    await this.stmt.run(...fillPlaceholders(this.query.params, given))
    return {}
  }

  override async all(given: Given = {}): Promise<unknown> {
    return this.mapAllResult(await this.values(given))
  }

  override async get(given: Given = {}): Promise<unknown> {
    return this.mapGetResult((await this.values(given))[0])
  }

  override async values<Row extends unknown[]>(given: Given = {}): Promise<Row[]> {
    return (await this.stmt.values(...fillPlaceholders(this.query.params, given))) as Row[] // by the selection
  }
}

class Session extends SQLiteRemoteSession<NoSchema, NoSchema> {
  constructor(
    private readonly wire: Wire,
    dialect: PostgresDialect,
  ) {
    super(notUsed, dialect, undefined)
  }

  override prepareQuery(...prepare: Prepare) {
    return new Prepared(this.wire, prepare)
  }
}

/** `Prepared` sends its statements itself. */
const notUsed = async () => await Promise.reject(new Error('Statements go through Prepared.'))

/**
 * drizzle's builders over a connection. Their types are those of the synchronous engine, and every answer is a promise. The
 * queries only await or return answers, which is right for both; so this is the one place that names the other type.
 */
export const drizzleOver = (wire: Wire): DrizzleConnection => {
  const dialect = new PostgresDialect()
  const builders: unknown = new SqliteRemoteDatabase('async', dialect, new Session(wire, dialect), undefined)
  const lock = async (name: LockName) => void (await wire.send(lockText(name), []))
  return Object.assign(builders as DrizzleConnection, { lock })
}
