import { recordId } from '../domain/identifier.ts'
import type { Platform } from '../operations/platform.ts'
import { announceDeprecations } from '../operations/webhooks/events.ts'
import type { Job } from './scheduler.ts'

/** Tells apps within the hour what this release says of versions of the contract, also those that began to listen since. */
export const announceDeprecationsJob = (platform: Platform): Job => ({
  name: 'announce-deprecations',
  periodMs: 3_600_000,
  run: async () => {
    const requestId = recordId('req_', platform.random.uuid(platform.clock.now()))
    await announceDeprecations(platform, { requestId, address: 'local' })
  },
})
