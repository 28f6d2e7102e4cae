import { and, eq, getTableColumns, gt, isNull, lte, ne, or, sql } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import { devices, sessions, users } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { oldestKey } from './keys.ts'
import { beside, type Place } from './places.ts'
import { lazyReader } from './reader.ts'
import { inserter } from './rows.ts'
import { contains } from './users.ts'

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
            ...pick(users, 'name', 'email', 'isOperator', 'status'),
          },
        })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(eq(sessions.key, given('key'))),
    { locks: sessions }, // or a consent could miss that the session has ended, and its grant would stay
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
