import {
  type AnyColumn,
  asc,
  type Column,
  desc,
  eq,
  getTableColumns,
  inArray,
  lt,
  min,
  not,
  or,
  sql,
} from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { appTokens, authorizationCodes, movedKeys, tokenPairs } from '../tables/sqlite.ts'
import { removeSome } from './changes.ts'
import { type DrizzleConnection, given, lazily, only, placeholders } from './connection.ts'
import { freshWriter, lazyReader } from './reader.ts'

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

/** An insert of a row, or of some columns of one, whose key no other row must have. */
export const freshInsert = (db: DrizzleConnection, table: SQLiteTable, columns: object = getTableColumns(table)) =>
  db.insert(table).values(placeholders(columns)).onConflictDoNothing()

/** A function that makes such an insert. It throws `KeyTaken` if the key of the row is taken. */
export const freshInserter = <Row extends Readonly<Record<string, unknown>>>(
  db: DrizzleConnection,
  table: SQLiteTable,
  columns: Readonly<Record<string, Column>> = getTableColumns(table),
) => {
  const insert = lazily(() => freshWriter(freshInsert(db, table, columns), columns))
  return (row: Row): Awaitable<void> => insert().run(row)
}

/** Time-ordered keys of all tables together. Codes and pairs are of one series, because a grant names either. */
export const keyQueries = (db: DrizzleConnection) => {
  const moved = lazyReader(() =>
    db
      .select({ key: movedKeys.key })
      .from(movedKeys)
      .where(eq(movedKeys.uuid, given('uuid'))),
  )
  const highest = async (table: typeof appTokens | typeof authorizationCodes | typeof tokenPairs, before: TimeKey) =>
    only(await db.select({ key: table.key }).from(table).where(lt(table.key, before)).orderBy(desc(table.key)).limit(1))
      ?.key ?? null
  const hasNoRow = not(
    or(
      inArray(movedKeys.key, db.select({ key: appTokens.key }).from(appTokens)),
      inArray(movedKeys.key, db.select({ key: authorizationCodes.key }).from(authorizationCodes)),
      inArray(movedKeys.key, db.select({ key: tokenPairs.key }).from(tokenPairs)),
    ) ?? sql`0`,
  )

  return {
    /** The highest key of a token, a code or a pair below this one; null if there is none. */
    highestBelow: async (before: TimeKey): Promise<TimeKey | null> => {
      const found = await Promise.all(
        [appTokens, authorizationCodes, tokenPairs].map((table) => highest(table, before)),
      )
      return found.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
    },
    /** The key of the secret with this UUID if it cannot be computed from the UUID, else null. */
    moved: async (uuid: Uint8Array): Promise<TimeKey | null> => (await moved().first({ uuid }))?.key ?? null,
    /** Forgets up to `limit` moved keys whose rows are gone, and returns how many. */
    purgeMoved: async (limit: number) => await removeSome(db, movedKeys.uuid, hasNoRow, limit, asc(movedKeys.uuid)),
  }
}
