/**
 * Prepared statements. drizzle writes the SQL and the types; its own `execute` inspects every column of every row again and goes through
 * three promises, which took 3 of the 7 µs of a bearer check. Here the functions that bind the values and build the rows are made once
 * per statement, and answer at once. The types say `Awaitable`, because another engine answers with a promise.
 */
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import { Column, getTableColumns, getTableName, is, Param, Placeholder, sql, Table } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type DrizzleConnection, lazily } from './connection.ts'

export type Given = Readonly<Record<string, unknown>>
type Query = { readonly sql: string; readonly params: readonly unknown[] }
type Written = { toSQL(): { sql: string; params: unknown[] } }
type Select<Row> = Written & { readonly _: { readonly selectedFields: object }; prepare(): { all(): Row[] } }
type Columns = Readonly<Record<string, Column>>

/** What another engine must know of a select: the table whose rows it locks, the column if it asks for one row by its key. */
type ReaderOptions = {
  readonly locks?: SQLiteTable
  readonly byKey?: Column
  /** The columns of the values, if PostgreSQL is given lists of them. */
  readonly each?: Columns
}

export type Reader<Row> = {
  readonly all: (given: Given) => Awaitable<Row[]>
  /** The first row, or null. */
  readonly first: (given: Given) => Awaitable<Row | null>
  readonly has: (given: Given) => Awaitable<boolean>
}
type Writer = {
  readonly run: (given: Given) => Awaitable<void>
  /** Whether any row changed, for a conditional write. */
  readonly hasChanged: (given: Given) => Awaitable<boolean>
}

/**
 * Prepares a select of columns, plain or in groups; of an outer join only plain ones. Rows are what drizzle's `execute` gives. Rows
 * without groups are made by bun:sqlite itself, by the names of their columns. In a transaction of an engine that runs several at once,
 * the rows read of the table `locks` stay locked until its end. An engine on another machine reads the rows of several `byKey` together.
 */
export const reader = <Row>(db: DrizzleConnection, select: Select<Row>, options: ReaderOptions = {}): Reader<Row> => {
  const fields = select._.selectedFields
  const columns = Object.entries(fields).filter((entry): entry is [string, Column] => is(entry[1], Column))
  const isFlat = columns.length === Object.keys(fields).length
  if (isFlat) nameColumns(select, columns)
  const query = select.toSQL()
  const values = binder(query)
  const row = rowOf(fields, { column: 0 })
  if (db.remote !== undefined) {
    const { locks, byKey = null, each } = options
    const single = db.remote.prepare(query.sql)
    const statement =
      each === undefined
        ? single.reading(locks === undefined ? null : getTableName(locks), byKey)
        : single.readingEach(columnsOf(query, each))
    const rows = async (given: Given) => (await statement.send(...values(given))).rows
    return {
      all: async (given) => (await rows(given)).map(row),
      first: async (given) => (([found]) => (found === undefined ? null : row(found)))(await rows(given)),
      has: async (given) => (await rows(given)).length > 0,
    } as Reader<Row> // typed by the very selection that it is made from
  }
  const { statement, before } = local(db, query)
  if (!isFlat) {
    const rows = (given: Given) => {
      before()
      return statement.values(...values(given)) as unknown[][]
    }
    return {
      all: (given) => rows(given).map(row),
      first: (given) => (([found]) => (found === undefined ? null : row(found)))(rows(given)),
      has: (given) => rows(given).length > 0,
    } as Reader<Row> // as above
  }
  const mapped = columns.filter(([, column]) => !isPlain(column, 'mapFromDriverValue'))
  const map = (found: Record<string, unknown>) => {
    for (const [name, column] of mapped) if (found[name] !== null) found[name] = column.mapFromDriverValue(found[name])
    return found
  }
  const first = (given: Given) => {
    before()
    return statement.get(...values(given)) as Record<string, unknown> | null
  }
  return {
    all: (given) => {
      before()
      const rows = statement.all(...values(given)) as Record<string, unknown>[]
      return mapped.length === 0 ? rows : rows.map(map)
    },
    first: (given) => {
      const found = first(given)
      return found === null || mapped.length === 0 ? found : map(found)
    },
    has: (given) => first(given) !== null,
  } as Reader<Row> // as above
}

/**
 * Prepares an insert, an update or a delete without RETURNING. Only the answer to `hasChanged` is waited for. With `each`, PostgreSQL
 * is given lists of values for these columns.
 */
export const writer = (db: DrizzleConnection, write: Written, each?: Columns): Writer => {
  const query = write.toSQL()
  const values = binder(query)
  if (db.remote !== undefined) {
    const single = db.remote.prepare(query.sql)
    const statement = each === undefined ? single : single.insertingEach(columnsOf(query, each))
    return {
      run: (given) => statement.push(...values(given)),
      hasChanged: async (given) => (await statement.send(...values(given))).changes > 0,
    }
  }
  const run = runner(db, query)
  return { run: (given) => void run(values(given)), hasChanged: (given) => run(values(given)) > 0 }
}

/** Prepares an insert of a row with these columns, whose key no other row must have. @throws KeyTaken, from the transaction at the latest */
export const freshWriter = (db: DrizzleConnection, insert: Written, columns: Columns): Pick<Writer, 'run'> => {
  const query = insert.toSQL()
  const values = binder(query)
  if (db.remote !== undefined) {
    const inserting = db.remote.prepare(query.sql).inserting(columnsOf(query, columns))
    return { run: (given) => inserting(...values(given)) }
  }
  const run = runner(db, query)
  return {
    run: (given) => {
      if (run(values(given)) === 0) throw new KeyTaken()
    },
  }
}

/**
 * Prepares an update of the row with this key, and an insert of one row under a fresh key that is made if the update has changed one.
 * Tells whether it has. The values have the types of the columns of their names. On PostgreSQL they are one statement, which needs no
 * locks before it: its conditions decide. @throws KeyTaken
 */
export const stepWriter = (db: DrizzleConnection, update: Written, insert: Written, key: Column, columns: Columns) => {
  const [step, row] = [update.toSQL(), insert.toSQL()]
  const [stepValues, rowValues] = [binder(step), binder(row)]
  if (db.remote !== undefined) {
    const of = [...columnsOf(step, columns), ...columnsOf(row, columns)]
    const changing = db.remote.prepare(step.sql).changing(db.remote.prepare(row.sql), key, of)
    return { run: (given: Given): Awaitable<boolean> => changing(...stepValues(given), ...rowValues(given)) }
  }
  const [runStep, runRow] = [runner(db, step), runner(db, row)]
  return {
    run: (given: Given): Awaitable<boolean> => {
      if (runStep(stepValues(given)) === 0) return false
      if (runRow(rowValues(given)) === 0) throw new KeyTaken()
      return true
    },
  }
}

/** The same, prepared on first use, so that opening a database costs nothing for statements that are never run. */
export const lazyReader = <Row>(db: DrizzleConnection, select: () => Select<Row>, options?: ReaderOptions) =>
  lazily(() => reader(db, select(), options))
export const lazyWriter = (db: DrizzleConnection, write: () => Written, each?: Columns) =>
  lazily(() => writer(db, write(), each))

/** A statement of bun:sqlite, and what is to be called before each run: the writing connection refuses one outside of a transaction. */
const local = (db: DrizzleConnection, { sql: text }: Query) => ({
  statement: db.$client.prepare<unknown, never[]>(text),
  before: db.before ?? (() => undefined),
})

const runner = (db: DrizzleConnection, query: Query) => {
  const { statement, before } = local(db, query)
  return (values: never[]): number => {
    before()
    return statement.run(...values).changes
  }
}

/** Names each column as its field: columns of two tables may have the same name. The one place that looks behind drizzle's types. */
const nameColumns = (select: object, columns: readonly (readonly [name: string, column: Column])[]): void => {
  const config = Reflect.get(Reflect.get(select, '_'), 'config') as { fields: object }
  config.fields = Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))
}

/** The values of the parameters of a statement, in its order. */
const binder = ({ params }: Query): ((given: Given) => never[]) => {
  const getters = params.map((param): ((given: Given) => unknown) => {
    const value = is(param, Param) ? param.value : param
    if (!is(value, Placeholder)) {
      const constant = is(param, Param) ? param.encoder.mapToDriverValue(value) : value
      return () => constant
    }
    const { name } = value
    const encoder = is(param, Param) ? param.encoder : null
    const isAsIs = encoder === null || (is(encoder, Column) && isPlain(encoder, 'mapToDriverValue'))
    return (given) => {
      const found = given[name]
      if (found === undefined) throw new TypeError(`No value for ${name} was given.`)
      return isAsIs ? found : encoder.mapToDriverValue(found)
    }
  })
  return (given) => getters.map((get) => get(given)) as never[] // of the types of the columns
}

/** The columns that the parameters of the statement are named after. */
const columnsOf = ({ sql: text, params }: Query, columns: Columns): readonly Column[] =>
  params.map((param) => {
    const value = is(param, Param) ? param.value : param
    const column = is(value, Placeholder) ? columns[value.name] : undefined
    if (column === undefined) throw new TypeError(`A value of a statement has no column: ${text}`)
    return column
  })

/** Builds a row of groups from an array of values, which are in the order in which the selection names them. */
const rowOf = (selection: object, next: { column: number }): ((values: unknown[]) => Record<string, unknown>) => {
  const parts = Object.entries(selection).map(([name, part]: [string, unknown]) => {
    if (!is(part, Column)) return [name, rowOf(is(part, Table) ? getTableColumns(part) : Object(part), next)] as const
    const at = next.column++
    if (isPlain(part, 'mapFromDriverValue')) return [name, (values: unknown[]) => values[at]] as const
    return [name, (values: unknown[]) => (values[at] === null ? null : part.mapFromDriverValue(values[at]))] as const
  })
  return (values) => {
    const row: Record<string, unknown> = {}
    for (const [name, take] of parts) row[name] = take(values)
    return row
  }
}

/** Whether the column keeps values as they are: drizzle's default, and a custom column without a mapping of its own. */
const isPlain = (column: Column, mapping: 'mapFromDriverValue' | 'mapToDriverValue'): boolean => {
  if (column[mapping] === Column.prototype[mapping]) return true
  const own: unknown = Reflect.get(column, mapping === 'mapFromDriverValue' ? 'mapFrom' : 'mapTo')
  return column.columnType === 'SQLiteCustomColumn' && own === undefined
}
