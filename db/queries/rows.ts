import { and, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { type DrizzleConnection, everyColumn, given } from './connection.ts'
import { type Given, lazyReader, lazyWriter } from './reader.ts'

/** Functions that find and insert whole rows of a table. */

type Row<T extends SQLiteTable> = T['$inferSelect']
type Names<T extends SQLiteTable> = keyof Row<T> & string

/** A function that inserts a row. */
export const inserter = <T extends SQLiteTable>(db: DrizzleConnection, table: T) => {
  const insert = lazyWriter(db, () => insertOf(db, table))
  return (row: Row<T>): Awaitable<void> => insert().run(row)
}

/** A function that inserts many rows. On PostgreSQL this is one statement, which takes a third of the time. */
export const listInserter = <T extends SQLiteTable>(db: DrizzleConnection, table: T) => {
  const columns = getTableColumns<SQLiteTable>(table)
  const insert = lazyWriter(db, () => insertOf(db, table), columns)
  return async (rows: readonly Row<T>[]): Promise<void> => {
    if (db.takesLists === true) await insert().run(listsOf(Object.keys(columns), rows))
    else for (const row of rows) await insert().run(row)
  }
}

const insertOf = (db: DrizzleConnection, table: SQLiteTable) => db.insert(table).values(everyColumn(table))

/** A function that finds the row that has the given values in the named columns, which must be unique, or null. */
export const finder = <T extends SQLiteTable, Name extends Names<T>>(
  db: DrizzleConnection,
  table: T,
  ...names: readonly Name[]
) => {
  const find = lazyReader(db, () => selectBy(db, table, names))
  return (values: Pick<Row<T>, Name>) => find().first(values) as Awaitable<Row<T> | null> // by its table
}

/** The same for a row whose state decides what a transaction writes. */
export const lockingFinder = <T extends SQLiteTable, Name extends Names<T>>(
  db: DrizzleConnection,
  table: T,
  ...names: readonly Name[]
) => {
  const find = lazyReader(db, () => selectBy(db, table, names), { locks: table })
  return (values: Pick<Row<T>, Name>) => find().first(values) as Awaitable<Row<T> | null> // as above
}

/** A function that finds what there is of many rows, in no order. On PostgreSQL this is one statement. */
export const listFinder = <T extends SQLiteTable, Name extends Names<T>>(
  db: DrizzleConnection,
  table: T,
  ...names: readonly Name[]
) => {
  const find = lazyReader(db, () => selectBy(db, table, names), { each: getTableColumns<SQLiteTable>(table) })
  return async (sought: readonly Pick<Row<T>, Name>[]): Promise<readonly Row<T>[]> => {
    if (db.takesLists === true) return (await find().all(listsOf(names, sought))) as readonly Row<T>[] // as above
    const found: Row<T>[] = []
    for (const values of sought) found.push(...((await find().all(values)) as readonly Row<T>[])) // as above
    return found
  }
}

const selectBy = (db: DrizzleConnection, table: SQLiteTable, names: readonly string[]) => {
  const columns = getTableColumns(table)
  const conditions = names.map((name) => sql`${columns[name]} = ${given(name, columns[name])}`)
  return db
    .select()
    .from(table)
    .where(and(...conditions))
}

/** For each name the values of all rows. */
const listsOf = (names: readonly string[], rows: readonly Given[]): Given =>
  Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]))
