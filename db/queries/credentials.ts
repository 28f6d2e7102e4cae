import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, lte, max, or } from 'drizzle-orm'
import { apps, clients, credentials } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { oldestKey } from './keys.ts'
import { beside, type Place } from './places.ts'
import { lazyReader, lazyWriter } from './reader.ts'
import { inserter } from './rows.ts'
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
  const touch = lazyWriter(db, () =>
    db
      .update(credentials)
      .set({ lastUsedAt: given('now') })
      .where(eq(credentials.id, given('id'))),
  )

  return {
    insert: inserter(db, credentials),
    /** The credential with everything that decides whether it may be used, in any state; one read. */
    find: (id: string) => find().first({ id }),
    /** The ID of the oldest credential, or null. */
    oldestId: oldestKey(db, credentials.id),
    touch: (id: string, now: number) => touch().run({ id, now }),
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
    setExpiry: async (id: string, expiresAt: number) =>
      void (await db.update(credentials).set({ expiresAt }).where(eq(credentials.id, id))),
    /** Ends the suspension of a secret; false if it was not suspended. */
    confirm: async (id: string) =>
      await changeOne(
        db,
        credentials,
        { suspendedAt: null },
        eq(credentials.id, id),
        isNotNull(credentials.suspendedAt),
      ),
    /** Revokes the secret, also one whose grace period has ended, since the clock may be wrong; false if it was revoked before. */
    revoke: async (id: string, now: number) =>
      await changeOne(db, credentials, { revokedAt: now }, eq(credentials.id, id), isNull(credentials.revokedAt)),
  }
}
