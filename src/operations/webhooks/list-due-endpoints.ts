import type { Platform } from '../platform.ts'

/** IDs of the enabled endpoints that have something due. */
export const listDueEndpoints = async (platform: Platform): Promise<readonly string[]> =>
  await platform.database.queries.webhookEndpoints.due(platform.clock.now())
