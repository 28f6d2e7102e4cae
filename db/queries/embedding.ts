import { and, eq, isNull } from 'drizzle-orm'
import { appMembers, apps, embeddedSessions, installSessionCodes, installs, sessions, users } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { oldestKey } from './keys.ts'
import { lazyReader } from './reader.ts'
import { inserter } from './rows.ts'
import { head, isHeadOfApp, isLiveOfApp, live } from './versions.ts'

export type InstallSessionCode = typeof installSessionCodes.$inferSelect
/** When a code was spent, the key of the session that was issued for it, and the address of the caller; null if none was issued. */
type CodeUse = { readonly spentAt: number; readonly gaveKey: string | null; readonly spentFrom: string | null }
export type EmbeddedSession = typeof embeddedSessions.$inferSelect

/** The present state of everything that a code and a session of a frame depend on. */
const foundation = {
  appId: installs.appId,
  environment: installs.environment,
  agreedScopes: installs.scopes,
  liveScopes: live.scopes,
  headScopes: head.scopes,
  installApproval: installs.approval,
  installState: installs.state,
  appStatus: apps.status,
  appOwnerId: apps.ownerId,
  memberRole: appMembers.role,
  userId: installs.userId,
  userName: users.name,
  userEmail: users.email,
  userPictureUrl: users.pictureUrl,
  userStatus: users.status,
  sessionCreatedAt: sessions.createdAt,
  sessionExpiresAt: sessions.expiresAt,
  sessionEndedAt: sessions.endedAt,
  sessionLastUsedAt: sessions.lastUsedAt,
}

/** One-time codes and sessions of apps in a frame of the builder. */
export const embeddingQueries = (db: DrizzleConnection) => {
  const find = <T extends typeof installSessionCodes | typeof embeddedSessions, Own extends Record<string, T>>(
    table: T,
    own: Own,
  ) =>
    lazyReader(
      db,
      () =>
        db
          .select({ ...own, ...foundation })
          .from(table)
          .innerJoin(installs, eq(installs.id, table.installId))
          .innerJoin(apps, eq(apps.id, installs.appId))
          .innerJoin(users, eq(users.id, installs.userId))
          .innerJoin(sessions, and(eq(sessions.key, table.sessionKey), eq(sessions.userId, installs.userId)))
          .leftJoin(
            appMembers,
            and(
              eq(appMembers.appId, installs.appId),
              eq(appMembers.userId, installs.userId),
              isNull(appMembers.endedAt),
            ),
          )
          .leftJoin(live, isLiveOfApp)
          .leftJoin(head, isHeadOfApp)
          .where(eq(table.key, given('key'))),
      { locks: table }, // or a code that was spent a moment ago would not end the session it gave
    )
  const findCode = find(installSessionCodes, { code: installSessionCodes })
  const findSession = find(embeddedSessions, { session: embeddedSessions })
  const ofOrigin = lazyReader(db, () =>
    db
      .select({ key: installSessionCodes.key })
      .from(installSessionCodes)
      .where(eq(installSessionCodes.origin, given('origin')))
      .limit(givenLimit('limit')),
  )

  return {
    insertCode: inserter(db, installSessionCodes),
    insertSession: inserter(db, embeddedSessions),
    /** The code with its install, app, user and session, in any state; one read. */
    findCode: (key: string) => findCode().first({ key }),
    /** The same for an embedded session. */
    findSession: (key: string) => findSession().first({ key }),
    /** The keys of the oldest code and of the oldest session, or null. */
    oldestCodeKey: oldestKey(db, installSessionCodes.key),
    oldestSessionKey: oldestKey(db, embeddedSessions.key),
    /** Spends the code, with or without a session; true for exactly one of any number of racing calls. */
    spendCode: async (key: string, spent: CodeUse) =>
      await changeOne(
        db,
        installSessionCodes,
        spent,
        eq(installSessionCodes.key, key),
        isNull(installSessionCodes.spentAt),
      ),
    /** Ends the session; false if it had already ended. */
    endSession: async (key: string, now: number) =>
      await changeOne(
        db,
        embeddedSessions,
        { endedAt: now },
        eq(embeddedSessions.key, key),
        isNull(embeddedSessions.endedAt),
      ),
    /** Whether a recent code was issued for a page of this origin. */
    isKnownOrigin: (origin: string) => ofOrigin().has({ origin, limit: 1 }),
  }
}
