import {
  and,
  asc,
  eq,
  gte,
  inArray,
  lt,
  type SQL,
  sql,
  type AnyColumn,
  count,
  min,
  ne,
  desc,
  exists,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  not,
  or,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Environment } from '../../src/domain/app.ts'
import { dayMs, dayOf, type CountKind, hourMs } from '../../src/domain/count.ts'
import {
  dailyUsers,
  hourlyCounts,
  appTokens,
  clients,
  credentials,
  embeddedSessions,
  grants,
  installs,
  tokenPairs,
  webhookAttempts,
  webhookEndpoints,
  apps,
  auditEvents,
  redirectUris,
  versions,
} from '../tables/sqlite.ts'
import { appIdsOf } from './apps.ts'
import { isAmong, removeSome } from './rows.ts'
import { type DrizzleConnection, only } from './connection.ts'
import { keyOfUuidTime, recordIdOfTime, uuidTimeOfKey, uuidTimeOfRecordId } from '../../src/domain/identifier.ts'
import { timeKeyAt, timeOfKey } from '../../src/domain/time-key.ts'
import { pick } from '../../src/domain/pick.ts'

type HourlyCount = typeof hourlyCounts.$inferSelect
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

/** A stretch of time in epoch milliseconds: `from` is in it, `until` is not. */
type CountSpan = { readonly from: number; readonly until: number }

/** When the hour or the day began. The number is a part of the text, because PostgreSQL groups by no expression with values. */
const startOf = (column: AnyColumn, lengthMs: number) => {
  const length = sql.raw(String(lengthMs))
  return sql<number>`${column} / ${length} * ${length}`.mapWith(Number)
}

/** A table whose keys are in the order of time, so that a stretch of it is found by its key alone. */
const stretches = <Key>(
  db: DrizzleConnection,
  key: AnyColumn<{ data: Key }>,
  keyAt: (ms: number) => NoInfer<Key>,
  timeOf: (key: NoInfer<Key>) => number,
) => {
  /** Rows whose keys were made in this time. */
  const within = ({ from, until }: CountSpan) => and(gte(key, keyAt(from)), lt(key, keyAt(until)))
  /** When the key of the row at this place in the stretch was made; null if there are fewer rows. */
  const timeAt = async (span: CountSpan, place: number): Promise<number | null> => {
    const keys = db
      .select({ key: sql<Key>`${key}` })
      .from(key.table)
      .where(within(span))
      .orderBy(asc(key))
    const row = only(await keys.limit(1).offset(place))
    return row === null ? null : timeOf(row.key)
  }
  return { within, timeAt }
}

type Counted = {
  readonly appId: string
  readonly environment: Environment
  readonly hour: number
  readonly count: number
}
const as = (kind: CountKind, rows: readonly Counted[]) => rows.map((row) => ({ ...row, kind }))

/** What the tables have for the dashboards, read by stretches of time. */
export const countedQueries = (db: DrizzleConnection) => {
  const ofApps = stretches(db, appTokens.key, timeKeyAt, timeOfKey)
  const ofUsers = stretches(db, tokenPairs.key, timeKeyAt, timeOfKey)
  const frames = stretches(db, embeddedSessions.key, keyOfUuidTime, uuidTimeOfKey)
  const installed = stretches(db, installs.id, (ms) => recordIdOfTime('ins_', ms), uuidTimeOfRecordId)
  const calls = stretches(db, webhookAttempts.id, (ms) => recordIdOfTime('att_', ms), uuidTimeOfRecordId)
  const tables = [ofApps, ofUsers, frames, installed, calls]

  const { appId, environment } = clients
  const tokensOfApps = async (span: CountSpan) => {
    const hour = startOf(appTokens.createdAt, hourMs)
    return await db
      .select({ appId, environment, hour, count: count() })
      .from(appTokens)
      .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
      .innerJoin(clients, eq(clients.id, credentials.clientId))
      .where(ofApps.within(span))
      .groupBy(appId, environment, hour)
  }
  const tokensOfUsers = async (span: CountSpan) => {
    const hour = startOf(tokenPairs.createdAt, hourMs)
    return await db
      .select({ appId, environment, hour, count: count() })
      .from(tokenPairs)
      .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(ofUsers.within(span))
      .groupBy(appId, environment, hour)
  }
  const newInstalls = async (span: CountSpan) => {
    const hour = startOf(installs.createdAt, hourMs)
    return await db
      .select({ appId: installs.appId, environment: installs.environment, hour, count: count() })
      .from(installs)
      .where(installed.within(span))
      .groupBy(installs.appId, installs.environment, hour)
  }
  /** Calls of the endpoints that still exist, without pings. */
  const webhookCalls = async (span: CountSpan, outcome: SQL) => {
    const hour = startOf(webhookAttempts.at, hourMs)
    return await db
      .select({ appId: apps.id, environment: webhookEndpoints.environment, hour, count: count() })
      .from(webhookAttempts)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookAttempts.endpointId))
      .innerJoin(apps, eq(apps.id, webhookEndpoints.appId))
      .where(and(calls.within(span), ne(webhookAttempts.kind, 'ping'), outcome))
      .groupBy(apps.id, webhookEndpoints.environment, hour)
  }
  const accepted = sql`coalesce(${webhookAttempts.status}, 0) BETWEEN 200 AND 299`

  /** Users who got tokens, by an exchange or a refresh. */
  const usersWithTokens = (span: CountSpan) => {
    const day = startOf(tokenPairs.createdAt, dayMs)
    const hour = min(startOf(tokenPairs.createdAt, hourMs)).mapWith(Number).as('hour')
    return db
      .select({ day: day.as('day'), appId, environment, userId: grants.userId, hour })
      .from(tokenPairs)
      .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(ofUsers.within(span))
      .groupBy(day, appId, environment, grants.userId)
  }
  /** Users who opened the app in a frame of the builder. */
  const usersOfFrames = (span: CountSpan) => {
    const day = startOf(embeddedSessions.createdAt, dayMs)
    const hour = min(startOf(embeddedSessions.createdAt, hourMs)).mapWith(Number).as('hour')
    const { appId: app, environment: place, userId } = installs
    return db
      .select({ day: day.as('day'), appId: app, environment: place, userId, hour })
      .from(embeddedSessions)
      .innerJoin(installs, eq(installs.id, embeddedSessions.installId))
      .where(frames.within(span))
      .groupBy(day, app, place, userId)
  }
  const first = { appId: dailyUsers.appId, environment: dailyUsers.environment, hour: dailyUsers.hour }
  /** Remembers who of them was not counted on that day before, and returns those. */
  const newUsers = async (found: ReturnType<typeof usersWithTokens> | ReturnType<typeof usersOfFrames>) => {
    const rows = await db.insert(dailyUsers).select(found).onConflictDoNothing().returning(first)
    return rows.map(({ appId: app, environment: place, hour }) => ({ appId: app, environment: place, hour, count: 1 }))
  }

  return {
    /**
     * Where a part of this time ends that has at most about so many rows of each table; null if there is nothing in it. At least a
     * millisecond is in the part, so that the next one begins later.
     */
    partEnd: async (span: CountSpan, rows: number): Promise<number | null> => {
      const timesAt = async (place: number) =>
        (await Promise.all(tables.map((table) => table.timeAt(span, place)))).filter((at) => at !== null)
      if ((await timesAt(0)).length === 0) return null
      return Math.min(span.until, ...(await timesAt(rows)).map((at) => Math.max(at, span.from + 1)))
    },
    /** Counts what the keys of this time have, and remembers the active users. Each time is to be counted once. */
    count: async (span: CountSpan) => [
      ...as('tokens', await tokensOfApps(span)),
      ...as('tokens', await tokensOfUsers(span)),
      ...as('active_users', await newUsers(usersWithTokens(span))),
      ...as('active_users', await newUsers(usersOfFrames(span))),
      ...as('installs', await newInstalls(span)),
      ...as('webhook_successes', await webhookCalls(span, accepted)),
      ...as('webhook_failures', await webhookCalls(span, sql`NOT (${accepted})`)),
    ],
  }
}

const { slug, name } = apps
/** The app that a row is about. */
const ofApp = { appId: apps.id, slug, appName: name }

const newer = alias(versions, 'newer')
const newest = alias(auditEvents, 'newest')

const areMeant = (db: DrizzleConnection, of: CountsOf) =>
  'appId' in of ? eq(apps.id, of.appId) : inArray(apps.id, appIdsOf(db, of.memberId))

/** What the dashboards tell of one app, or of all apps of a person, each in one question whatever the number of apps. */
export const dashboardQueries = (db: DrizzleConnection) => ({
  suspendedApps: async (of: CountsOf, limit: number) =>
    await db
      .select(ofApp)
      .from(apps)
      .where(and(areMeant(db, of), eq(apps.status, 'suspended')))
      .orderBy(asc(slug))
      .limit(limit),
  /** Secrets that wait for the confirmation of an operator (`endsAt` is null), or that soon end after a rotation. */
  endingSecrets: async (of: CountsOf, now: number, limit: number) =>
    await db
      .select({ ...ofApp, environment: clients.environment, label: credentials.label, endsAt: credentials.expiresAt })
      .from(apps)
      .innerJoin(clients, eq(clients.appId, apps.id))
      .innerJoin(credentials, eq(credentials.clientId, clients.id))
      .where(
        and(
          areMeant(db, of),
          isNull(credentials.revokedAt),
          or(gt(credentials.expiresAt, now), and(isNull(credentials.expiresAt), isNotNull(credentials.suspendedAt))),
        ),
      )
      .orderBy(asc(slug), asc(credentials.id))
      .limit(limit),
  /** Webhook endpoints that accept nothing, and those that were disabled for that. */
  failingEndpoints: async (of: CountsOf, limit: number) =>
    await db
      .select({
        ...ofApp,
        ...pick(webhookEndpoints, 'id', 'environment', 'url', 'status'),
        since: webhookEndpoints.failingSince,
      })
      .from(apps)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.appId, apps.id))
      .where(
        and(
          areMeant(db, of),
          or(
            and(eq(webhookEndpoints.status, 'enabled'), isNotNull(webhookEndpoints.failingSince)),
            and(eq(webhookEndpoints.status, 'disabled'), ne(webhookEndpoints.reason, 'by_hand')),
          ),
        ),
      )
      .orderBy(asc(slug), asc(webhookEndpoints.id))
      .limit(limit),
  /** Rejected versions that no other version has followed. */
  rejectedVersions: async (of: CountsOf, limit: number) => {
    const later = db.select({ id: newer.id }).from(newer)
    return await db
      .select({ ...ofApp, version: versions.version, at: versions.reviewedAt })
      .from(apps)
      .innerJoin(versions, eq(versions.appId, apps.id))
      .where(
        and(
          areMeant(db, of),
          eq(versions.status, 'rejected'),
          not(exists(later.where(and(eq(newer.appId, apps.id), gt(newer.number, versions.number))))),
        ),
      )
      .orderBy(asc(slug))
      .limit(limit)
  },
  /** Apps with a live version that nobody can authorize: without a redirect URI or a secret for production. */
  unreachableApps: async (of: CountsOf, now: number, limit: number) => {
    const live = db.select({ id: versions.id }).from(versions)
    const uris = db.select({ uri: redirectUris.uri }).from(redirectUris)
    const secrets = db.select({ id: credentials.id }).from(credentials)
    const isUnended = and(
      isNull(credentials.revokedAt),
      or(isNull(credentials.expiresAt), gt(credentials.expiresAt, now)),
    )
    const hasUri = exists(uris.where(eq(redirectUris.clientId, clients.id)))
    const hasSecret = exists(secrets.where(and(eq(credentials.clientId, clients.id), isUnended)))
    return await db
      .select({
        ...ofApp,
        lacks: sql<'secret' | 'redirect_uri'>`CASE WHEN ${hasSecret} THEN 'redirect_uri' ELSE 'secret' END`,
      })
      .from(apps)
      .innerJoin(clients, and(eq(clients.appId, apps.id), eq(clients.environment, 'production')))
      .where(
        and(
          areMeant(db, of),
          exists(live.where(and(eq(versions.appId, apps.id), eq(versions.status, sql`'active'`)))),
          or(not(hasUri), not(hasSecret)),
        ),
      )
      .orderBy(asc(slug))
      .limit(limit)
  },
  /** Installs in use, in one environment or in both (null). */
  activeInstalls: async (of: CountsOf, environment: Environment | null) => {
    const own = db.select({ id: apps.id }).from(apps).where(areMeant(db, of))
    return await db.$count(
      installs,
      and(
        inArray(installs.appId, own),
        eq(installs.state, 'active'),
        environment === null ? undefined : eq(installs.environment, environment),
      ),
    )
  },
  /** The latest events of these apps, newest first, without issued tokens. Of each app only so many are read. */
  latestEvents: async (of: CountsOf, limit: number) => {
    const ofEach = db.select({ id: newest.id }).from(newest).where(eq(newest.appId, apps.id))
    return await db
      .select(getTableColumns(auditEvents))
      .from(apps)
      .innerJoin(auditEvents, eq(auditEvents.appId, apps.id))
      .where(and(areMeant(db, of), inArray(auditEvents.id, ofEach.orderBy(desc(newest.id)).limit(limit))))
      .orderBy(desc(auditEvents.id))
      .limit(limit)
  },
})
