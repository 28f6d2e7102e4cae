import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'

/** The secret is one of the app of this slug, and that app is this user's; to everybody else it does not exist. */
export const ownsCredential =
  (userId: string, slug: string, credentialId: string) =>
  async (q: Queries): Promise<PlatformError | null> => {
    const app = await q.apps.ownedBySlug(userId, slug)
    const found = await q.credentials.find(credentialId)
    return app !== null && found?.app.id === app.id ? null : refuse('route_not_found')
  }
