import type { App, Queries, Version } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { type ManifestChange, manifestDifference } from '../../domain/manifest-difference.ts'
import { pick } from '../../domain/pick.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Platform } from '../platform.ts'
import { storedJson } from '../stored-json.ts'

export type RejectionItem = { readonly path: string; readonly message: string }
/** Why a version was rejected. */
export type Rejection = { readonly message: string; readonly items: readonly RejectionItem[] }

/** A version as the contract shows it, with times in epoch milliseconds. */
export type VersionRecord = ReturnType<typeof versionRecord>

/** The record of a row. The app knows whether it is the development head. */
export const versionRecord = (row: Version, app: Pick<App, 'developmentVersionId'>) => ({
  ...pick(row, 'id', 'number', 'version', 'status', 'revision', 'notes'),
  manifest: storedJson<Readonly<Record<string, unknown>>>(row.manifest),
  scopes: parseStoredScope(row.scopes),
  artifact: artifactOf(row),
  current: { development: app.developmentVersionId === row.id, production: row.status === 'active' },
  rejection: row.rejection === null ? null : storedJson<Rejection>(row.rejection),
  ...pick(row, 'createdAt', 'updatedAt', 'submittedAt', 'reviewedAt', 'activatedAt'),
})

/** Reads a version again at the end of the transaction that changed it. */
export const readVersionRecord = async (q: Queries, appId: string, id: string): Promise<VersionRecord> => {
  const row = await q.versions.byId(appId, id)
  const app = await q.apps.byId(appId)
  if (row === null || app === null) throw new Error('a version is gone within its own transaction')
  return versionRecord(row, app)
}

const artifactOf = (row: Version) =>
  row.artifactSha256 === null || row.artifactFilename === null || row.artifactSizeBytes === null
    ? null
    : {
        filename: row.artifactFilename,
        sizeBytes: row.artifactSizeBytes,
        sha256: Buffer.from(row.artifactSha256).toString('hex'),
      }

/**
 * The version with this name.
 * @throws version_not_found when this app has none
 */
export const findVersion = async (
  platform: Platform,
  app: Pick<App, 'id' | 'developmentVersionId'>,
  version: string,
): Promise<VersionRecord> => {
  const row = await platform.database.queries.versions.byName(app.id, version)
  if (row === null) throw refuse('version_not_found')
  return versionRecord(row, app)
}

/** The version that users of an environment get: the live version, or in development the head. Null when there is none. */
export const currentVersion = async (
  q: Queries,
  app: Pick<App, 'id' | 'developmentVersionId'>,
  environment: Environment,
): Promise<Version | null> => {
  if (environment === 'production') return await q.versions.active(app.id)
  return app.developmentVersionId === null ? null : await q.versions.byId(app.id, app.developmentVersionId)
}

type Moved = Parameters<Queries['versions']['move']>

/**
 * Moves a version from the status in which it was read.
 * @throws Error when that has changed since, so that the transaction undoes half of a swap
 */
export const moveFrom = async (q: Queries, { id, status }: Version, to: Moved[2], times: Moved[3], now: number) => {
  if (!(await q.versions.move(id, [status], to, times, now))) {
    throw new Error('a version changed its status within one transaction')
  }
}

type LiveChange = { readonly from: Version | null; readonly to: Version; readonly rollbackId: string | null }

/** Makes a version live instead of another one (null: none was live), and writes that into the ledger. */
export const makeLive = async (q: Queries, { from, to, rollbackId }: LiveChange, now: number): Promise<void> => {
  if (from !== null) await moveFrom(q, from, 'superseded', {}, now)
  await moveFrom(q, to, 'active', { activatedAt: now }, now)
  await q.apps.describe(to.appId, to.description)
  await q.liveChanges.append({ appId: to.appId, versionId: to.id, rollbackId, liveAt: now })
}

/** Pages that show changes also link to the whole manifests. */
const mostChanges = 200

type Compared = Pick<VersionRecord, 'manifest' | 'scopes'>

/** What changes for users from one version to another. With nothing before, all scopes are new and no change is listed. */
export const compareVersions = (before: Compared | null, after: Compared) => {
  const changes: ManifestChange[] = []
  let moreChanges = 0
  for (const change of before === null ? [] : manifestDifference(before.manifest, after.manifest)) {
    if (changes.length < mostChanges) changes.push(change)
    else moreChanges += 1
  }
  const shownScopes = before?.scopes ?? []
  return {
    /** The first changes of the manifest, and the number of further ones. */
    changes,
    moreChanges,
    /** Scopes that only the version after has, and scopes that only the one before has. */
    newScopes: after.scopes.filter((scope) => !shownScopes.includes(scope)),
    droppedScopes: shownScopes.filter((scope) => !after.scopes.includes(scope)),
  }
}
