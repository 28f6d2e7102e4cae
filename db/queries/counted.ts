import { type AnyColumn, and, asc, count, eq, gte, lt, min, ne, type SQL, sql } from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import { type CountKind, dayMs, hourMs } from '../../src/domain/count.ts'
import { keyOfUuidTime, recordIdOfTime, uuidTimeOfKey, uuidTimeOfRecordId } from '../../src/domain/identifier.ts'
import { timeKeyAt, timeOfKey } from '../../src/domain/time-key.ts'
import {
  appTokens,
  clients,
  credentials,
  dailyUsers,
  embeddedSessions,
  grants,
  installs,
  tokenPairs,
  webhookAttempts,
  webhookEndpoints,
} from '../tables/sqlite.ts'
import { type DrizzleConnection, only } from './connection.ts'

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
      .select({ appId: webhookEndpoints.appId, environment: webhookEndpoints.environment, hour, count: count() })
      .from(webhookAttempts)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookAttempts.endpointId))
      .where(and(calls.within(span), ne(webhookAttempts.kind, 'ping'), outcome))
      .groupBy(webhookEndpoints.appId, webhookEndpoints.environment, hour)
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
