import { type AnyColumn, asc, desc, eq, inArray, lt, min, not, or, sql } from 'drizzle-orm'
import { andThen, type Awaitable } from '../../src/domain/awaitable.ts'
import { KeyTaken, type TimeKey } from '../../src/domain/time-key.ts'
import { appTokens, authorizationCodes, movedKeys, tokenPairs } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, lazily, only } from './connection.ts'
import type { Writer } from './reader.ts'

/** The lowest key of a table, which is that of its oldest row; null when the table is empty. */
export const oldestKey = <Key>(db: DrizzleConnection, key: AnyColumn<{ data: Key }>): (() => Promise<Key | null>) => {
  const lowest = lazily(() =>
    db
      .select({ key: min(key) })
      .from(key.table)
      .prepare(),
  )
  return async () => only(await lowest().execute())?.key ?? null
}

/** Inserts a row by a statement that does nothing when its key is taken. @throws KeyTaken then */
export const insertUnderFreshKey = (insert: Writer, row: Readonly<Record<string, unknown>>): Awaitable<void> =>
  andThen(insert.hasChanged(row), (isFresh) => {
    if (!isFresh) throw new KeyTaken()
  })

/** Time-ordered keys of all tables together. Codes and pairs are of one series, because a grant names either. */
export const keyQueries = (db: DrizzleConnection) => {
  const moved = lazily(() =>
    db
      .select({ key: movedKeys.key })
      .from(movedKeys)
      .where(eq(movedKeys.uuid, given('uuid')))
      .prepare(),
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
    /** The highest key below this one that a token, a code or a pair has; null when none has. */
    highestBelow: async (before: TimeKey): Promise<TimeKey | null> => {
      const found = await Promise.all(
        [appTokens, authorizationCodes, tokenPairs].map((table) => highest(table, before)),
      )
      return found.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
    },
    /** The key of the secret with this UUID where the UUID does not tell it, else null. */
    moved: async (uuid: Uint8Array): Promise<TimeKey | null> => only(await moved().execute({ uuid }))?.key ?? null,
    /** Forgets up to `limit` moved keys whose rows are gone; gives how many. */
    purgeMoved: async (limit: number): Promise<number> => {
      const gone = db.select({ uuid: movedKeys.uuid }).from(movedKeys).where(hasNoRow)
      const some = gone.orderBy(asc(movedKeys.uuid)).limit(limit)
      return (await db.delete(movedKeys).where(inArray(movedKeys.uuid, some)).returning({ key: movedKeys.key })).length
    },
  }
}
