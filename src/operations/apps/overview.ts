import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { type CredentialRecord, listLiveCredentials } from '../credentials/list-credentials.ts'
import type { Platform } from '../platform.ts'
import { type RedirectUris, redirectUrisOf } from '../redirect-uris.ts'
import { type UserSummary, userSummary } from '../users/find-user.ts'
import type { VersionSummary } from '../versions/lists.ts'
import { type AppRecord, appRecord, type OwnedApp } from './app-record.ts'

/** What both overviews show: the live version, the newest submitted one, and counts of installs. */
type Distribution = {
  readonly live: VersionSummary | null
  readonly submitted: VersionSummary | null
  readonly installs: Awaited<ReturnType<Queries['installs']['countsOfApp']>>
}

const distributionOf = async (q: Queries, appId: string): Promise<Distribution> => {
  const newest = async (status: 'active' | 'submitted') =>
    (await q.versions.summaries(appId, status, Number.MAX_SAFE_INTEGER, 1))[0] ?? null
  return {
    live: await newest('active'),
    submitted: await newest('submitted'),
    installs: await q.installs.countsOfApp(appId),
  }
}

/** What the console shows a developer about an app. */
export type AppOverview = RedirectUris &
  Distribution & {
    readonly liveSecrets: Readonly<Record<Environment, readonly CredentialRecord[]>>
    /** Epoch milliseconds; null when no secret was ever used. */
    readonly lastUsedAt: number | null
    readonly developmentHead: VersionSummary | null
  }

/** Reads the overview of an app that `ownedApp` found. */
export const appOverview = async (platform: Platform, app: OwnedApp): Promise<AppOverview> => {
  const q = platform.database.queries
  const headId = app.developmentVersionId
  return {
    ...(await redirectUrisOf(q, app.id)),
    ...(await distributionOf(q, app.id)),
    liveSecrets: await listLiveCredentials(platform, app.clientIds),
    lastUsedAt: await q.credentials.lastUseOfApp(app.id),
    developmentHead: headId === null ? null : await q.versions.summary(app.id, headId),
  }
}

/** What the desk shows an operator about an app. */
export type InspectedApp = AppRecord & Distribution & { readonly owner: UserSummary }

/** @throws route_not_found for an unknown slug */
export const inspectApp = async (platform: Platform, slug: string): Promise<InspectedApp> => {
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
