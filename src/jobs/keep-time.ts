import type { Platform } from '../operations/platform.ts'
import type { Job } from './scheduler.ts'

/**
 * Keeps the latest trusted time with the data, once a minute, so that a machine clock that was set back while the
 * program was down revives nothing at the next start.
 */
export const keepTimeJob = (platform: Platform): Job => ({
  name: 'keep-time',
  periodMs: 60_000,
  run: async () => await keepTime(platform),
})

export const keepTime = async (platform: Platform): Promise<void> => {
  const at = platform.clock.highWater()
  await platform.database.transaction(async (q) => await q.watermarks.set('clock', at))
}
