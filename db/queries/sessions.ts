import { and, asc, desc, eq, getTableColumns, gt, isNull, lt, lte, ne, sql } from 'drizzle-orm'
import { devices, sessions, users } from '../tables/sqlite.ts'
import { type DrizzleConnection, everyColumn, given, givenLimit, lazily } from './connection.ts'
import { oldestKey } from './keys.ts'
import { reader, writer } from './reader.ts'

export type Session = typeof sessions.$inferSelect

/** Sessions of signed-in users. */
export const sessionQueries = (db: DrizzleConnection) => {
  const insert = lazily(() => writer(db.insert(sessions).values(everyColumn(sessions))))
  const find = lazily(() =>
    reader(
      db
        .select({
          session: getTableColumns(sessions),
          user: {
            id: sessions.userId,
            name: users.name,
            email: users.email,
            isOperator: users.isOperator,
            status: users.status,
          },
        })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(eq(sessions.key, given('key'))),
    ),
  )
  const expired = lazily(() =>
    db
      .select({ key: sessions.key })
      .from(sessions)
      .where(lt(sessions.key, given('before')))
      .orderBy(asc(sessions.key))
      .limit(givenLimit('limit'))
      .prepare(),
  )

  /** Whoever ends sessions elsewhere trusts none of the browsers that were used there. */
  const forgetDevices = async (userId: string) => void (await db.delete(devices).where(eq(devices.userId, userId)))

  const use = lazily(() =>
    db
      .update(sessions)
      .set({ lastUsedAt: given('now') })
      .where(
        and(
          eq(sessions.key, given('key')),
          isNull(sessions.endedAt),
          lte(sql`coalesce(${sessions.lastUsedAt}, ${sessions.createdAt})`, given('recordedUntil')),
        ),
      )
      .prepare(),
  )

  return {
    /** The key of the oldest row, or null. */
    oldestKey: oldestKey(db, sessions.key),
    insert: (session: Session) => insert().run(session),
    /** The session with its user, whatever state they are in; one read. */
    find: (key: string) => find().first({ key }),
    /** Records a use, unless the session has ended or a use after `recordedUntil` is recorded. */
    use: async (key: string, now: number, recordedUntil: number) =>
      void (await use().execute({ key, now, recordedUntil })),
    /** Ends the session once; false when it had already ended. */
    end: async (key: string, now: number) =>
      (
        await db
          .update(sessions)
          .set({ endedAt: now })
          .where(and(eq(sessions.key, key), isNull(sessions.endedAt)))
          .returning({ key: sessions.key })
      ).length === 1,
    /** Ends the user's sessions; their known browsers are known no longer. Gives how many had neither ended nor expired. */
    endAllOfUser: async (userId: string, now: number) => {
      await forgetDevices(userId)
      const ended = await db
        .update(sessions)
        .set({ endedAt: now })
        .where(and(eq(sessions.userId, userId), isNull(sessions.endedAt)))
        .returning({ expiresAt: sessions.expiresAt })
      return ended.filter(({ expiresAt }) => expiresAt > now).length
    },
    /** Ends one session if it is this user's; false when it is not or had already ended. */
    endOfUser: async (userId: string, key: string, now: number) =>
      (
        await db
          .update(sessions)
          .set({ endedAt: now })
          .where(and(eq(sessions.key, key), eq(sessions.userId, userId), isNull(sessions.endedAt)))
          .returning({ key: sessions.key })
      ).length === 1,
    /** Ends the user's sessions but the one of the key, and forgets every known browser; gives how many had not ended. */
    endOthersOfUser: async (userId: string, key: string, now: number) => {
      await forgetDevices(userId)
      const others = and(eq(sessions.userId, userId), ne(sessions.key, key), isNull(sessions.endedAt))
      return (await db.update(sessions).set({ endedAt: now }).where(others).returning({ key: sessions.key })).length
    },
    /** Sessions of the user that have neither ended nor expired and were used after `usedAfter`, before the key, newest first. */
    openOfUser: async (
      userId: string,
      page: { readonly now: number; readonly usedAfter: number; readonly before: string; readonly limit: number },
    ) =>
      await db
        .select({
          key: sessions.key,
          address: sessions.address,
          agent: sessions.agent,
          createdAt: sessions.createdAt,
          expiresAt: sessions.expiresAt,
        })
        .from(sessions)
        .where(
          and(
            eq(sessions.userId, userId),
            lt(sessions.key, page.before),
            isNull(sessions.endedAt),
            gt(sessions.expiresAt, page.now),
            gt(sql`coalesce(${sessions.lastUsedAt}, ${sessions.createdAt})`, page.usedAfter),
          ),
        )
        .orderBy(desc(sessions.key))
        .limit(page.limit),
    /** Removes up to `limit` sessions minted before the key, oldest first; gives how many. */
    purge: async (before: string, limit: number) => {
      const rows = await expired().execute({ before, limit })
      const last = rows.at(-1)
      if (last !== undefined) await db.delete(sessions).where(lte(sessions.key, last.key))
      return rows.length
    },
  }
}
