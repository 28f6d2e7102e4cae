import { recordId } from '../domain/identifier.ts'
import { tellRepeatedRefusals } from '../operations/audit/tell-repeated-refusals.ts'
import { keepTime } from '../operations/clock.ts'
import { type ConditionName, readConditions } from '../operations/health/conditions.ts'
import type { Platform } from '../operations/platform.ts'
import { purgeAll } from '../operations/purge/purge.ts'
import { announceDeprecations } from '../operations/webhooks/events.ts'
import type { Log } from '../runtime/log.ts'
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

/** Tells apps within the hour what this release says of versions of the contract, also those that began to listen since. */
export const announceDeprecationsJob = (platform: Platform): Job => ({
  name: 'announce-deprecations',
  periodMs: 3_600_000,
  run: async () => {
    const requestId = recordId('req_', platform.random.uuid(platform.clock.now()))
    await announceDeprecations(platform, { requestId, address: 'local' })
  },
})

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

/** Keeps the time once a minute in the database itself, from where it goes into backups. */
export const keepTimeJob = (platform: Platform): Job => ({
  name: 'keep-time',
  periodMs: 60_000,
  run: async () => await keepTime(platform),
})

/** Logs each condition once when it begins, with what to do, and once when it has ended. */
export const watchConditionsJob = (platform: Platform, log: Log): Job => {
  let logged: ReadonlySet<ConditionName> = new Set()
  return {
    name: 'watch-conditions',
    periodMs: 1_000,
    run: async () => {
      const conditions = await readConditions(platform)
      for (const { name, sentence, endsReadiness } of conditions) {
        if (logged.has(name)) continue
        const fields = { kind: name, reason: sentence }
        if (endsReadiness) log.error('condition.began', fields)
        else log.warn('condition.began', fields)
      }
      const holding = new Set(conditions.map(({ name }) => name))
      for (const name of logged) if (!holding.has(name)) log.info('condition.ended', { kind: name })
      logged = holding
    },
  }
}
