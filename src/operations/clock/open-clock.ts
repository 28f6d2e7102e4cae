import type { Database } from '../../../db/database.ts'
import { type Clock, createClock, systemTime } from '../../runtime/clock.ts'
import { createRandom, type Random } from '../../runtime/random.ts'

/** The machine's clock, which never trusts a time before the last one that was kept with the data. */
export const openClock = async (database: Database): Promise<Clock> => {
  const kept = [await database.queries.watermarks.find('clock'), database.keptTime()].filter((at) => at !== null)
  return createClock(systemTime, kept.length === 0 ? null : Math.max(...kept))
}

/** Chance, and IDs that go on from those of the audit, which run ahead of the time after a clock reset. */
export const openRandom = async (database: Database): Promise<Random> =>
  createRandom({ aheadMs: await database.queries.audit.aheadMs() })
