import type { Database } from '../../db/database.ts'
import { timeKeyAt } from '../domain/time-key.ts'
import { type Clock, createClock, systemTime } from '../runtime/clock.ts'
import { createRandom, type Random } from '../runtime/random.ts'
import type { Platform } from './platform.ts'

/**
 * The machine's clock, which never returns a time before the latest one that was stored with the data. Where servers share a
 * database, its clock is the bound for deleting, so that none deletes what is live for another.
 */
export const openClock = async (database: Database): Promise<Clock> => {
  const kept = [await database.queries.watermarks.find('clock'), database.keptTime()].filter((at) => at !== null)
  const clock = createClock(systemTime, kept.length === 0 ? null : Math.max(...kept))
  const purgeBefore = () => Math.min(clock.purgeBefore(), database.time() ?? Number.POSITIVE_INFINITY)
  return { ...clock, purgeBefore }
}

/**
 * A time of this server by the clock of the database, for what one server writes and another judges a moment later. Where one
 * server has the database for itself, it is the same time.
 */
export const sharedTime = ({ database }: Pick<Platform, 'database'>, now: number): number =>
  now - (database.sharing()?.clockOffsetMs ?? 0)

/** Keys that are further ahead were made while the clock was wrong. New keys do not continue after those. */
const leastFutureMs = 1_000

/**
 * Randomness. New IDs continue after those of the audit, which run ahead of the time after a clock reset. New keys
 * continue after those in the database, so that no process makes a key that an earlier one made.
 */
export const openRandom = async ({ queries: q, node }: Database, clock: Clock): Promise<Random> => {
  const lastKey = await q.keys.highestBelow(timeKeyAt(clock.now() + leastFutureMs))
  return createRandom({ node, aheadMs: await q.audit.aheadMs(), ...(lastKey !== null && { lastKey }) })
}

/**
 * Stores the latest trusted time in the database, so that nothing expired becomes valid again when the machine's clock
 * is set back while the server is down. `keepingClock` stores it more often, beside the database.
 */
export const keepTime = async ({ clock, database }: Platform): Promise<void> => {
  const at = clock.highWater()
  await database.transaction(async (q) => await q.watermarks.set('clock', at))
}

/** The least time between two calls of `keepTime`. */
const tickMs = 100

/**
 * The clock that requests use. It stores the trusted time within a second of each reading, so that a token that was
 * refused as expired stays expired after a restart.
 */
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

/** How far the trusted time may be ahead of the machine's clock before the server reports not ready. */
const toleratedMs = 30_000

/**
 * How far the trusted time is ahead of the machine's clock: above zero after that was ahead and was set back. After a restart
 * the trusted time is behind it, by as long as nobody stored it, which is no fault.
 */
export const clockOffsetMs = (clock: Pick<Clock, 'highWater' | 'wall'>): number =>
  Math.max(0, clock.highWater() - clock.wall())

/**
 * A sentence for the operator when the trusted time is far ahead of the machine's clock; null otherwise. New tokens are
 * then dated in the future, and other servers may refuse them. A machine clock that is ahead is not detected: it is
 * trusted.
 */
export const clockFault = (clock: Pick<Clock, 'highWater' | 'wall'>): string | null => {
  const offsetMs = clockOffsetMs(clock)
  if (offsetMs <= toleratedMs) return null
  return (
    `The machine's clock is ${Math.round(offsetMs / 1000)} s behind the time that was trusted before: set it right, ` +
    'or if it is right, stop the server and run app-platform clock reset.'
  )
}
