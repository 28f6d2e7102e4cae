import { type ConditionName, readConditions } from '../operations/health/conditions.ts'
import type { Platform } from '../operations/platform.ts'
import type { Log } from '../runtime/log.ts'
import type { Job } from './scheduler.ts'

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
