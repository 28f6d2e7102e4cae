import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { type CredentialRecord, listLiveCredentials } from '../credentials/list-credentials.ts'
import type { Platform } from '../platform.ts'
import { redirectUrisOf, type RedirectUris } from '../redirect-uris/list-redirect-uris.ts'
import type { VersionSummary } from '../versions/list-version-summaries.ts'
import type { OwnedApp } from './owned-app.ts'

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
