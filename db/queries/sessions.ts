import { and, eq, getTableColumns, gt, isNull, lte, ne, or, sql } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import {
  devices,
  sessions,
  users,
  appMembers,
  apps,
  embeddedSessions,
  installSessionCodes,
  installs,
} from '../tables/sqlite.ts'
import { changeOne, oldestKey, inserter } from './rows.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { beside, type Place } from './places.ts'
import { lazyReader } from './reader.ts'
import { contains } from './users.ts'
import { head, isHeadOfApp, isLiveOfApp, live } from './versions.ts'

export type Session = typeof sessions.$inferSelect

/** Sessions of signed-in users. */
export const sessionQueries = (db: DrizzleConnection) => {
  const find = lazyReader(
    db,
    () =>
      db
        .select({
          session: getTableColumns(sessions),
          user: {
            id: sessions.userId,
            ...pick(users, 'name', 'email', 'isOperator', 'status', 'passwordHash'),
          },
        })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(eq(sessions.key, given('key', sessions.key))),
    { locks: sessions, isShared: true }, // or a consent could miss that the session has ended, and its grant would stay
  )
  /** A user who ends other sessions trusts none of the browsers that were used for them. */
  const forgetDevices = async (userId: string) => void (await db.delete(devices).where(eq(devices.userId, userId)))
  return {
    /** The key of the oldest row, or null. */
    oldestKey: oldestKey(db, sessions.key),
    insert: inserter(db, sessions),
    /** The session with its user, in any state; one read. */
    find: (key: string) => find().first({ key }),
    /** Records a use and from where; false if the session has ended or a use after `recordedUntil` is recorded. */
    use: async (key: string, now: number, recordedUntil: number, address: string | null) =>
      await changeOne(
        db,
        sessions,
        { lastUsedAt: now, ...(address === null ? {} : { address }) },
        eq(sessions.key, key),
        isNull(sessions.endedAt),
        lte(sql`coalesce(${sessions.lastUsedAt}, ${sessions.createdAt})`, recordedUntil),
      ),
    /** Ends the session; false if it had already ended. */
    end: async (key: string, now: number) =>
      await changeOne(db, sessions, { endedAt: now }, eq(sessions.key, key), isNull(sessions.endedAt)),
    /**
     * Ends the user's sessions but the one of the key `kept`, and forgets every known browser. Returns how many sessions had neither
     * ended nor expired.
     */
    endAllOfUser: async (userId: string, kept: string | null, now: number) => {
      await forgetDevices(userId)
      const others = kept === null ? undefined : ne(sessions.key, kept)
      const ended = await db
        .update(sessions)
        .set({ endedAt: now })
        .where(and(eq(sessions.userId, userId), others, isNull(sessions.endedAt)))
        .returning({ expiresAt: sessions.expiresAt })
      return ended.filter(({ expiresAt }) => expiresAt > now).length
    },
    /** Ends one session of this user; false if it is not theirs or had already ended. */
    endOfUser: async (userId: string, key: string, now: number) =>
      await changeOne(
        db,
        sessions,
        { endedAt: now },
        eq(sessions.key, key),
        eq(sessions.userId, userId),
        isNull(sessions.endedAt),
      ),
    /** Sessions of the user that have neither ended nor expired and were used after `usedAfter`, beside the key, newest first. */
    openOfUser: async (
      userId: string,
      page: {
        readonly now: number
        readonly usedAfter: number
        readonly before: Place
        readonly limit: number
        /** A part of the browser's name or of the address. */
        readonly part?: string
      },
    ) => {
      const { isBeside, order } = beside(sessions.key, 'descending', page.before)
      return await db
        .select(pick(sessions, 'key', 'address', 'agent', 'createdAt', 'lastUsedAt', 'expiresAt'))
        .from(sessions)
        .where(
          and(
            eq(sessions.userId, userId),
            isBeside,
            page.part === undefined
              ? undefined
              : or(contains(sessions.agent, page.part), contains(sessions.address, page.part)),
            isNull(sessions.endedAt),
            gt(sessions.expiresAt, page.now),
            gt(sql`coalesce(${sessions.lastUsedAt}, ${sessions.createdAt})`, page.usedAfter),
          ),
        )
        .orderBy(order)
        .limit(page.limit)
    },
  }
}

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
          .where(eq(table.key, given('key', table.key))),
      { locks: table, isShared: true }, // or a code that was spent a moment ago would not end the session it gave
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
