/**
 * Prepared statements. drizzle writes the SQL and the types; its own `execute` inspects every column of every row again and goes through
 * three promises, which took 3 of the 7 µs of a bearer check. Here the functions that bind the values and build the rows are made once
 * per statement, and answer at once. The types say `Awaitable`, because another engine answers with a promise.
 */
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import { Column, getTableColumns, is, Param, Placeholder, type SQL, sql, type SQLWrapper, Table } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, everyColumn } from './connection.ts'

export type Given = Readonly<Record<string, unknown>>
export type Written = SQLWrapper & { toSQL(): { sql: string; params: unknown[] } }
type Select<Row> = Written & { readonly _: { readonly selectedFields: object }; prepare(): { all(): Row[] } }

/** What another engine must know of a select: the table whose rows it locks, and whether it is so hot that callers share a statement. */
export type ReaderOptions = { readonly locks?: SQLiteTable; readonly isShared?: boolean }

/** An update of one row, and an insert of a row under a fresh key that is made if the update has changed one. */
export type RowStep = {
  readonly table: SQLiteTable
  /** The name of the value that is the key of the changed row. */
  readonly key: string
  readonly set: Readonly<Record<string, SQL>>
  readonly where: SQL | undefined
  /** The table of the inserted row. */
  readonly row: SQLiteTable
}

export type Reader<Row> = {
  readonly all: (given: Given) => Awaitable<Row[]>
  /** The first row, or null. */
  readonly first: (given: Given) => Awaitable<Row | null>
  readonly has: (given: Given) => Awaitable<boolean>
  /** The rows of one call or more, in no order. On PostgreSQL this is one statement. */
  readonly each: (calls: readonly Given[]) => Awaitable<Row[]>
}
type Writer = {
  readonly run: (given: Given) => Awaitable<void>
  /** Whether any row changed, for a conditional write. */
  readonly hasChanged: (given: Given) => Awaitable<boolean>
}

/**
 * Prepares a select of columns, plain or in groups; of an outer join only plain ones. Rows are what drizzle's `execute` gives. Rows
 * without groups are made by bun:sqlite itself, by the names of their columns. In a transaction of an engine that runs several at once,
 * the rows read of the table `locks` stay locked until its end, but for `conditional` ones, which lock nothing. An engine on another
 * machine reads together what several callers ask for by a select that `isShared`; each value of it has a name and a column of its own.
 */
export const reader = <Row>(db: DrizzleConnection, select: Select<Row>, options: ReaderOptions = {}): Reader<Row> => {
  const fields = select._.selectedFields
  const columns = Object.entries(fields).filter((entry): entry is [string, Column] => is(entry[1], Column))
  const isFlat = columns.length === Object.keys(fields).length
  if (isFlat) nameColumns(select, columns)
  const row = rowOf(fields, { column: 0 })
  if (db.statements !== undefined) {
    const { read, readEach } = db.statements.reader(select, options)
    return {
      all: async (given) => (await read(given)).map(row),
      first: async (given) => (([found]) => (found === undefined ? null : row(found)))(await read(given)),
      has: async (given) => (await read(given)).length > 0,
      each: async (calls) => (await readEach(calls)).map(row),
    } as Reader<Row> // typed by the very selection that it is made from
  }
  const { statement, values, before } = local(db, select)
  if (!isFlat) {
    const rows = (given: Given) => {
      before()
      return statement.values(...values(given)) as unknown[][]
    }
    return {
      all: (given) => rows(given).map(row),
      first: (given) => (([found]) => (found === undefined ? null : row(found)))(rows(given)),
      has: (given) => rows(given).length > 0,
      each: (calls) => calls.flatMap((given) => rows(given).map(row)),
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
  const all = (given: Given) => {
    before()
    const rows = statement.all(...values(given)) as Record<string, unknown>[]
    return mapped.length === 0 ? rows : rows.map(map)
  }
  return {
    all,
    first: (given) => {
      const found = first(given)
      return found === null || mapped.length === 0 ? found : map(found)
    },
    has: (given) => first(given) !== null,
    each: (calls) => calls.flatMap(all),
  } as Reader<Row> // as above
}

/** Prepares an insert, an update or a delete without RETURNING. Only the answer to `hasChanged` is waited for. */
export const writer = (db: DrizzleConnection, write: Written): Writer => {
  if (db.statements !== undefined) return db.statements.writer(write)
  const run = runner(db, write)
  return { run: (given) => void run(given), hasChanged: (given) => run(given) > 0 }
}

/** An insert of a row. */
export const insertOfRow = (db: DrizzleConnection, table: SQLiteTable) => db.insert(table).values(everyColumn(table))

/** Prepares an insert of one row or more. On PostgreSQL this is one statement, which takes a third of the time. */
export const listWriter = (db: DrizzleConnection, table: SQLiteTable): ((rows: readonly Given[]) => void) => {
  if (db.statements !== undefined) return db.statements.listWriter(table)
  const run = runner(db, insertOfRow(db, table))
  return (rows) => rows.forEach(run)
}

/** Prepares an insert of a row whose key no other row must have. @throws KeyTaken, from the transaction at the latest */
export const freshWriter = (db: DrizzleConnection, table: SQLiteTable): ((row: Given) => void) => {
  if (db.statements !== undefined) return db.statements.freshWriter(table)
  const run = runner(db, insertOfRow(db, table).onConflictDoNothing())
  return (row) => {
    if (run(row) === 0) throw new KeyTaken()
  }
}

/**
 * Prepares a step, which tells whether it has changed a row. On PostgreSQL it is one statement, which needs no locks before it: its
 * conditions decide. @throws KeyTaken
 */
export const stepWriter = (db: DrizzleConnection, step: RowStep): ((given: Given) => Awaitable<boolean>) => {
  if (db.statements !== undefined) return db.statements.stepWriter(step)
  const { table, set, where, row } = step
  const change = runner(db, db.update(table).set(set).where(where))
  const insert = freshWriter(db, row)
  return (given) => {
    if (change(given) === 0) return false
    insert(given)
    return true
  }
}

/** The same, prepared on first use, so that opening a database costs nothing for statements that are never run. */
export const lazyReader = <Row>(db: DrizzleConnection, select: () => Select<Row>, options?: ReaderOptions) =>
  lazily(() => reader(db, select(), options))

/**
 * One select for each set of the names that are asked for, prepared on first use; a value of null asks for nothing. `select` writes
 * the one in which these are asked for. There are as many as conditions can be chosen, so only a few may be.
 */
export const shapedReader = <Row, Asked extends Given>(
  db: DrizzleConnection,
  select: (isAsked: (name: keyof Asked & string) => boolean) => Select<Row>,
  options?: ReaderOptions,
): ((asked: Asked) => Awaitable<Row[]>) => {
  const readers = new Map<string, Reader<Row>>()
  return (asked) => {
    let shape = ''
    for (const name in asked) if (asked[name] !== null) shape += `,${name}` // at each of the hottest reads
    let prepared = readers.get(shape)
    if (prepared === undefined) {
      prepared = reader(
        db,
        select((name) => (asked[name] ?? null) !== null),
        options,
      )
      readers.set(shape, prepared)
    }
    return prepared.all(asked)
  }
}
export const lazyWriter = (db: DrizzleConnection, write: () => Written) => lazily(() => writer(db, write()))

/** A statement of bun:sqlite, and what is to be called before each run: the writing connection refuses one outside of a transaction. */
const local = (db: DrizzleConnection, written: Written) => {
  const { sql: text, params } = written.toSQL()
  return {
    statement: db.$client.prepare<unknown, never[]>(text),
    values: binder(params),
    before: db.before ?? (() => undefined),
  }
}

/** Makes a change, and gives the number of changed rows. */
const runner = (db: DrizzleConnection, write: Written) => {
  const { statement, values, before } = local(db, write)
  return (given: Given): number => {
    const bound = values(given)
    before()
    return statement.run(...bound).changes
  }
}

/** Names each column as its field: columns of two tables may have the same name. The one place that looks behind drizzle's types. */
const nameColumns = (select: object, columns: readonly (readonly [name: string, column: Column])[]): void => {
  const config = Reflect.get(Reflect.get(select, '_'), 'config') as { fields: object }
  config.fields = Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))
}

/** The values of the parameters of a statement, in its order. */
export const binder = (params: readonly unknown[]): ((given: Given) => never[]) => {
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
