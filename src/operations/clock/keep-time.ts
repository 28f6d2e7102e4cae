import type { Platform } from '../platform.ts'

/**
 * Keeps the latest trusted time with the data, so that a machine clock that was set back while the program was down
 * revives nothing at the next start.
 */
export const keepTime = async (platform: Platform): Promise<void> => {
  const at = platform.clock.highWater()
  await platform.database.transaction(async (q) => await q.watermarks.set('clock', at))
}
