import { and, getTableColumns, sql, type AnyColumn, desc, lt, min, type SQL } from 'drizzle-orm'
import {
  type SQLiteTable,
  getTableConfig,
  type SQLiteColumn,
  type SQLiteUpdateSetSource,
} from 'drizzle-orm/sqlite-core'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, given, only } from './connection.ts'
import { freshWriter, insertOfRow, lazyReader, lazyWriter, listWriter, type ReaderOptions } from './reader.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { appTokens, authorizationCodes, tokenPairs } from '../tables/sqlite.ts'

/** Functions that find and insert whole rows of a table. */

type Row<T extends SQLiteTable> = T['$inferSelect']
type Names<T extends SQLiteTable> = keyof Row<T> & string

/** A function that inserts a row. */
export const inserter = <T extends SQLiteTable>(db: DrizzleConnection, table: T) => {
  const insert = lazyWriter(db, () => insertOfRow(db, table))
  return (row: Row<T>): Awaitable<void> => insert().run(row)
}

/** The same for many rows. */
export const listInserter = <T extends SQLiteTable>(db: DrizzleConnection, table: T) => {
  const insert = lazily(() => listWriter(db, table))
  return (rows: readonly Row<T>[]): Awaitable<void> => {
    if (rows.length > 0) insert()(rows)
  }
}

/** The values of these columns, in their order. */
type Values<T extends SQLiteTable, Name extends readonly Names<T>[]> = {
  readonly [Index in keyof Name]: Row<T>[Name[Index]]
}

/** A function that finds the row that has the given values in the named columns, which must be unique, or null. */
export const finder = <T extends SQLiteTable, const Name extends readonly Names<T>[]>(
  db: DrizzleConnection,
  table: T,
  ...names: Name
) => findBy(db, table, names, {})

/** The same for a row whose state decides what a transaction writes. */
export const lockingFinder = <T extends SQLiteTable, const Name extends readonly Names<T>[]>(
  db: DrizzleConnection,
  table: T,
  ...names: Name
) => findBy(db, table, names, { locks: table })

const findBy = <T extends SQLiteTable, Name extends readonly Names<T>[]>(
  db: DrizzleConnection,
  table: T,
  names: Name,
  options: ReaderOptions,
) => {
  const find = lazyReader(db, () => selectBy(db, table, names), options)
  return (...values: Values<T, Name>) =>
    find().first(Object.fromEntries(names.map((name, index) => [name, values[index]]))) as Awaitable<Row<T> | null> // by its table
}

/** A function that finds what there is of many rows, in no order. On PostgreSQL this is one statement. */
export const listFinder = <T extends SQLiteTable, Name extends Names<T>>(
  db: DrizzleConnection,
  table: T,
  ...names: readonly Name[]
) => {
  const find = lazyReader(db, () => selectBy(db, table, names))
  return async (sought: readonly Pick<Row<T>, Name>[]) =>
    (sought.length === 0 ? [] : await find().each(sought)) as readonly Row<T>[] // as above
}

const selectBy = (db: DrizzleConnection, table: SQLiteTable, names: readonly string[]) => {
  const columns = getTableColumns(table)
  const conditions = names.map((name) => sql`${columns[name]} = ${given(name, columns[name])}`)
  return db
    .select()
    .from(table)
    .where(and(...conditions))
}

/** The lowest key of a table, which is that of its oldest row; null if the table is empty. */
export const oldestKey = <Key>(db: DrizzleConnection, key: AnyColumn<{ data: Key }>): (() => Promise<Key | null>) => {
  const lowest = lazily(() =>
    db
      .select({ key: min(key) })
      .from(key.table)
      .prepare(),
  )
  return async () => only(await lowest().execute())?.key ?? null
}

/** A function that inserts a row. It throws `KeyTaken` if the key of the row is taken. */
export const freshInserter = <Row extends Readonly<Record<string, unknown>>>(
  db: DrizzleConnection,
  table: SQLiteTable,
) => {
  const insert = lazily(() => freshWriter(db, table))
  return (row: Row): Awaitable<void> => insert()(row)
}

/** Time-ordered keys of all tables together. Codes and pairs are of one series, because a grant names either. */
export const keyQueries = (db: DrizzleConnection) => {
  const highest = async (table: typeof appTokens | typeof authorizationCodes | typeof tokenPairs, before: TimeKey) =>
    only(await db.select({ key: table.key }).from(table).where(lt(table.key, before)).orderBy(desc(table.key)).limit(1))
      ?.key ?? null

  return {
    /** The highest key of a token, a code or a pair below this one; null if there is none. */
    highestBelow: async (before: TimeKey): Promise<TimeKey | null> => {
      const found = await Promise.all(
        [appTokens, authorizationCodes, tokenPairs].map((table) => highest(table, before)),
      )
      return found.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
    },
  }
}

/** Changes the one row that meets all conditions; false if none does. Of racing calls with the same conditions one gets true. */
export const changeOne = async <T extends SQLiteTable>(
  db: DrizzleConnection,
  table: T,
  values: SQLiteUpdateSetSource<T>,
  ...conditions: readonly (SQL | undefined)[]
): Promise<boolean> => {
  const update = db
    .update(table)
    .set(values)
    .where(and(...conditions))
  return (await update.returning({ changed: sql`1` })).length === 1
}

/** The same for its removal. */
export const removeOne = async (db: DrizzleConnection, table: SQLiteTable, ...conditions: readonly SQL[]) =>
  (
    await db
      .delete(table)
      .where(and(...conditions))
      .returning({ removed: sql`1` })
  ).length === 1

/** The columns that name a row: the primary key. */
export const keyOf = (table: SQLiteTable): readonly SQLiteColumn[] => {
  const { columns, primaryKeys } = getTableConfig(table)
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
}

/** Whether a row is among the first `limit` that meet the condition, in the given order if any. */
export const isAmong = (
  db: DrizzleConnection,
  table: SQLiteTable,
  condition: SQL | undefined,
  limit: number,
  ...order: readonly SQL[]
): SQL => {
  const key = keyOf(table)
  const some = db
    .select(Object.fromEntries(key.map((column) => [column.name, column])))
    .from(table)
    .where(condition)
    .orderBy(...order)
    .limit(limit)
  return sql`(${sql.join([...key], sql`, `)}) in ${some}`
}

/** Removes up to `limit` rows that meet the condition, in the given order if any; returns how many. */
export const removeSome = async (...some: Parameters<typeof isAmong>): Promise<number> => {
  const [db, table] = some
  const removed = db.delete(table).where(isAmong(...some))
  return (await removed.returning({ removed: sql`1` })).length
}

/** Gives the answer after a turn of the event loop for others. For what a long transaction does, and its preparation. */
export const pausing = async <T>(answer: PromiseLike<T>): Promise<T> => {
  const value = await answer
  await new Promise((resolve) => setImmediate(resolve))
  return value
}
