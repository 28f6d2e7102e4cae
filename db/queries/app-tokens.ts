import { and, asc, eq, isNull, lt, lte } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { apps, appTokens, clients, credentials } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, lookup, only } from './connection.ts'

export type AppToken = typeof appTokens.$inferSelect

export const appTokenQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(appTokens).values(everyColumn(appTokens)).prepare())
  const credentialColumn = <C extends SQLiteColumn>(column: C) =>
    lookup(db, credentials, column, credentials.id, appTokens.credentialId)
  const clientColumn = <C extends SQLiteColumn>(column: C) =>
    lookup(db, clients, column, clients.id, credentialColumn(credentials.clientId))
  const appColumn = <C extends SQLiteColumn>(column: C) => lookup(db, apps, column, apps.id, clientColumn(clients.appId))
  const find = lazily(() =>
    db
      .select({
        hash: appTokens.hash,
        scopes: appTokens.scopes,
        createdAt: appTokens.createdAt,
        expiresAt: appTokens.expiresAt,
        revokedAt: appTokens.revokedAt,
        credentialId: appTokens.credentialId,
        credentialExpiresAt: credentialColumn(credentials.expiresAt),
        credentialRevokedAt: credentialColumn(credentials.revokedAt),
        clientId: credentialColumn(credentials.clientId),
        environment: clientColumn(clients.environment),
        appId: clientColumn(clients.appId),
        appName: appColumn(apps.name),
        appSlug: appColumn(apps.slug),
        appStatus: appColumn(apps.status),
        appCreatedAt: appColumn(apps.createdAt),
      })
      .from(appTokens)
      .where(eq(appTokens.key, given('key')))
      .prepare(),
  )
  const expired = lazily(() =>
    db
      .select({ key: appTokens.key, credentialId: appTokens.credentialId, createdAt: appTokens.createdAt })
      .from(appTokens)
      .where(lt(appTokens.key, given('before')))
      .orderBy(asc(appTokens.key))
      .limit(given('limit'))
      .prepare(),
  )
  const removeUpTo = lazily(() => db.delete(appTokens).where(lte(appTokens.key, given('key'))).prepare())

  const oldest = lazily(() =>
    db.select({ key: appTokens.key }).from(appTokens).orderBy(asc(appTokens.key)).limit(1).prepare(),
  )

  return {
    /** The key of the oldest row, or null. */
    oldestKey: async () => only(await oldest().execute())?.key ?? null,
    insert: async (token: AppToken) => void (await insert().execute(token)),
    /** The token with the credential, client and app it depends on, whatever state they are in; one read. */
    find: async (key: string) => only(await find().execute({ key })),
    /** Ends the token; false when it had already ended. */
    revoke: async (key: string, now: number) =>
      (
        await db
          .update(appTokens)
          .set({ revokedAt: now })
          .where(and(eq(appTokens.key, key), isNull(appTokens.revokedAt)))
          .returning({ key: appTokens.key })
      ).length === 1,
    /** Removes up to `limit` tokens minted before the key, oldest first; gives what they were. */
    purge: async (before: string, limit: number) => {
      const rows = await expired().execute({ before, limit })
      const last = rows.at(-1)
      if (last !== undefined) await removeUpTo().execute({ key: last.key })
      return rows
    },
  }
}
