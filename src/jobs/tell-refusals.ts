import { recordId } from '../domain/identifier.ts'
import { tellRepeatedRefusals } from '../operations/audit/tell-repeated-refusals.ts'
import type { Platform } from '../operations/platform.ts'
import type { Job } from './scheduler.ts'

/** Writes down what refusals were counted, soon after their minute is over. */
export const tellRefusalsJob = (platform: Platform): Job => ({
  name: 'tell-refusals',
  periodMs: 20_000,
  run: async () => await tellRefusals(platform, platform.clock.now()),
})

/** Once more for all, when the program ends. */
export const tellAllRefusals = async (platform: Platform): Promise<void> =>
  await tellRefusals(platform, Number.POSITIVE_INFINITY)

const tellRefusals = async (platform: Platform, until: number): Promise<void> => {
  const requestId = recordId('req_', platform.random.uuid(platform.clock.now()))
  await tellRepeatedRefusals(platform, { requestId, address: 'local' }, until)
}
