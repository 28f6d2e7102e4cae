import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type UserSummary, userSummary } from '../users/search-users.ts'
import type { VersionSummary } from '../versions/list-version-summaries.ts'
import { type AppRecord, appRecord } from './app-record.ts'

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
