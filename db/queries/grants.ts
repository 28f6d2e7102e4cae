import { and, asc, eq, getTableColumns, gt, inArray, isNull, lte } from 'drizzle-orm'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { apps, authorizationCodes, grants, redirectUris, tokenPairs, users } from '../tables/sqlite.ts'
import { changeOne, freshInserter, lockingFinder, oldestKey } from './rows.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { lazyReader, lazyWriter, stepWriter } from './reader.ts'

export type Grant = typeof grants.$inferSelect
export type AuthorizationCode = typeof authorizationCodes.$inferSelect
export type TokenPair = typeof tokenPairs.$inferSelect

/** What a successful exchange or refresh changes in its grant. */
type GrantStep = Pick<Grant, 'expiresAt' | 'retryKey' | 'retrySalt' | 'retryFingerprint' | 'retryUntil'>

/** Whether a purge removed nothing of a family (it has not expired, or is gone), a part or all of it. */
type PurgedFamily =
  | { readonly kind: 'kept' }
  | {
      readonly kind: 'shortened' | 'removed'
      /** Rows that are gone, and how many of them were token pairs. */
      readonly rows: number
      readonly pairs: number
      readonly clientId: string
    }

/** The rows that every family has besides its token pairs. They are removed last. */
const codeAndGrant = 2

/** What closes the window in which the last step of a grant may be repeated. */
export const noRetry = { retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null } as const

/** Grants with the codes and token pairs that continue them. */
export const grantQueries = (db: DrizzleConnection) => {
  const byId = lockingFinder(db, grants, 'id') // or a purge could remove what was refreshed since it looked
  const findCode = lazyReader(
    db,
    () =>
      db
        .select({
          code: getTableColumns(authorizationCodes),
          grant: getTableColumns(grants),
          userStatus: users.status,
          /** Null if the client of the grant does not have the redirect URI any more. */
          registeredUri: redirectUris.uri,
        })
        .from(authorizationCodes)
        .innerJoin(grants, eq(grants.key, authorizationCodes.grantKey))
        .innerJoin(users, eq(users.id, grants.userId))
        .leftJoin(
          redirectUris,
          and(eq(redirectUris.clientId, grants.clientId), eq(redirectUris.uri, authorizationCodes.redirectUri)),
        )
        .where(eq(authorizationCodes.key, given('key', authorizationCodes.key))),
    { locks: grants, isShared: true },
  )
  const findPair = lazyReader(
    db,
    () =>
      db
        .select({ pair: getTableColumns(tokenPairs), grant: getTableColumns(grants), userStatus: users.status })
        .from(tokenPairs)
        .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
        .innerJoin(users, eq(users.id, grants.userId))
        .where(eq(tokenPairs.key, given('key', tokenPairs.key))),
    { locks: grants, isShared: true },
  )
  const findAccess = lazyReader(
    db,
    () =>
      db
        .select({
          key: tokenPairs.key,
          hash: tokenPairs.accessHash,
          scopes: tokenPairs.scopes,
          createdAt: tokenPairs.createdAt,
          expiresAt: tokenPairs.accessExpiresAt,
          grantId: grants.id,
          grantCurrentKey: grants.currentKey,
          grantRevokedAt: grants.revokedAt,
          clientId: grants.clientId,
          appId: grants.appId,
          appStatus: apps.status,
          lostScopes: apps.lostScopes,
          userId: grants.userId,
          userStatus: users.status,
          userName: users.name,
          userEmail: users.email,
          userPictureUrl: users.pictureUrl,
          userExternalId: users.externalId,
        })
        .from(tokenPairs)
        .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
        .innerJoin(apps, eq(apps.id, grants.appId))
        .innerJoin(users, eq(users.id, grants.userId))
        .where(eq(tokenPairs.key, given('key', tokenPairs.key))),
    { isShared: true },
  )
  const advance = lazily(() =>
    stepWriter(db, {
      table: grants,
      key: 'grantKey',
      set: {
        currentKey: given('key', grants.currentKey),
        expiresAt: given('expiresAt', grants.expiresAt),
        retryKey: given('retryKey', grants.retryKey),
        retrySalt: given('retrySalt', grants.retrySalt),
        retryFingerprint: given('retryFingerprint', grants.retryFingerprint),
        retryUntil: given('retryUntil', grants.retryUntil),
      },
      where: and(
        eq(grants.key, given('grantKey', grants.key)),
        eq(grants.currentKey, given('previousKey', grants.currentKey)),
        isNull(grants.revokedAt),
      ),
      row: tokenPairs,
    }),
  )
  const pairBefore = lazyReader(db, () =>
    db
      .select({ previousKey: tokenPairs.previousKey })
      .from(tokenPairs)
      .where(eq(tokenPairs.key, given('key'))),
  )
  const liveScopes = lazyReader(db, () =>
    db
      .selectDistinct({ scopes: grants.scopes })
      .from(grants)
      .where(
        and(
          eq(grants.userId, given('userId')),
          eq(grants.clientId, given('clientId')),
          isNull(grants.revokedAt),
          gt(grants.expiresAt, given('now')),
        ),
      ),
  )
  const removeCode = lazyWriter(db, () => db.delete(authorizationCodes).where(eq(authorizationCodes.key, given('key'))))
  const remove = lazyWriter(db, () => db.delete(grants).where(eq(grants.key, given('key'))))
  return {
    /** This and the next two: @throws KeyTaken */
    insert: freshInserter<Grant>(db, grants),
    insertCode: freshInserter<AuthorizationCode>(db, authorizationCodes),
    insertPair: freshInserter<TokenPair>(db, tokenPairs),
    byId,
    /**
     * A code, spent or not, with its grant, what the grant depends on, and the client that its redirect URI is registered
     * for now (null for none); one read.
     */
    findCode: (key: number) => findCode().first({ key }),
    /** A token pair, spent or not, with its grant and what the grant depends on; one read. */
    findPair: (key: number) => findPair().first({ key }),
    /** The keys of the oldest code and of the oldest pair, or null. */
    oldestCodeKey: oldestKey(db, authorizationCodes.key),
    oldestPairKey: oldestKey(db, tokenPairs.key),
    /** Everything that a user access token depends on, in any state; one read. */
    findAccess: (key: number) => findAccess().first({ key }),
    /**
     * Spends the code or refresh token whose key is the pair's `previousKey`: moves the grant on to the pair only if that very key
     * is still the current one and the grant is not revoked. Of any number of racing calls one makes the change. @throws KeyTaken
     */
    advance: (pair: TokenPair, grantStep: GrantStep) => advance()({ ...grantStep, ...pair }),
    /** Revokes the grant, and with it every code and token of it; false if it was revoked before. */
    revoke: async (id: string, now: number) =>
      await changeOne(db, grants, { revokedAt: now, ...noRetry }, eq(grants.id, id), isNull(grants.revokedAt)),
    /**
     * Ends grants of the user, or of the user for one client (null: for all), that had not ended: the first of them after
     * the ID, at most `limit`. Returns them in no order.
     */
    revokeOfUser: async (
      userId: string,
      clientId: string | null,
      now: number,
      part: { readonly after: string; readonly limit: number },
    ) => {
      const open = and(
        eq(grants.userId, userId),
        gt(grants.id, part.after),
        isNull(grants.revokedAt), // also expired ones: a clock that is set back must not revive them
        clientId === null ? undefined : eq(grants.clientId, clientId),
      )
      const due = db.select({ id: grants.id }).from(grants).where(open).orderBy(asc(grants.id)).limit(part.limit)
      return await db
        .update(grants)
        .set({ revokedAt: now, ...noRetry })
        .where(inArray(grants.id, due))
        .returning({ id: grants.id, appId: grants.appId, clientId: grants.clientId })
    },
    /** Whether this client has or had a grant of the user that is still stored. */
    wasGranted: async (userId: string, clientId: string) =>
      (
        await db
          .select({ id: grants.id })
          .from(grants)
          .where(and(eq(grants.userId, userId), eq(grants.clientId, clientId)))
          .limit(1)
      ).length === 1,
    closeRetry: async (id: string) => void (await db.update(grants).set(noRetry).where(eq(grants.id, id))),
    /** Erases the salts of these grants whose retry window has closed, and returns how many there were. */
    closeRetries: async (ids: readonly string[], before: number) => {
      const due = and(inArray(grants.id, [...ids]), lte(grants.retryUntil, before))
      return (await db.update(grants).set(noRetry).where(due).returning({ id: grants.id })).length
    },
    /** The distinct scopes of the live grants of this client by the user. */
    liveScopes: async (userId: string, clientId: string, now: number): Promise<string[]> =>
      (await liveScopes().all({ userId, clientId, now })).map(({ scopes }) => scopes),
    /** At most `limit` grants after the ID, in order of creation, for the purge. */
    window: async (afterId: string, limit: number) =>
      await db
        .select({ id: grants.id, expiresAt: grants.expiresAt, retryUntil: grants.retryUntil })
        .from(grants)
        .where(gt(grants.id, afterId))
        .orderBy(asc(grants.id))
        .limit(limit),
    /**
     * Removes an expired family from its newest token back to its code, at most `limit` rows, and finally the code and
     * the grant. A larger family is shortened and needs another call. It is revoked in the same statement, because its
     * current key now names a spent token. A family with a key from `newestBefore` on is kept.
     */
    purgeFamily: async (
      id: string,
      expiredBefore: number,
      limit: number,
      newestBefore = Number.MAX_SAFE_INTEGER,
    ): Promise<PurgedFamily> => {
      const grant = await byId(id)
      if (grant === null || grant.expiresAt > expiredBefore || grant.currentKey >= newestBefore) return { kind: 'kept' }
      const { clientId } = grant
      const mostPairs = limit - codeAndGrant
      const keys: TimeKey[] = []
      let next = grant.currentKey
      while (keys.length < mostPairs) {
        const row = await pairBefore().first({ key: next })
        if (row === null) break
        keys.push(next)
        next = row.previousKey
      }
      const pairs = keys.length
      if (pairs > 0) await db.delete(tokenPairs).where(inArray(tokenPairs.key, keys))
      if (pairs >= mostPairs) {
        await db
          .update(grants)
          .set({ currentKey: next, revokedAt: grant.revokedAt ?? expiredBefore, ...noRetry })
          .where(eq(grants.key, grant.key))
        return { kind: 'shortened', rows: pairs, pairs, clientId }
      }
      await removeCode().run({ key: next })
      await remove().run({ key: grant.key })
      return { kind: 'removed', rows: pairs + codeAndGrant, pairs, clientId }
    },
  }
}
