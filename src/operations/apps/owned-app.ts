import type { App } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'

/** An app as its owner opens it. */
export type OwnedApp = AppRecord & { readonly developmentVersionId: App['developmentVersionId'] }

/**
 * The app of a slug, if it is this user's.
 * @throws route_not_found for everybody else, as for an app that does not exist
 */
export const ownedApp = async (platform: Platform, userId: string, slug: string): Promise<OwnedApp> => {
  const q = platform.database.queries
  const app = await q.apps.ownedBySlug(userId, slug)
  if (app === null) throw refuse('route_not_found')
  const { developmentVersionId } = app
  return { ...appRecord(app, await q.apps.clientsOf(app.id)), developmentVersionId }
}
