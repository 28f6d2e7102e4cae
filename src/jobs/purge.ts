import { recordId } from '../domain/identifier.ts'
import type { Platform } from '../operations/platform.ts'
import { purgeAll } from '../operations/purge/purge-all.ts'
import type { Job } from './scheduler.ts'

/** Long enough for every other request to get its turn between two batches. */
const pauseMs = 20

/** Removes what is over, once a minute, in small batches with pauses. */
export const purgeJob = (platform: Platform, purged: (kind: string, rows: number) => void): Job => ({
  name: 'purge',
  periodMs: 60_000,
  run: async (stopped) => {
    const requestId = recordId('req_', platform.random.uuid(platform.clock.now()))
    await purgeAll(platform, { requestId, address: 'local' }, async () => await Bun.sleep(pauseMs), stopped, purged)
  },
})
