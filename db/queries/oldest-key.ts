import { type AnyColumn, min } from 'drizzle-orm'
import { type Connection, lazily, only } from './connection.ts'

/** Asks for the lowest value of the column that a table is ordered by, which is its oldest row's; null when it is empty. */
export const oldestKey = (db: Connection, key: AnyColumn<{ data: string }>): (() => Promise<string | null>) => {
  const lowest = lazily(() =>
    db
      .select({ key: min(key) })
      .from(key.table)
      .prepare(),
  )
  return async () => only(await lowest().execute())?.key ?? null
}
