import type { LiveCount, StoreHealth, StoreStatistics } from '../../../db/database.ts'
import type { Platform } from '../platform.ts'
import { backupAgeSeconds } from './backup-age.ts'
import { purgeLagSeconds } from '../purge/purge-lag.ts'

/** How the store is, for an operator. */
export type PlatformHealth = StoreHealth &
  StoreStatistics & {
    readonly sqliteVersion: string
    /** For how long the oldest row that should be gone has been due; 0 when the purge has kept up. */
    readonly purgeLagSeconds: number
    readonly live: { readonly appTokens: LiveCount; readonly sessions: LiveCount; readonly grants: LiveCount }
    /** Epoch milliseconds of the last restore from a backup; null when there was none. */
    readonly restoredAt: number | null
    /** How long ago the last backup was made; null when none was. */
    readonly backupAgeSeconds: number | null
  }

/** Rows that a count looks at: some milliseconds, also where there are millions. */
const mostRows = 10_000

/** Reads the figures that cost little, however large the store is. */
export const readHealth = async (platform: Platform): Promise<PlatformHealth> => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  return {
    ...database.health(),
    ...database.statistics(),
    sqliteVersion: await q.health.sqliteVersion(),
    purgeLagSeconds: await purgeLagSeconds(platform),
    live: {
      appTokens: await q.health.liveAppTokens(now, mostRows),
      sessions: await q.health.liveSessions(now, mostRows),
      grants: await q.health.liveGrants(now, mostRows),
    },
    restoredAt: await q.watermarks.find('restored'),
    backupAgeSeconds: await backupAgeSeconds(platform),
  }
}
