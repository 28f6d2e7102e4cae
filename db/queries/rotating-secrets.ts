// What happens to secrets that are replaced while they are in use: client secrets, service keys and webhook secrets.

import { and, eq, gt, isNotNull, isNull, or } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { credentials, serviceKeys, webhookSecrets } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { oldestKey } from './keys.ts'
import { lazyWriter } from './reader.ts'
import { inserter } from './rows.ts'

/** For every kind. */
export const rotatingSecrets = <T extends typeof credentials | typeof serviceKeys | typeof webhookSecrets>(
  db: DrizzleConnection,
  table: T,
) => ({
  insert: inserter(db, table),
  /** Ends secrets at this time, in epoch milliseconds, unless they end before. */
  endAt: async (secrets: readonly { readonly id: string }[], expiresAt: number): Promise<void> => {
    for (const { id } of secrets) {
      const isLater = or(isNull(table.expiresAt), gt(table.expiresAt, expiresAt))
      await db
        .update<SQLiteTable>(table)
        .set({ expiresAt })
        .where(and(eq(table.id, id), isLater))
    }
  },
})

/** For the kinds that somebody presents to this server. They are never deleted. */
export const presentedSecrets = <T extends typeof credentials | typeof serviceKeys>(
  db: DrizzleConnection,
  table: T,
) => {
  const touch = lazyWriter(db, () =>
    db
      .update(table)
      .set({ lastUsedAt: given('now') })
      .where(eq(table.id, given('id'))),
  )
  return {
    ...rotatingSecrets(db, table),
    /** The ID of the oldest one, or null. */
    oldestId: oldestKey(db, table.id),
    touch: (id: string, now: number) => touch().run({ id, now }),
    /** Ends the suspension; false if it was not suspended. */
    confirm: async (id: string) =>
      await changeOne<SQLiteTable>(db, table, { suspendedAt: null }, eq(table.id, id), isNotNull(table.suspendedAt)),
    /** Revokes it, also if its grace period has ended, since the clock may be wrong; false if it was revoked before. */
    revoke: async (id: string, now: number) =>
      await changeOne<SQLiteTable>(db, table, { revokedAt: now }, eq(table.id, id), isNull(table.revokedAt)),
  }
}
