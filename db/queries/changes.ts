import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'
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

/** Removes up to `limit` rows that meet the condition, in the given order if any; returns how many. The key names a row. */
export const removeSome = async (
  db: DrizzleConnection,
  key: SQLiteColumn,
  condition: SQL | undefined,
  limit: number,
  ...order: readonly SQL[]
): Promise<number> => {
  const some = db
    .select({ key })
    .from(key.table)
    .where(condition)
    .orderBy(...order)
    .limit(limit)
  return (await db.delete(key.table).where(inArray(key, some)).returning({ key })).length
}

/** Gives the answer after a turn of the event loop for others. For what a long transaction does, and its preparation. */
export const pausing = async <T>(answer: PromiseLike<T>): Promise<T> => {
  const value = await answer
  await new Promise((resolve) => setImmediate(resolve))
  return value
}
