import { and, count, desc, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { appTokens, grants, sessions, users } from '../tables/sqlite.ts'
import { type DrizzleConnection, lazily, only } from './connection.ts'

/** How many of the newest rows are alive; exact when there are no older ones that it did not look at. */
export type LiveCount = { readonly count: number; readonly exact: boolean }

/** Figures for whoever watches the store. Each looks at the newest rows only, at most so many, however many there are. */
export const healthQueries = (db: DrizzleConnection) => {
  const version = lazily(() =>
    db
      .select({ version: sql<string>`sqlite_version()` })
      .from(oneRow)
      .prepare(),
  )
  return {
    sqliteVersion: async () => only(await version().execute())?.version ?? '',

    liveAppTokens: async (now: number, rows: number): Promise<LiveCount> => {
      const newest = db.select().from(appTokens).orderBy(desc(appTokens.key)).limit(rows).as('newest')
      const isLive = and(gt(newest.expiresAt, now), isNull(newest.revokedAt))
      const alive = await db.select({ count: count() }).from(newest).where(isLive)
      const older = await db
        .select({ key: appTokens.key })
        .from(appTokens)
        .orderBy(desc(appTokens.key))
        .limit(1)
        .offset(rows)
      return { count: alive[0]?.count ?? 0, exact: older.length === 0 }
    },

    liveSessions: async (now: number, rows: number, usedAfter = 0): Promise<LiveCount> => {
      const newest = db.select().from(sessions).orderBy(desc(sessions.key)).limit(rows).as('newest')
      const isLive = and(
        gt(newest.expiresAt, now),
        gt(sql`coalesce(${newest.lastUsedAt}, ${newest.createdAt})`, usedAfter),
        isNull(newest.endedAt),
        eq(users.status, 'active'),
      )
      const alive = await db
        .select({ count: count() })
        .from(newest)
        .innerJoin(users, eq(users.id, newest.userId))
        .where(isLive)
      const older = await db
        .select({ key: sessions.key })
        .from(sessions)
        .orderBy(desc(sessions.key))
        .limit(1)
        .offset(rows)
      return { count: alive[0]?.count ?? 0, exact: older.length === 0 }
    },

    liveGrants: async (now: number, rows: number): Promise<LiveCount> => {
      const newest = db.select().from(grants).orderBy(desc(grants.key)).limit(rows).as('newest')
      const isLive = and(gt(newest.expiresAt, now), isNull(newest.revokedAt))
      const alive = await db.select({ count: count() }).from(newest).where(isLive)
      const older = await db.select({ key: grants.key }).from(grants).orderBy(desc(grants.key)).limit(1).offset(rows)
      return { count: alive[0]?.count ?? 0, exact: older.length === 0 }
    },
  }
}

const oneRow: SQL = sql`(SELECT 1)`
