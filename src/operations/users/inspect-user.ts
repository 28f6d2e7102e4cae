import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type UserSummary, userSummary } from './search-users.ts'

/** What an operator wants to know of a user: who they are, and how many apps are theirs. */
export type InspectedUser = UserSummary & { readonly apps: number }

/** @throws route_not_found for an unknown ID */
export const inspectUser = async (platform: Platform, id: string): Promise<InspectedUser> => {
  const q = platform.database.queries
  const user = await q.users.byId(id)
  if (user === null) throw refuse('route_not_found')
  return { ...userSummary(user), apps: await q.apps.countOwnedBy(id) }
}
