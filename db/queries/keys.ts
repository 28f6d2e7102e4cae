import { type AnyColumn, desc, getTableColumns, lt, min } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { appTokens, authorizationCodes, tokenPairs } from '../tables/sqlite.ts'
import { type DrizzleConnection, everyColumn, lazily, only } from './connection.ts'
import { freshWriter } from './reader.ts'

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

/** An insert of a row whose key no other row must have. */
export const freshInsert = (db: DrizzleConnection, table: SQLiteTable) =>
  db.insert(table).values(everyColumn(table)).onConflictDoNothing()

/** A function that makes such an insert. It throws `KeyTaken` if the key of the row is taken. */
export const freshInserter = <Row extends Readonly<Record<string, unknown>>>(
  db: DrizzleConnection,
  table: SQLiteTable,
) => {
  const insert = lazily(() => freshWriter(db, freshInsert(db, table), getTableColumns(table)))
  return (row: Row): Awaitable<void> => insert().run(row)
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
