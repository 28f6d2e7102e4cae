import type { Database } from '../../db/database.ts'
import { type Clock, createClock, systemTime } from '../runtime/clock.ts'
import { createRandom, type Random } from '../runtime/random.ts'
import type { Platform } from './platform.ts'

/** The machine's clock, which never trusts a time before the last one that was kept with the data. */
export const openClock = async (database: Database): Promise<Clock> => {
  const kept = [await database.queries.watermarks.find('clock'), database.keptTime()].filter((at) => at !== null)
  return createClock(systemTime, kept.length === 0 ? null : Math.max(...kept))
}

/** Chance, and IDs that go on from those of the audit, which run ahead of the time after a clock reset. */
export const openRandom = async (database: Database): Promise<Random> =>
  createRandom({ aheadMs: await database.queries.audit.aheadMs() })

/**
 * Keeps the latest trusted time in the database, so that a machine clock that was set back while the program was down
 * revives nothing at the next start. Beside the database it is kept by whoever answers.
 */
export const keepTime = async ({ clock, database }: Platform): Promise<void> => {
  const at = clock.highWater()
  await database.transaction(async (q) => await q.watermarks.set('clock', at))
}

/** How exactly it is worth telling the store. */
const tickMs = 100

/** The clock of whoever answers: the trusted time is kept within a second of each answer, for what it ended must stay ended. */
export const keepingClock = (clock: Clock, store: Pick<Database, 'keepTime'>): Clock => {
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    ...clock,
    now: () => {
      const at = clock.now()
      if (Math.abs(at - toldAt) >= tickMs) {
        toldAt = at
        store.keepTime(clock.highWater())
      }
      return at
    },
  }
}

/** How far the trusted time may be ahead of the machine's before the server is not ready. */
const toleratedMs = 30_000

/** The trusted time minus the machine's: above zero once the machine's clock was ahead and was set back. */
export const clockOffsetMs = (clock: Pick<Clock, 'highWater' | 'wall'>): number => clock.highWater() - clock.wall()

/**
 * A sentence for the operator when the trusted time is far ahead of the machine's clock; null otherwise. Tokens are then dated
 * in the future, and verifiers refuse them. A machine clock that is ahead is no fault: it is used as it is.
 */
export const clockFault = (clock: Pick<Clock, 'highWater' | 'wall'>): string | null => {
  const offsetMs = clockOffsetMs(clock)
  if (offsetMs <= toleratedMs) return null
  return (
    `The machine's clock is ${Math.round(offsetMs / 1000)} s behind the time that was trusted before: set it right, ` +
    'or if it is right, stop the server and run app-platform clock reset.'
  )
}
