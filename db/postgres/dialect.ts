/**
 * What differs between the SQL of the two engines, and drizzle's builders on a connection to PostgreSQL. The queries are
 * written once, with drizzle's tables for SQLite; its asynchronous dialect for SQLite is the base here, so rows and types are
 * the same by construction.
 */
import {
  Column,
  fillPlaceholders,
  getTableColumns,
  getTableName,
  is,
  NoopLogger,
  Param,
  Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { NoopCache } from 'drizzle-orm/cache/core'
import { SQLiteAsyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { RemotePreparedQuery, SqliteRemoteDatabase, SQLiteRemoteSession } from 'drizzle-orm/sqlite-proxy'
import type { Environment } from '../../src/domain/app.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection } from '../queries/connection.ts'
import { binder, type Given, type ReaderOptions, type RowStep, type Written } from '../queries/reader.ts'
import { idColumn } from './link.ts'
import { listsOf } from './rounds.ts'

/** Rows as arrays of values, and how many rows a write changed. */
export type Sent = { readonly rows: unknown[][]; readonly changes: number }

/** A select. `inside` is the same with the ID of the transaction as its last column; it locks what is read to be changed if `locks`. */
export type Selection = {
  readonly text: string
  readonly inside: string | null
  readonly locks: boolean
  /** The same for several calls, with a list for each value and the number of the call as its last column; null if it is sent alone. */
  readonly together: string | null
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
  [/\+(?=\$|calls\.)/g, ''], // `given` hides a value from SQLite's planner
  [/(?<= on conflict \([^)]*)"\w+"\.(?="\w+")/g, ''], // the target of a conflict is named without its table
  // The patterns of `isLike`, which need no start and no end there; outside of a set, ^ would be the start.
  [/ GLOB (\$\d+|calls\."\w+")/g, " ~ replace(btrim($1, '*'), '^', '\\^')"],
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

/** Writes a statement for several calls: each of its values is that of its name in a row of `calls`. */
class CallsDialect extends PostgresDialect {
  override escapeParam(_index: number, param?: unknown): string {
    return `calls."${nameAndType(param)[0]}"`
  }
}
const callsDialect = new CallsDialect()

const nameAndType = (param: unknown): readonly [name: string, type: string] => {
  if (is(param, Placeholder)) return [param.name, 'bigint'] // that of LIMIT
  if (is(param, Param) && is(param.value, Placeholder) && is(param.encoder, Column)) {
    return [param.value.name, typeOf(param.encoder)]
  }
  throw new TypeError('A statement for several calls takes only values that are given with their columns.')
}

/**
 * A statement for several calls, which reads their values from `calls`: a column for each name, and `call`, the number of the call. It
 * is given a list for each name, of the values of all calls. `written` is what follows that table. Most of the speed comes from
 * this: 16 changes share one commit.
 */
const forCalls = (written: SQL) => {
  const { sql: text, params } = callsDialect.sqlToQuery(written)
  const named = [...new Map(params.map((param) => [nameAndType(param)[0], param])).values()]
  const names = named.map((param) => nameAndType(param)[0])
  const lists = named.map((param, index) => `$${index + 1}::text::${nameAndType(param)[1]}[]`)
  const calls = `unnest(${lists.join(', ')}) with ordinality as calls("${names.join('", "')}", call)`
  return { text: `with calls as (select * from ${calls})${text}`, names, values: binder(named) }
}

/** The type of a column in PostgreSQL. */
const typeOf = (column: Column): string =>
  ({ integer: 'bigint', text: 'text', blob: 'bytea' })[column.getSQLType()] ?? 'text'

/** What `queries/reader.ts` prepares. */
export class Statements {
  constructor(
    private readonly wire: Wire,
    private readonly builders: Pick<DrizzleConnection, 'insert' | 'update'>,
  ) {}

  /** Rows are locked so that an insert that refers to one does not wait. */
  reader(select: Written, { locks, isShared = false }: ReaderOptions) {
    const { sql: text, params } = select.toSQL()
    const lock = locks === undefined ? '' : ` for no key update of "${getTableName(locks)}"`
    // Row by row: for a list, the planner would read a table that is small as a whole, and go on when it has grown.
    const ofCalls = lazily(() =>
      forCalls(sql` select row.*, calls.call from calls, lateral (${select.getSQL()} offset 0) as row`),
    )
    const selection: Selection = {
      text,
      inside: `select row.*, ${idColumn} from (${text}${lock}) as row`,
      locks: locks !== undefined,
      together: isShared ? ofCalls().text : null,
    }
    const values = binder(params)
    return {
      read: async (given: Given) => (await this.wire.read(selection, values(given))).rows,
      readEach: async (calls: readonly Given[]) =>
        (await this.wire.read(plain(ofCalls().text), listsOf(calls.map(ofCalls().values)))).rows,
    }
  }

  writer(write: Written) {
    const { sql: text, params } = write.toSQL()
    const values = binder(params)
    return {
      run: (given: Given) => this.wire.push(text, values(given)),
      hasChanged: async (given: Given) => (await this.wire.send(text, values(given))).changes > 0,
    }
  }

  listWriter(table: SQLiteTable) {
    const { text, values } = forCalls(sql` ${this.#insertFrom(sql`calls`, table).getSQL()}`)
    return (rows: readonly Given[]) => this.wire.push(text, listsOf(rows.map(values)))
  }

  /** A taken key is an error, because the answer would say too late that there was a conflict. */
  freshWriter(table: SQLiteTable) {
    const insert = this.#insertFrom(sql`calls`, table).returning({ made: sql`1` })
    const { text, values } = forCalls(sql`, made as ${insert} select count(*), ${sql.raw(idColumn)} from made`)
    const change: Change = { text, apart: null }
    return (row: Given) => this.wire.insert(change, values(row))
  }

  /**
   * A row that another transaction has locked counts as not changed: nobody waits for another caller. The condition stands twice,
   * because another transaction may have changed the row between the search and the lock.
   */
  stepWriter({ table, key, set, where, row }: RowStep) {
    const update = this.builders.update(table).set(set)
    const insert = this.#insertFrom(sql`changed as calls`, row)
    const { text, names, values } = forCalls(sql`,
      free as (select calls.* from calls, lateral (select 1 from ${table} where ${where} for no key update skip locked) as row),
      changed as (${update.getSQL()} from free as calls where ${where} returning calls.*),
      made as ${insert.returning({ made: sql`1` })}
      select call, ${sql.raw(idColumn)} from changed`)
    const change: Change = { text, apart: names.indexOf(key) }
    return (given: Given) => this.wire.change(change, values(given))
  }

  /** An insert of rows whose columns are named as those of the table. */
  #insertFrom(calls: SQL, table: SQLiteTable) {
    const columns = Object.entries(getTableColumns(table))
    const values = columns.map(([name, column]) => sql.param(sql.placeholder(name), column))
    return this.builders.insert(table).select(sql`select ${sql.join(values, sql`, `)} from ${calls}`)
  }
}

/** A select that locks nothing and is sent as it is. */
const plain = (text: string): Selection => ({ text, inside: null, locks: false, together: null })

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
    const isSelect = query.sql.startsWith('select ')
    return (await (isSelect ? wire.read(plain(query.sql), values) : wire.send(query.sql, values))).rows as Row[] // by the selection
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
  const db = builders as DrizzleConnection
  return Object.assign(db, { takePosition, notAhead, statements: new Statements(wire, db) })
}
