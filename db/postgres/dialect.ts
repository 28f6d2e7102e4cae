/**
 * What differs between the SQL of the two engines, and drizzle's builders on a connection to PostgreSQL. The queries are
 * written once, with drizzle's tables for SQLite; its asynchronous dialect for SQLite is the base here, so rows and types are
 * the same by construction.
 */
import { fillPlaceholders, getTableName, NoopLogger, sql, type Table } from 'drizzle-orm'
import { NoopCache } from 'drizzle-orm/cache/core'
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'
import { RemotePreparedQuery, SqliteRemoteDatabase, SQLiteRemoteSession } from 'drizzle-orm/sqlite-proxy'
import type { Environment } from '../../src/domain/app.ts'
import type { DrizzleConnection } from '../queries/connection.ts'
import { idColumn } from './link.ts'

/** Rows as arrays of values, and how many rows a write changed. */
export type Sent = { readonly rows: unknown[][]; readonly changes: number }

/** What runs the statements of one set of queries. */
export type Wire = {
  send(text: string, values: unknown[]): Promise<Sent>
  /**
   * Sends a statement whose answer decides nothing, and does not wait for it: it goes with the next one, or with COMMIT. If
   * it fails, so does the transaction; with `KeyTaken` if the key of this `fresh` row is taken.
   */
  push(text: string, values: unknown[], isFresh: boolean): void
  /**
   * Runs a change that has its own conditions, and says how many rows it has changed. Its rows are the ID of the transaction. It
   * fails with `KeyTaken` if the key of a row that it inserts is taken.
   */
  change(text: string, values: unknown[]): Promise<Sent>
  /**
   * Runs a select of a transaction. `inside` is the same select with the ID of the transaction as the last column, if there is
   * one, and locks what is read to be changed if `locks`.
   */
  readonly read?: (text: string, inside: string | null, locks: boolean, values: unknown[]) => Promise<Sent>
}

/** Locks a row, so that any engine with the protocol of PostgreSQL can do it. Held until the transaction ends. */
export const serialLockText = `SELECT ${idColumn} FROM locks WHERE name = $1 FOR UPDATE`

/** Locks the client, unless its app has been deleted, and only then takes a position. */
const positionText = `WITH place AS MATERIALIZED (
    SELECT id FROM clients WHERE app_id = $1 AND environment = $2 FOR NO KEY UPDATE)
  SELECT nextval('webhook_positions') FROM (SELECT count(*) FROM place) AS locked`

/** The clock of PostgreSQL in epoch milliseconds. */
export const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

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

  send: (...values: unknown[]) => Promise<Sent> = (...values) => this.wire.send(this.text, values)

  readonly push = (...values: unknown[]): void => this.wire.push(this.text, values, false)

  /** Inserts a row. A taken key is an error, because the answer would say too late that there was a conflict. */
  readonly pushFresh = (...values: unknown[]): void =>
    this.wire.push((this.#freshText ??= this.text.replace(' on conflict do nothing', '')), values, true)
  #freshText: string | null = null

  readonly change = (...values: unknown[]): Promise<Sent> => this.wire.change(this.text, values)

  /** A select as transactions run it: it gives the ID of the transaction in addition, and locks the rows of one table. */
  reading(locks: string | null): Statement {
    const { read } = this.wire
    if (read === undefined) return this
    const withId = this.text.replace(' from ', `, ${idColumn} from `)
    const inside = locks === null ? withId : `${withId} for no key update of "${locks}"`
    return new Select(this.wire, (values) => read(this.text, inside, locks !== null, values))
  }

  /** An update of one row, and an insert of one row that is made only if the update has changed one. Values as of both in turn. */
  followedBy(insert: Statement): Statement {
    const before = this.text.match(/\$\d+/g)?.length ?? 0
    const inserted = insert.text
      .replace(' on conflict do nothing', '')
      .replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`)
      .replace(/ values \((.*)\)$/, ' select $1 from changed')
    return new Statement(this.wire, `with changed as (${this.text} returning 1) ${inserted} returning ${idColumn}`)
  }
}

class Select extends Statement {
  constructor(wire: Wire, read: (values: unknown[]) => Promise<Sent>) {
    super(wire, '')
    this.send = (...values) => read(values)
  }
}

type Given = Record<string, unknown>
type Prepare = Parameters<SQLiteRemoteSession<NoSchema, NoSchema>['prepareQuery']>
type NoSchema = Record<string, never>

/** A prepared statement of drizzle. Its own would wrap each error in one that repeats the values. */
class Prepared extends RemotePreparedQuery {
  readonly stmt: Statement

  constructor(
    private readonly wire: Wire,
    [query, fields, method, isArray, mapper]: Prepare,
  ) {
    super(notUsed, query, new NoopLogger(), new NoopCache(), undefined, undefined, fields, method, isArray, mapper)
    this.stmt = new Statement(wire, query.sql)
  }

  /** Gives nothing, so nobody can look at how many rows were changed. */
  override async run(given: Given = {}) {
    this.stmt.push(...fillPlaceholders(this.query.params, given))
    return {}
  }

  override async all(given: Given = {}): Promise<unknown> {
    return this.mapAllResult(await this.values(given))
  }

  override async get(given: Given = {}): Promise<unknown> {
    return this.mapGetResult((await this.values(given))[0])
  }

  override async values<Row extends unknown[]>(given: Given = {}): Promise<Row[]> {
    const { query, wire } = this
    const values = fillPlaceholders(query.params, given)
    const isSelect = wire.read !== undefined && query.sql.startsWith('select ')
    const sent = isSelect ? wire.read(query.sql, null, false, values) : this.stmt.send(...values)
    return (await sent).rows as Row[] // by the selection
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

const notAhead = (at: number) => sql<number>`least(${at}, ${sql.raw(databaseNow)})`

/**
 * drizzle's builders over a connection. Their types are those of the synchronous engine, and every answer is a promise. The
 * queries only await or return answers, which is right for both; so this is the one place that names the other type.
 */
export const drizzleOver = (wire: Wire): DrizzleConnection => {
  const dialect = new PostgresDialect()
  const builders: unknown = new SqliteRemoteDatabase('async', dialect, new Session(wire, dialect), undefined)
  const takePosition = async (appId: string, environment: Environment) =>
    Number((await wire.send(positionText, [appId, environment])).rows[0]?.[0])
  const gatherStatistics = async (...tables: readonly Table[]) => {
    await wire.send(`ANALYZE ${tables.map((table) => `"${getTableName(table)}"`).join(', ')}`, [])
  }
  return Object.assign(builders as DrizzleConnection, { takePosition, notAhead, gatherStatistics })
}
