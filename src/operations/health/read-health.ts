import type { LiveCount } from '../../../db/database.ts'
import type { Figures } from '../../runtime/metrics.ts'
import type { Platform } from '../platform.ts'
import { type Condition, readConditions } from './conditions.ts'
import { readFigures } from './read-figures.ts'

/** How the server is, for an operator: what the metrics say, and more that is counted. */
export type PlatformHealth = Omit<Figures, 'conditions'> & {
  /** What a person has to do something about. */
  readonly conditions: readonly Condition[]
  readonly live: { readonly appTokens: LiveCount; readonly sessions: LiveCount; readonly grants: LiveCount }
  /** The stored files of all apps, those that no version uses any more included, and what one app may keep. */
  readonly artifacts: { readonly files: number; readonly bytes: number; readonly allowedBytesPerApp: number }
  /** Epoch milliseconds of the last restore from a backup; null when there was none. */
  readonly restoredAt: number | null
}

/** Rows that a count looks at: some milliseconds, also where there are millions. */
const mostRows = 10_000

/** Reads the figures that cost little, however large the store is. */
export const readHealth = async (platform: Platform): Promise<PlatformHealth> => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  return {
    ...(await readFigures(platform)),
    conditions: await readConditions(platform),
    live: {
      appTokens: await q.health.liveAppTokens(now, mostRows),
      sessions: await q.health.liveSessions(now, mostRows, now - platform.lifetimes.sessionIdle * 1000),
      grants: await q.health.liveGrants(now, mostRows),
    },
    artifacts: { ...(await q.artifacts.totals()), allowedBytesPerApp: platform.quotas.artifactBytes },
    restoredAt: await q.watermarks.find('restored'),
  }
}
