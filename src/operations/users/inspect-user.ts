import type { App } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type UserSummary, userSummary } from './search-users.ts'

/** What an operator wants to know of a user: who they are, and which apps are theirs. */
export type InspectedUser = UserSummary & { readonly apps: readonly Pick<App, 'slug' | 'status'>[] }

/** @throws route_not_found for an unknown ID */
export const inspectUser = async (platform: Platform, id: string): Promise<InspectedUser> => {
  const q = platform.database.queries
  const user = await q.users.byId(id)
  if (user === null) throw refuse('route_not_found')
  const apps = (await q.apps.listOwnedBy(id)).map(({ slug, status }) => ({ slug, status }))
  return { ...userSummary(user), apps }
}
