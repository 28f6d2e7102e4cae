import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import type { SeenVersion } from './move-version.ts'
import { compareVersions, versionRecord } from './version-record.ts'

/** What an operator sees before deciding on a version. */
export type Review = Awaited<ReturnType<typeof readReview>>

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
  /** Send this back with the decision, so that it applies only to what was shown. */
  const seen: SeenVersion = {
    id: row.id,
    revision: row.revision,
    submittedAt: row.submittedAt,
    liveId: live?.id ?? null,
  }
  return {
    app: { id: app.id, slug: app.slug, name: app.name, status: app.status },
    owner: { id: owner.id, name: owner.name, email: owner.email },
    version,
    live,
    ...compareVersions(live, version),
    seen,
  }
}
