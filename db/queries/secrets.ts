// What happens to secrets that are replaced while they are in use: client secrets, service keys and webhook secrets.
import { and, eq, gt, isNotNull, isNull, or, asc, getTableColumns, lte, max, lt } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { credentials, serviceKeys, type webhookSecrets, apps, clients, appTokens } from '../tables/sqlite.ts'
import { changeOne, oldestKey, freshInserter, inserter, finder } from './rows.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { lazyWriter, lazyReader } from './reader.ts'
import { beside, type Place } from './places.ts'
import { contains } from './users.ts'
import { pick } from '../../src/domain/pick.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { issueId } from './audit.ts'
import { expiring } from './lists.ts'

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
const presentedSecrets = <T extends typeof credentials | typeof serviceKeys>(db: DrizzleConnection, table: T) => {
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
          app: { id: apps.id, status: apps.status, tokenScopes: apps.tokenScopes },
        })
        .from(credentials)
        .innerJoin(clients, eq(clients.id, credentials.clientId))
        .innerJoin(apps, eq(apps.id, clients.appId))
        .where(eq(credentials.id, given('id', credentials.id))),
    { isShared: true },
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
    /** Secrets of a client that were revoked or whose grace period has ended, beside the ID, newest first. */
    endedOfClient: async (clientId: string, now: number, place: Place, limit: number, part = '') => {
      const { isBeside, order } = beside(credentials.id, 'descending', place)
      return await db
        .select()
        .from(credentials)
        .where(
          and(
            eq(credentials.clientId, clientId),
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

export type ServiceKey = typeof serviceKeys.$inferSelect

/** Keys of the builder, which are never deleted. */
export const serviceKeyQueries = (db: DrizzleConnection) => ({
  ...presentedSecrets(db, serviceKeys),
  find: finder(db, serviceKeys, 'id'),
  /** Keys beside the ID, newest first. */
  list: async (place: Place, limit: number): Promise<ServiceKey[]> => {
    const { isBeside, order } = beside(serviceKeys.id, 'descending', place)
    return await db.select().from(serviceKeys).where(isBeside).orderBy(order).limit(limit)
  },
  count: async (): Promise<number> => await db.$count(serviceKeys),
})

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
          lostScopes: apps.lostScopes,
          appCreatedAt: apps.createdAt,
        })
        .from(appTokens)
        .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
        .innerJoin(clients, eq(clients.id, credentials.clientId))
        .innerJoin(apps, eq(apps.id, clients.appId))
        .where(eq(appTokens.key, given('key', appTokens.key))),
    { isShared: true },
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
