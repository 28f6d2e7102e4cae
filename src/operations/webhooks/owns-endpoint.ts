import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'

/** The endpoint is one of the app of this slug, and that app is this user's; to everybody else it does not exist. */
export const ownsEndpoint =
  (userId: string, slug: string, endpointId: string) =>
  async (q: Queries): Promise<PlatformError | null> => {
    const app = await q.apps.ownedBySlug(userId, slug)
    const found = await q.webhookEndpoints.find(endpointId)
    return app !== null && found?.endpoint.appId === app.id ? null : refuse('route_not_found')
  }
