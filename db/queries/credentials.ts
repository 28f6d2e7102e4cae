import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, lte, max, or } from 'drizzle-orm'
import { apps, clients, credentials } from '../tables/sqlite.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { beside, type Place } from './places.ts'
import { lazyReader } from './reader.ts'
import { presentedSecrets } from './rotating-secrets.ts'
import { contains } from './users.ts'

export type Credential = typeof credentials.$inferSelect

const isUnended = (now: number) =>
  and(isNull(credentials.revokedAt), or(isNull(credentials.expiresAt), gt(credentials.expiresAt, now)))

const hasEnded = (now: number) => or(isNotNull(credentials.revokedAt), lte(credentials.expiresAt, now))

/** Client secrets, which are never deleted. */
export const credentialQueries = (db: DrizzleConnection) => {
  const find = lazyReader(
    db,
    () =>
      db
        .select({
          credential: getTableColumns(credentials),
          environment: clients.environment,
          app: { id: apps.id, status: apps.status, scopes: apps.scopes },
        })
        .from(credentials)
        .innerJoin(clients, eq(clients.id, credentials.clientId))
        .innerJoin(apps, eq(apps.id, clients.appId))
        .where(eq(credentials.id, given('id'))),
    { byKey: credentials.id },
  )
  return {
    ...presentedSecrets(db, credentials),
    /** The credential with everything that decides whether it may be used, in any state; one read. */
    find: (id: string) => find().first({ id }),
    listByClient: async (clientId: string): Promise<Credential[]> =>
      await db.select().from(credentials).where(eq(credentials.clientId, clientId)).orderBy(asc(credentials.id)),
    /** The secrets of a client that still work, oldest first. */
    liveOfClient: async (clientId: string, now: number): Promise<Credential[]> =>
      await db
        .select()
        .from(credentials)
        .where(and(eq(credentials.clientId, clientId), isUnended(now)))
        .orderBy(asc(credentials.id)),
    /** Secrets of an app that were revoked or whose grace period has ended, beside the ID, newest first. */
    endedOfApp: async (appId: string, now: number, place: Place, limit: number, part = '') => {
      const { isBeside, order } = beside(credentials.id, 'descending', place)
      return await db
        .select({ credential: getTableColumns(credentials), environment: clients.environment })
        .from(credentials)
        .innerJoin(clients, eq(clients.id, credentials.clientId))
        .where(
          and(
            eq(clients.appId, appId),
            isBeside,
            hasEnded(now),
            part === '' ? undefined : or(contains(credentials.label, part), contains(credentials.id, part)),
          ),
        )
        .orderBy(order)
        .limit(limit)
    },
    /** When any secret of an app was last used; null if none was. */
    lastUseOfApp: async (appId: string) =>
      (
        await db
          .select({ at: max(credentials.lastUsedAt) })
          .from(credentials)
          .innerJoin(clients, eq(clients.id, credentials.clientId))
          .where(eq(clients.appId, appId))
      )[0]?.at ?? null,
  }
}
