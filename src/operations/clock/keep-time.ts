import type { Database } from '../../../db/database.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Platform } from '../platform.ts'

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
