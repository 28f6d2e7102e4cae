import type { Figures } from '../../runtime/metrics.ts'
import { clockOffsetMs } from '../clock/clock-fault.ts'
import type { Observed } from '../platform.ts'
import { purgeLagSeconds } from '../purge/purge-lag.ts'
import { backupAgeSeconds } from './backup-age.ts'
import { conditionNames, readConditions } from './conditions.ts'

/** Deliveries that are counted at most. */
const mostDeliveries = 10_000

/** Reads the figures that cost little, however large the store is. What a failed store does not say is null. */
export const readFigures = async (platform: Observed): Promise<Figures> => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  const holding = new Set((await readConditions(platform)).map(({ name }) => name))
  const disabled = await known(q.webhookEndpoints.countDisabled())
  return {
    ...database.statistics(),
    sqliteVersion: (await known(q.health.sqliteVersion())) ?? '',
    clockOffsetSeconds: clockOffsetMs(clock) / 1000,
    purgeLagSeconds: await known(purgeLagSeconds(platform)),
    backupAgeSeconds: await known(backupAgeSeconds(platform)),
    dueDeliveries: await known(q.webhookEndpoints.countDue(now, mostDeliveries)),
    disabledEndpoints: disabled ?? {},
    conditions: Object.fromEntries(conditionNames.map((name) => [name, holding.has(name)])),
  }
}

/** A monitor must learn that the store has failed, also when the store answers nothing. */
const known = async <T>(asked: Promise<T>): Promise<T | null> => await asked.catch(() => null)
