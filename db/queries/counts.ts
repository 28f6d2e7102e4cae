import { and, asc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import { dayMs, dayOf } from '../../src/domain/count.ts'
import { dailyUsers, hourlyCounts } from '../tables/sqlite.ts'
import { appIdsOf } from './app-members.ts'
import { isAmong, removeSome } from './changes.ts'
import type { DrizzleConnection } from './connection.ts'

export type HourlyCount = typeof hourlyCounts.$inferSelect
/** Whose counts are meant: those of one app, or of all apps of a person that are not deleted. */
export type CountsOf = { readonly appId: string } | { readonly memberId: string }

const { appId, hour, environment, kind } = hourlyCounts
const aDay = sql.raw(String(dayMs))
/** The condition of the index `hourly_counts_unmerged`, in the same words, so that SQLite uses it. */
const isUnmerged = sql`${hour} % ${aDay} <> 0`

/** Removes up to so many counts, the oldest first, and returns them. */
const removeCounts = async (db: DrizzleConnection, condition: SQL | undefined, limit: number) =>
  await db
    .delete(hourlyCounts)
    .where(isAmong(db, hourlyCounts, condition, limit, asc(hour)))
    .returning()

/** Counts for the dashboards, by app and hour. */
export const countQueries = (db: DrizzleConnection) => {
  const add = async (counts: readonly HourlyCount[]): Promise<void> => {
    const sums = new Map<string, HourlyCount>()
    for (const row of counts) {
      const place = `${row.appId} ${row.hour} ${row.environment} ${row.kind}`
      sums.set(place, { ...row, count: row.count + (sums.get(place)?.count ?? 0) })
    }
    if (sums.size === 0) return
    await db
      .insert(hourlyCounts)
      .values([...sums.values()])
      .onConflictDoUpdate({
        target: [appId, hour, environment, kind],
        set: { count: sql`${hourlyCounts.count} + excluded.count` },
      })
  }
  const isOf = (of: CountsOf) => {
    if ('appId' in of) return eq(appId, of.appId)
    return inArray(appId, appIdsOf(db, of.memberId))
  }

  return {
    /** Adds to what is counted already. */
    add,
    /** The counts since a moment, of one environment or of both (null), over all apps that are meant. */
    since: async (of: CountsOf, place: Environment | null, moment: number) =>
      await db
        .select({ kind, hour, count: sql<number>`sum(${hourlyCounts.count})`.mapWith(Number) })
        .from(hourlyCounts)
        .where(and(isOf(of), gte(hour, moment), place === null ? undefined : eq(environment, place)))
        .groupBy(kind, hour),
    /** Makes one row of the hours of each day before this one: moves up to `limit` rows into the first hour of their day. */
    mergeDays: async (beforeDay: number, limit: number): Promise<number> => {
      const hours = await removeCounts(db, and(isUnmerged, lt(hour, beforeDay)), limit)
      await add(hours.map((row) => ({ ...row, hour: dayOf(row.hour) })))
      return hours.length
    },
    /** Removes up to `limit` counts from before a moment, and returns how many. */
    purge: async (before: number, limit: number) =>
      await removeSome(db, hourlyCounts, lt(hour, before), limit, asc(hour)),
    /** Forgets who was active on days before this one. */
    purgeUsers: async (beforeDay: number, limit: number) =>
      await removeSome(db, dailyUsers, lt(dailyUsers.day, beforeDay), limit),
  }
}
