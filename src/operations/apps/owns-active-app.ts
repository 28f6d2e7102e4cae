import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'

/**
 * The app of this slug is this user's and not suspended: what a change must hold to that would give a suspended app
 * more than it has. Ending something (a secret, a redirect URI) needs ownership alone.
 */
export const ownsActiveApp =
  (userId: string, slug: string) =>
  async (q: Queries): Promise<PlatformError | null> => {
    const app = await q.apps.ownedBySlug(userId, slug)
    if (app === null) return refuse('route_not_found')
    return app.status === 'active' ? null : refuse('app_inactive')
  }
