import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  not,
  or,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Environment } from '../../src/domain/app.ts'
import { pick } from '../../src/domain/pick.ts'
import {
  apps,
  auditEvents,
  clients,
  credentials,
  installs,
  redirectUris,
  versions,
  webhookEndpoints,
} from '../tables/sqlite.ts'
import type { CountsOf } from './counts.ts'
import { appIdsOf } from './app-members.ts'
import type { DrizzleConnection } from './connection.ts'

const { id: appId, slug, name } = apps
/** The app that a row is about. */
const ofApp = { appId, slug, appName: name }

const newer = alias(versions, 'newer')
const newest = alias(auditEvents, 'newest')

const areMeant = (db: DrizzleConnection, of: CountsOf) =>
  'appId' in of ? eq(apps.id, of.appId) : inArray(apps.id, appIdsOf(db, of.memberId))

/** What the dashboards tell of one app, or of all apps of a person, each in one question whatever the number of apps. */
export const dashboardQueries = (db: DrizzleConnection) => {
  return {
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
  }
}
