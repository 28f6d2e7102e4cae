import { uuidTimeOfKey } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import type { Observed } from '../platform.ts'

/**
 * For how long the oldest app token or session that should be gone has been due, in whole seconds; 0 when the purge
 * has kept up. Two reads of the first key.
 */
export const purgeLagSeconds = async (platform: Observed): Promise<number> => {
  const q = platform.database.queries
  const now = platform.clock.purgeBefore()
  const overdue = (key: string | null, lifetimeSeconds: number) =>
    key === null ? 0 : Math.max(0, Math.floor((now - uuidTimeOfKey(key)) / 1000) - lifetimeSeconds)
  return Math.max(
    overdue(await q.appTokens.oldestKey(), maximumLifetimes.appToken),
    overdue(await q.sessions.oldestKey(), maximumLifetimes.session),
  )
}
