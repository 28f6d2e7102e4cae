import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { type CredentialRecord, listLiveCredentials } from '../credentials/list-credentials.ts'
import type { Platform } from '../platform.ts'
import { type RedirectUris, redirectUrisOf } from '../redirect-uris.ts'
import { type UserSummary, userSummary } from '../users/find-user.ts'
import type { VersionSummary } from '../versions/lists.ts'
import { type AppRecord, appRecord, type OwnedApp } from './app-record.ts'

/** What a developer wants to know of an app at a glance. */
export type AppOverview = RedirectUris & {
  readonly liveSecrets: Readonly<Record<Environment, readonly CredentialRecord[]>>
  /** Epoch milliseconds; null when no secret was ever used. */
  readonly lastUsedAt: number | null
  readonly live: VersionSummary | null
  readonly developmentHead: VersionSummary | null
  /** The newest of those that wait for review. */
  readonly submitted: VersionSummary | null
  readonly installs: Awaited<ReturnType<Queries['installs']['countsOfApp']>>
}

/** Reads the state of an app that was found for its owner. */
export const appOverview = async (platform: Platform, app: OwnedApp): Promise<AppOverview> => {
  const q = platform.database.queries
  const headId = app.developmentVersionId
  const newest = async (status: 'active' | 'submitted') =>
    (await q.versions.summaries(app.id, status, Number.MAX_SAFE_INTEGER, 1))[0] ?? null
  return {
    ...(await redirectUrisOf(q, app.id)),
    liveSecrets: await listLiveCredentials(platform, app.clientIds),
    lastUsedAt: await q.credentials.lastUseOfApp(app.id),
    live: await newest('active'),
    developmentHead: headId === null ? null : await q.versions.summary(app.id, headId),
    submitted: await newest('submitted'),
    installs: await q.installs.countsOfApp(app.id),
  }
}

/** What an operator wants to know of an app. */
export type InspectedApp = AppRecord & {
  readonly owner: UserSummary
  readonly live: VersionSummary | null
  /** The newest of those that wait for review. */
  readonly submitted: VersionSummary | null
  readonly installs: Awaited<ReturnType<Queries['installs']['countsOfApp']>>
}

/** @throws route_not_found for an unknown slug */
export const inspectApp = async (platform: Platform, slug: string): Promise<InspectedApp> => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null) throw refuse('route_not_found')
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) throw new Error('an app has no owner')
  const newest = async (status: 'active' | 'submitted') =>
    (await q.versions.summaries(app.id, status, Number.MAX_SAFE_INTEGER, 1))[0] ?? null
  return {
    ...appRecord(app, await q.apps.clientsOf(app.id)),
    owner: userSummary(owner),
    live: await newest('active'),
    submitted: await newest('submitted'),
    installs: await q.installs.countsOfApp(app.id),
  }
}
