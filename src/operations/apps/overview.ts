import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { listLiveCredentials } from '../credentials/list-credentials.ts'
import type { Platform } from '../platform.ts'
import { redirectUrisOf } from '../redirect-uris.ts'
import { userSummary } from '../users/find-user.ts'
import { appRecord, type OwnedApp } from './app-record.ts'

/** What both overviews show: the live version, the newest submitted one, and counts of installs. */
const distributionOf = async (q: Queries, appId: string) => {
  const newest = async (status: 'active' | 'submitted') =>
    (await q.versions.summaries(appId, { status }, Number.MAX_SAFE_INTEGER, 1))[0] ?? null
  return {
    live: await newest('active'),
    submitted: await newest('submitted'),
    installs: await q.installs.countsOfApp(appId),
  }
}

/** What the console shows a developer about an app. */
export type AppOverview = Awaited<ReturnType<typeof appOverview>>

/** Reads the overview of an app that `ownedApp` found. */
export const appOverview = async (platform: Platform, app: OwnedApp) => {
  const q = platform.database.queries
  const headId = app.developmentVersionId
  return {
    ...(await redirectUrisOf(q, app.id)),
    ...(await distributionOf(q, app.id)),
    /** How many webhook endpoints there are. */
    webhooks: (await q.webhookEndpoints.listOfApp(app.id)).length,
    liveSecrets: await listLiveCredentials(platform, app.clientIds),
    /** Epoch milliseconds; null when no secret was ever used. */
    lastUsedAt: await q.credentials.lastUseOfApp(app.id),
    developmentHead: headId === null ? null : await q.versions.summary(app.id, headId),
  }
}

/** What the desk shows an operator about an app. */
export type InspectedApp = Awaited<ReturnType<typeof inspectApp>>

/** @throws route_not_found for an unknown slug */
export const inspectApp = async (platform: Platform, slug: string) => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null) throw refuse('route_not_found')
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) throw new Error('an app has no owner')
  return {
    ...(await appRecord(q, app)),
    ...(await distributionOf(q, app.id)),
    owner: userSummary(owner),
  }
}
