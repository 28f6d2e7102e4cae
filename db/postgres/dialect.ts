/**
 * What differs between the SQL of the two engines, and drizzle's builders on a connection to PostgreSQL. The queries are
 * written once, with drizzle's tables for SQLite; its asynchronous dialect for SQLite is the base here, so rows and types are
 * the same by construction.
 */
import { type Column, fillPlaceholders, NoopLogger, sql } from 'drizzle-orm'
import { NoopCache } from 'drizzle-orm/cache/core'
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'
import { RemotePreparedQuery, SqliteRemoteDatabase, SQLiteRemoteSession } from 'drizzle-orm/sqlite-proxy'
import type { Environment } from '../../src/domain/app.ts'
import type { DrizzleConnection } from '../queries/connection.ts'
import { idColumn } from './link.ts'
import { listOf } from './rounds.ts'

/** Rows as arrays of values, and how many rows a write changed. */
export type Sent = { readonly rows: unknown[][]; readonly changes: number }

/** A select. `inside` is the same with the ID of the transaction as its last column; it locks what is read to be changed if `locks`. */
export type Selection = {
  readonly text: string
  readonly inside: string | null
  readonly locks: boolean
  /** The same for a list of keys, with the key as its last column; null if it does not ask for one row by its key. */
  readonly byKeys: string | null
}

/** A change that is written once for the values of several calls: each parameter is a list, and the first column of its rows the number of a call. */
export type Change = {
  readonly text: string
  /** The position of the value that no two calls of one statement may share; null if they never do. */
  readonly apart: number | null
}

/** What runs the statements of one set of queries. */
export type Wire = {
  send(text: string, values: unknown[]): Promise<Sent>
  read(selection: Selection, values: unknown[]): Promise<Sent>
  /**
   * Sends a statement whose answer decides nothing, and does not wait for it: it goes with the next one, or with COMMIT. If
   * it fails, so does the transaction; with `KeyTaken` if the key of this `fresh` row is taken.
   */
  push(text: string, values: unknown[]): void
  /** The same for a row under a fresh key. It fails with `KeyTaken` if the key is taken. */
  insert(change: Change, values: unknown[]): void
  /** Runs a change that has its own conditions, and says whether they were met. It fails with `KeyTaken` as `insert` does. */
  change(change: Change, values: unknown[]): Promise<boolean>
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

/** The type of a column in PostgreSQL. */
const typeOf = (column: Column): string =>
  ({ integer: 'bigint', text: 'text', blob: 'bytea' })[column.getSQLType()] ?? 'text'

/** The lists that a change is given, as rows `c1`, `c2` and so on, and their number. */
const callsText = (columns: readonly Column[]): string => {
  const lists = columns.map((column, index) => `$${index + 1}::text::${typeOf(column)}[]`)
  const names = columns.map((_, index) => `c${index + 1}`)
  return `with calls as (select * from unnest(${lists.join(', ')}) with ordinality as calls(${names.join(', ')}, call))`
}

/** A statement as `queries/reader.ts` runs it. */
export class Statement {
  constructor(
    private readonly wire: Wire,
    private readonly text: string,
  ) {}

  send: (...values: unknown[]) => Promise<Sent> = (...values) => this.wire.send(this.text, values)

  readonly push = (...values: unknown[]): void => this.wire.push(this.text, values)

  /** A select, which may lock the rows of one table, and may ask for one row by the key in this column. */
  reading(locks: string | null, key: Column | null): Statement {
    const withId = this.text.replace(' from ', `, ${idColumn} from `)
    const selection: Selection = {
      text: this.text,
      inside: locks === null ? withId : `${withId} for no key update of "${locks}"`,
      locks: locks !== null,
      // Row by row: for a list, the planner would read a table that is small as a whole, and go on when it has grown.
      byKeys:
        key &&
        `select row.*, asked.key from unnest($1::text::${typeOf(key)}[]) as asked(key),
          lateral (${this.text.replace('$1', 'asked.key')} offset 0) as row`,
    }
    return new Select(this.wire, selection)
  }

  /** This select of one row, for each of many: row by row, as above. Its values are lists. */
  readingEach(columns: readonly Column[]): Statement {
    const text = `${callsText(columns)} select row.* from calls, lateral (${this.#ofCalls(0)} offset 0) as row`
    const { send } = new Select(this.wire, { text, inside: null, locks: false, byKeys: null })
    return Object.assign(new Statement(this.wire, text), {
      send: (...lists: unknown[]) => send(...lists.map(listed)),
    })
  }

  /** This insert of one row, for each of many. Its values are lists. */
  insertingEach(columns: readonly Column[]): Statement {
    const text = `${callsText(columns)} ${this.#insertFrom('calls', 0)}`
    return Object.assign(new Statement(this.wire, text), {
      push: (...lists: unknown[]) => this.wire.push(text, lists.map(listed)),
    })
  }

  /** An insert of a row under a fresh key. A taken key is an error, because the answer would say too late that there was a conflict. */
  inserting(columns: readonly Column[]) {
    const text = `${callsText(columns)}, made as (${this.#insertFrom('calls', 0)} returning 1)
      select count(*), ${idColumn} from made`
    const change: Change = { text, apart: null }
    return (...values: unknown[]): void => this.wire.insert(change, values)
  }

  /**
   * An update of one row by its key, and an insert of one row that is made only if the update has changed one. Columns and values
   * as of both in turn. A row that another transaction has locked counts as not changed: nobody waits for another caller.
   */
  changing(insert: Statement, key: Column, columns: readonly Column[]) {
    const [, table = '', set = '', where = ''] = /^update ("\w+") (set .*) where (.*)$/.exec(this.#ofCalls(0)) ?? []
    const apart = Number(new RegExp(`"${key.name}" = c(\\d+)`).exec(where)?.[1]) - 1
    const text = `${callsText(columns)},
      free as (select calls.* from calls, lateral (select 1 from ${table} where ${where} for no key update skip locked) as row),
      changed as (update ${table} ${set} from free where ${where} returning free.*),
      made as (${insert.#insertFrom('changed', this.text.match(/\$\d+/g)?.length ?? 0)} returning 1)
      select call, ${idColumn} from changed`
    const change: Change = { text, apart }
    return (...values: unknown[]): Promise<boolean> => this.wire.change(change, values)
  }

  /** This insert, with the values after the first ones of each call. */
  #insertFrom(calls: string, before: number): string {
    return this.#ofCalls(before)
      .replace(' on conflict do nothing', '')
      .replace(/ values \((.*)\)$/, ` select $1 from ${calls}`)
  }

  #ofCalls(before: number): string {
    return this.text.replace(/\$(\d+)/g, (_, number: string) => `c${Number(number) + before}`)
  }
}

const listed = (values: unknown): string => listOf(Array.isArray(values) ? values : [values])

class Select extends Statement {
  constructor(wire: Wire, selection: Selection) {
    super(wire, selection.text)
    this.send = (...values) => wire.read(selection, values)
  }
}

type Given = Record<string, unknown>
type Prepare = Parameters<SQLiteRemoteSession<NoSchema, NoSchema>['prepareQuery']>
type NoSchema = Record<string, never>

/** A prepared statement of drizzle. Its own would wrap each error in one that repeats the values. */
class Prepared extends RemotePreparedQuery {
  constructor(
    private readonly wire: Wire,
    [query, fields, method, isArray, mapper]: Prepare,
  ) {
    super(notUsed, query, new NoopLogger(), new NoopCache(), undefined, undefined, fields, method, isArray, mapper)
  }

  /** Gives nothing, so nobody can look at how many rows were changed. */
  override async run(given: Given = {}) {
    this.wire.push(this.query.sql, fillPlaceholders(this.query.params, given))
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
    const selection = { text: query.sql, inside: null, locks: false, byKeys: null }
    const isSelect = query.sql.startsWith('select ')
    return (await (isSelect ? wire.read(selection, values) : wire.send(query.sql, values))).rows as Row[] // by the selection
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
  const remote = { prepare: (text: string) => new Statement(wire, text) }
  return Object.assign(builders as DrizzleConnection, { takePosition, notAhead, takesLists: true as const, remote })
}
