import { and, type SQL, sql } from 'drizzle-orm'
import {
  getTableConfig,
  type SQLiteColumn,
  type SQLiteTable,
  type SQLiteUpdateSetSource,
} from 'drizzle-orm/sqlite-core'
import type { DrizzleConnection } from './connection.ts'

/** Changes the one row that meets all conditions; false if none does. Of racing calls with the same conditions one gets true. */
export const changeOne = async <T extends SQLiteTable>(
  db: DrizzleConnection,
  table: T,
  values: SQLiteUpdateSetSource<T>,
  ...conditions: readonly SQL[]
): Promise<boolean> => {
  const update = db
    .update(table)
    .set(values)
    .where(and(...conditions))
  return (await update.returning({ changed: sql`1` })).length === 1
}

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
