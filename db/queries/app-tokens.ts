import { and, asc, eq, isNull, lt, lte } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { apps, appTokens, clients, credentials } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { issueId } from './audit.ts'
import { expiring } from './expiring.ts'
import { freshInserter, oldestKey } from './keys.ts'
import { lazyReader, lazyWriter } from './reader.ts'

export type AppToken = typeof appTokens.$inferSelect

/** App tokens: issued in one insert, checked in one read. */
export const appTokenQueries = (db: DrizzleConnection) => {
  const find = lazyReader(
    db,
    () =>
      db
        .select({
          ...pick(appTokens, 'key', 'hash', 'scopes', 'createdAt', 'expiresAt', 'revokedAt', 'credentialId'),
          credentialExpiresAt: credentials.expiresAt,
          credentialRevokedAt: credentials.revokedAt,
          clientId: credentials.clientId,
          environment: clients.environment,
          appId: clients.appId,
          appName: apps.name,
          appSlug: apps.slug,
          appStatus: apps.status,
          appCreatedAt: apps.createdAt,
        })
        .from(appTokens)
        .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
        .innerJoin(clients, eq(clients.id, credentials.clientId))
        .innerJoin(apps, eq(apps.id, clients.appId))
        .where(eq(appTokens.key, given('key'))),
    { byKey: appTokens.key },
  )
  const expired = lazyReader(db, () =>
    db
      .select({ key: appTokens.key, credentialId: appTokens.credentialId, createdAt: appTokens.createdAt })
      .from(appTokens)
      .where(lt(appTokens.key, given('before')))
      .orderBy(asc(appTokens.key))
      .limit(givenLimit('limit')),
  )
  const removeUpTo = lazyWriter(db, () => db.delete(appTokens).where(lte(appTokens.key, given('key'))))

  return {
    /** The key of the oldest row, or null. */
    oldestKey: oldestKey(db, appTokens.key),
    /** @throws KeyTaken */
    insert: freshInserter<AppToken>(db, appTokens),
    /** The token with the credential, client and app that it depends on, in any state; one read. */
    find: (key: number) => find().first({ key }),
    /** Ends the token. Returns the ID of the event of its issue, or null if it had already ended. */
    revoke: async (key: TimeKey, now: number): Promise<string | null> => {
      const ended = await db
        .update(appTokens)
        .set({ revokedAt: now })
        .where(and(eq(appTokens.key, key), isNull(appTokens.revokedAt)))
        .returning({ key: appTokens.key })
      return ended[0] === undefined ? null : issueId(ended[0].key)
    },
    /** Removes up to `limit` tokens that may go at this time and were made before another one, oldest first, and returns what they were. */
    purge: async (before: number, madeBefore: number, limit: number) => {
      const { at, keptMs } = expiring.app_tokens
      const rows = await expired().all({ before: at(Math.min(before - keptMs, madeBefore)), limit })
      const last = rows.at(-1)
      if (last !== undefined) await removeUpTo().run({ key: last.key })
      return rows
    },
  }
}
