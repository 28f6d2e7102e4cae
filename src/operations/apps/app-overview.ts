import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CredentialRecord } from '../credentials/credential-record.ts'
import { listLiveCredentials } from '../credentials/list-live-credentials.ts'
import type { Platform } from '../platform.ts'
import { redirectUrisOf, type RedirectUris } from '../redirect-uris/list-redirect-uris.ts'
import { type VersionRecord, versionRecord } from '../versions/version-record.ts'
import type { OwnedApp } from './owned-app.ts'

/** What a developer wants to know of an app at a glance. */
export type AppOverview = RedirectUris & {
  readonly liveSecrets: Readonly<Record<Environment, readonly CredentialRecord[]>>
  /** Epoch milliseconds; null when no secret was ever used. */
  readonly lastUsedAt: number | null
  readonly live: VersionRecord | null
  readonly developmentHead: VersionRecord | null
  /** The newest of those that wait for review. */
  readonly submitted: VersionRecord | null
  readonly installs: Awaited<ReturnType<Queries['installs']['countsOfApp']>>
}

/** Reads the state of an app that was found for its owner. */
export const appOverview = async (platform: Platform, app: OwnedApp): Promise<AppOverview> => {
  const q = platform.database.queries
  const headId = app.developmentVersionId
  const record = (row: Awaited<ReturnType<Queries['versions']['active']>>) =>
    row === null ? null : versionRecord(row, app)
  const [submitted = null] = await q.versions.list(app.id, 'submitted', Number.MAX_SAFE_INTEGER, 1)
  return {
    ...(await redirectUrisOf(q, app.id)),
    liveSecrets: await listLiveCredentials(platform, app.clientIds),
    lastUsedAt: await q.credentials.lastUseOfApp(app.id),
    live: record(await q.versions.active(app.id)),
    developmentHead: headId === null ? null : record(await q.versions.byId(app.id, headId)),
    submitted: record(submitted),
    installs: await q.installs.countsOfApp(app.id),
  }
}
