import { and, count, desc, eq, gt, isNull, lt, max, min } from 'drizzle-orm'
import { apps, grants, tokenPairs, users } from '../tables/sqlite.ts'
import type { Connection } from './connection.ts'

/** Neither revoked nor expired; whether the app is suspended is told, not asked. */
const isLive = (userId: string, now: number) =>
  and(eq(grants.userId, userId), isNull(grants.revokedAt), gt(grants.expiresAt, now))

/** What a user has allowed apps: live grants, seen from the user. */
export const connectedAppQueries = (db: Connection) => {
  return {
    /** The user's live grants, counted by client and scopes: a few rows, however many devices there are. */
    countByScopes: async (userId: string, now: number) =>
      await db
        .select({
          clientId: grants.clientId,
          scopes: grants.scopes,
          appName: apps.name,
          appStatus: apps.status,
          publisher: users.name,
          grants: count(),
          oldestAt: min(grants.createdAt),
          /** When the newest token pair was issued; null while there is none yet. */
          newestPairAt: max(tokenPairs.createdAt),
        })
        .from(grants)
        .innerJoin(apps, eq(apps.id, grants.appId))
        .innerJoin(users, eq(users.id, apps.ownerId))
        .leftJoin(tokenPairs, eq(tokenPairs.key, grants.currentKey)) // while it names a code there is no pair
        .where(isLive(userId, now))
        .groupBy(grants.clientId, grants.scopes, apps.name, apps.status, users.name),
    /** The user's live grants of one client before the ID, newest first. */
    grantsOf: async (
      userId: string,
      clientId: string,
      page: { readonly now: number; readonly before: string; readonly limit: number },
    ) =>
      await db
        .select({
          id: grants.id,
          scopes: grants.scopes,
          createdAt: grants.createdAt,
          expiresAt: grants.expiresAt,
          newestPairAt: tokenPairs.createdAt,
        })
        .from(grants)
        .leftJoin(tokenPairs, eq(tokenPairs.key, grants.currentKey))
        .where(and(isLive(userId, page.now), eq(grants.clientId, clientId), lt(grants.id, page.before)))
        .orderBy(desc(grants.id))
        .limit(page.limit),
  }
}
