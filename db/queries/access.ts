import { and, asc, count, desc, eq, gt, gte, inArray, isNull, max, min, type SQL } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import {
  apps,
  appTokens,
  authorizationCodes,
  clients,
  credentials,
  embeddedSessions,
  grants,
  installs,
  installSessionCodes,
  tokenPairs,
  users,
} from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { beside, type Place } from './places.ts'
import { isLiveOfApp, live, publisherOr } from './versions.ts'

/** Whose access is meant: all that an app has, or all that was issued for a user. */
export type AccessOf =
  { readonly kind: 'app'; readonly appId: string } | { readonly kind: 'user'; readonly userId: string }

/** A grant that has not been revoked, with the expiry of its unspent code or its access token. */
export type OpenGrant = {
  readonly id: string
  readonly appId: string
  readonly clientId: string
  readonly userId: string
  readonly expiresAt: number
  readonly codeExpiresAt: number | null
  readonly accessExpiresAt: number | null
}

/** Everything that was issued for one app or one user, to count it and to end it. */
export const accessQueries = (db: DrizzleConnection) => {
  const clientsOf = (appIds: readonly string[]) =>
    db
      .select({ id: clients.id })
      .from(clients)
      .where(inArray(clients.appId, [...appIds]))
  const grantsOf = (of: AccessOf): SQL =>
    of.kind === 'user' ? eq(grants.userId, of.userId) : inArray(grants.clientId, clientsOf([of.appId]))
  const installsOf = (of: AccessOf) =>
    db
      .select({ id: installs.id })
      .from(installs)
      .where(of.kind === 'user' ? eq(installs.userId, of.userId) : eq(installs.appId, of.appId))
  const openTokensOf = (appIds: readonly string[]) => {
    const own = inArray(credentials.clientId, clientsOf(appIds))
    return and(
      inArray(appTokens.credentialId, db.select({ id: credentials.id }).from(credentials).where(own)),
      isNull(appTokens.revokedAt),
    )
  }

  return {
    /** The first grants after the ID that have not been revoked, expired or not, in order. */
    openGrants: async (of: AccessOf, after: string, limit: number): Promise<OpenGrant[]> =>
      await db
        .select({
          ...pick(grants, 'id', 'appId', 'clientId', 'userId', 'expiresAt'),
          codeExpiresAt: authorizationCodes.expiresAt,
          accessExpiresAt: tokenPairs.accessExpiresAt,
        })
        .from(grants)
        .leftJoin(authorizationCodes, eq(authorizationCodes.key, grants.currentKey))
        .leftJoin(tokenPairs, eq(tokenPairs.key, grants.currentKey))
        .where(and(grantsOf(of), isNull(grants.revokedAt), gt(grants.id, after)))
        .orderBy(asc(grants.id))
        .limit(limit),
    /**
     * How many app tokens of these apps have neither ended nor expired, in one pass over all that were issued since the
     * key: they have no index by app.
     */
    countAppTokens: async (appIds: readonly string[], since: TimeKey, now: number) =>
      await db.$count(appTokens, and(gte(appTokens.key, since), openTokensOf(appIds), gt(appTokens.expiresAt, now))),
    /** The same for the tokens of one secret. */
    countTokensOfSecret: async (credentialId: string, since: TimeKey, now: number) =>
      await db.$count(
        appTokens,
        and(
          gte(appTokens.key, since),
          eq(appTokens.credentialId, credentialId),
          isNull(appTokens.revokedAt),
          gt(appTokens.expiresAt, now),
        ),
      ),
    /** The key of the app token that `rows` newer ones follow; null if there are fewer. */
    appTokenBefore: async (rows: number) =>
      (await db.select({ key: appTokens.key }).from(appTokens).orderBy(desc(appTokens.key)).limit(1).offset(rows))[0]
        ?.key ?? null,
    /** Ends every app token of an app, in one pass over all. */
    endAppTokens: async (appId: string, now: number) =>
      void (await db
        .update(appTokens)
        .set({ revokedAt: now })
        .where(openTokensOf([appId]))),
    /** How many embedded sessions have neither ended nor expired. `since` is a key before which none can be alive. */
    countEmbedded: async (of: AccessOf, since: string, now: number) =>
      await db.$count(
        embeddedSessions,
        and(
          gte(embeddedSessions.key, since),
          inArray(embeddedSessions.installId, installsOf(of)),
          isNull(embeddedSessions.endedAt),
          gt(embeddedSessions.expiresAt, now),
        ),
      ),
    /** Ends embedded sessions and spends the codes for them. Returns how many of each had neither ended nor expired. */
    endEmbedded: async (of: AccessOf, now: number) => {
      // First the codes: this waits for an exchange under way, whose session is then ended as well.
      const spent = await db
        .update(installSessionCodes)
        .set({ spentAt: now })
        .where(and(inArray(installSessionCodes.installId, installsOf(of)), isNull(installSessionCodes.spentAt)))
        .returning({ expiresAt: installSessionCodes.expiresAt })
      const ended = await db
        .update(embeddedSessions)
        .set({ endedAt: now })
        .where(and(inArray(embeddedSessions.installId, installsOf(of)), isNull(embeddedSessions.endedAt)))
        .returning({ expiresAt: embeddedSessions.expiresAt })
      const alive = (rows: readonly { readonly expiresAt: number }[]) =>
        rows.filter(({ expiresAt }) => expiresAt > now).length
      return { sessions: alive(ended), codes: alive(spent) }
    },
  }
}

/** Neither revoked nor expired. Grants of a suspended app are included. */
const isLive = (userId: string, now: number) =>
  and(eq(grants.userId, userId), isNull(grants.revokedAt), gt(grants.expiresAt, now))

/** What a user has allowed apps to do: the user's live grants. */
export const connectedAppQueries = (db: DrizzleConnection) => ({
  /** The user's live grants, counted by client and scopes: a few rows, however many devices there are. */
  countByScopes: async (userId: string, now: number) =>
    await db
      .select({
        clientId: grants.clientId,
        scopes: grants.scopes,
        appId: apps.id,
        appName: apps.name,
        appStatus: apps.status,
        publisher: publisherOr(users.name),
        iconSha256: live.iconSha256,
        grants: count(),
        oldestAt: min(grants.createdAt),
        /** When the newest token pair was issued; null if none was. */
        newestPairAt: max(tokenPairs.createdAt),
      })
      .from(grants)
      .innerJoin(apps, eq(apps.id, grants.appId))
      .innerJoin(users, eq(users.id, apps.ownerId))
      .leftJoin(live, isLiveOfApp)
      .leftJoin(tokenPairs, eq(tokenPairs.key, grants.currentKey)) // a grant that has only a code has no pair
      .where(isLive(userId, now))
      .groupBy(
        grants.clientId,
        grants.scopes,
        apps.id,
        apps.name,
        apps.status,
        apps.publisher,
        users.name,
        live.iconSha256,
      ),
  /** The user's live grants of one client beside the ID, newest first. */
  grantsOf: async (
    userId: string,
    clientId: string,
    page: { readonly now: number; readonly before: Place; readonly limit: number },
  ) => {
    const { isBeside, order } = beside(grants.id, 'descending', page.before)
    return await db
      .select({
        ...pick(grants, 'id', 'scopes', 'createdAt', 'expiresAt'),
        newestPairAt: tokenPairs.createdAt,
      })
      .from(grants)
      .leftJoin(tokenPairs, eq(tokenPairs.key, grants.currentKey))
      .where(and(isLive(userId, page.now), eq(grants.clientId, clientId), isBeside))
      .orderBy(order)
      .limit(page.limit)
  },
})
