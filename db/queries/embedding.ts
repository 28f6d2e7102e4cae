import { and, asc, eq, isNull, lt, lte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { apps, embeddedSessions, installSessionCodes, installs, sessions, users, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, everyColumn, given, givenLimit, lazily } from './connection.ts'
import { oldestKey } from './keys.ts'
import { reader, writer } from './reader.ts'

export type InstallSessionCode = typeof installSessionCodes.$inferSelect
/** When a code was spent, the key of the session that it gave, and the address that asked; the last two are null when it gave none. */
type CodeUse = { readonly spentAt: number; readonly gaveKey: string | null; readonly spentFrom: string | null }
export type EmbeddedSession = typeof embeddedSessions.$inferSelect

const live = alias(versions, 'live_versions')
const heads = alias(versions, 'head_versions')
/** Written out, as the partial index `versions_active` is. */
const isLiveOfApp = and(eq(live.appId, apps.id), eq(live.status, sql`'active'`))

/** What a code and a session of a frame stand on, as it is now. */
const foundation = {
  appId: installs.appId,
  environment: installs.environment,
  agreedScopes: installs.scopes,
  liveScopes: live.scopes,
  headScopes: heads.scopes,
  installApproval: installs.approval,
  installState: installs.state,
  appStatus: apps.status,
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
  const insertCode = lazily(() => writer(db.insert(installSessionCodes).values(everyColumn(installSessionCodes))))
  const insertSession = lazily(() => writer(db.insert(embeddedSessions).values(everyColumn(embeddedSessions))))
  const findCode = lazily(() =>
    reader(
      db
        .select({ code: installSessionCodes, ...foundation })
        .from(installSessionCodes)
        .innerJoin(installs, eq(installs.id, installSessionCodes.installId))
        .innerJoin(apps, eq(apps.id, installs.appId))
        .innerJoin(users, eq(users.id, installs.userId))
        .innerJoin(
          sessions,
          and(eq(sessions.key, installSessionCodes.sessionKey), eq(sessions.userId, installs.userId)),
        )
        .leftJoin(live, isLiveOfApp)
        .leftJoin(heads, eq(heads.id, apps.developmentVersionId))
        .where(eq(installSessionCodes.key, given('key'))),
    ),
  )
  const findSession = lazily(() =>
    reader(
      db
        .select({ session: embeddedSessions, ...foundation })
        .from(embeddedSessions)
        .innerJoin(installs, eq(installs.id, embeddedSessions.installId))
        .innerJoin(apps, eq(apps.id, installs.appId))
        .innerJoin(users, eq(users.id, installs.userId))
        .innerJoin(sessions, and(eq(sessions.key, embeddedSessions.sessionKey), eq(sessions.userId, installs.userId)))
        .leftJoin(live, isLiveOfApp)
        .leftJoin(heads, eq(heads.id, apps.developmentVersionId))
        .where(eq(embeddedSessions.key, given('key'))),
    ),
  )
  const ofOrigin = lazily(() =>
    reader(
      db
        .select({ key: installSessionCodes.key })
        .from(installSessionCodes)
        .where(eq(installSessionCodes.origin, given('origin')))
        .limit(givenLimit('limit')),
    ),
  )

  /** Removes up to `limit` rows minted before the key, oldest first; gives how many. */
  const purge = async (table: typeof installSessionCodes | typeof embeddedSessions, before: string, limit: number) => {
    const rows = await db
      .select({ key: table.key })
      .from(table)
      .where(lt(table.key, before))
      .orderBy(asc(table.key))
      .limit(limit)
    const last = rows.at(-1)
    if (last !== undefined) await db.delete(table).where(lte(table.key, last.key))
    return rows.length
  }

  return {
    insertCode: (code: InstallSessionCode) => insertCode().run(code),
    insertSession: (session: EmbeddedSession) => insertSession().run(session),
    /** The code with its install, app, user and session, whatever state they are in; one read. */
    findCode: (key: string) => findCode().first({ key }),
    /** The embedded session likewise. */
    findSession: (key: string) => findSession().first({ key }),
    /** The keys of the oldest code and of the oldest session, or null. */
    oldestCodeKey: oldestKey(db, installSessionCodes.key),
    oldestSessionKey: oldestKey(db, embeddedSessions.key),
    /** Spends the code, for a session or for none; true for exactly one of any number of racing calls. */
    spendCode: async (key: string, spent: CodeUse) =>
      (
        await db
          .update(installSessionCodes)
          .set(spent)
          .where(and(eq(installSessionCodes.key, key), isNull(installSessionCodes.spentAt)))
          .returning({ key: installSessionCodes.key })
      ).length === 1,
    /** Ends the session; false when it had already ended. */
    endSession: async (key: string, now: number) =>
      (
        await db
          .update(embeddedSessions)
          .set({ endedAt: now })
          .where(and(eq(embeddedSessions.key, key), isNull(embeddedSessions.endedAt)))
          .returning({ key: embeddedSessions.key })
      ).length === 1,
    /** Whether a code was made lately for a page of this origin, so that it has reason to call at all. */
    isKnownOrigin: (origin: string) => ofOrigin().has({ origin, limit: 1 }),
    purgeCodes: async (before: string, limit: number) => await purge(installSessionCodes, before, limit),
    purgeSessions: async (before: string, limit: number) => await purge(embeddedSessions, before, limit),
  }
}
