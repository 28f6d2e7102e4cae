import type { App } from '../../../db/database.ts'
import type { Platform } from '../platform.ts'

/** An app in the list of its owner; versions as they are called, null when there is none. */
export type OwnAppSummary = Pick<App, 'slug' | 'name' | 'status' | 'createdAt'> & {
  readonly live: string | null
  readonly developmentHead: string | null
}

/** A user's own apps by slug, with what is live and what is the development head of each. */
export const listOwnApps = async (platform: Platform, userId: string): Promise<OwnAppSummary[]> =>
  (await platform.database.queries.apps.ownedBy(userId)).map(({ app, live, developmentHead }) => ({
    slug: app.slug,
    name: app.name,
    status: app.status,
    createdAt: app.createdAt,
    live,
    developmentHead,
  }))
