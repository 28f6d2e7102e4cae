import { refuse } from '../../domain/errors.ts'
import { type ManifestChange, manifestDifference } from '../../domain/manifest-difference.ts'
import type { Platform } from '../platform.ts'
import type { SeenVersion } from './move-version.ts'
import { type VersionRecord, versionRecord } from './version-record.ts'

/** What an operator sees before deciding on a version. */
export type Review = Awaited<ReturnType<typeof readReview>>

/** The page also shows the whole manifest. */
const mostChanges = 200

/**
 * A version and the live version, with the differences between them.
 * @throws version_not_found for an unknown app or version
 */
export const readReview = async (platform: Platform, slug: string, name: string) => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  const row = app === null ? null : await q.versions.byName(app.id, name)
  if (app === null || row === null) throw refuse('version_not_found')
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) throw new Error('an app has no owner')
  const liveRow = await q.versions.active(app.id)
  const version = versionRecord(row, app)
  /** The live version to compare with; null when there is none. */
  const live = liveRow === null ? null : versionRecord(liveRow, app)
  const shownScopes = live?.scopes ?? []
  /** Send this back with the decision, so that it applies only to what was shown. */
  const seen: SeenVersion = {
    id: row.id,
    revision: row.revision,
    submittedAt: row.submittedAt,
    liveId: live?.id ?? null,
  }
  return {
    app: { slug: app.slug, name: app.name, status: app.status },
    owner: { id: owner.id, name: owner.name, email: owner.email },
    version,
    live,
    ...changesBetween(live, version),
    /** Scopes that only this version has, and scopes that only the live version has. */
    newScopes: version.scopes.filter((scope) => !shownScopes.includes(scope)),
    droppedScopes: shownScopes.filter((scope) => !version.scopes.includes(scope)),
    seen,
  }
}

/** The first changes of the manifest compared with the live version, and the number of further changes. */
const changesBetween = (live: VersionRecord | null, version: VersionRecord) => {
  const changes: ManifestChange[] = []
  let moreChanges = 0
  if (live === null) return { changes, moreChanges }
  for (const change of manifestDifference(live.manifest, version.manifest)) {
    if (changes.length < mostChanges) changes.push(change)
    else moreChanges += 1
  }
  return { changes, moreChanges }
}
