import { auditStamp } from './event.ts'
import type { Platform, Trace } from '../platform.ts'

/** How many rows one transaction writes, so that no other write waits for long. */
const rowsAtOnce = 250

/**
 * Writes one row for each kind, address and app whose refusals were counted in minutes that have ended by `now` (epoch
 * milliseconds; Infinity takes all). Counts that cannot be written are kept for the next call.
 */
export const tellRepeatedRefusals = async (platform: Platform, trace: Trace, now: number): Promise<void> => {
  const { refusals, database, clock } = platform
  const counted = refusals.take(now)
  for (let first = 0; first < counted.length; first += rowsAtOnce) {
    const rows = counted.slice(first, first + rowsAtOnce).map(({ event, repeated, from, to }) => {
      const detail = { repeated, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
      const { address } = event
      const stamp = auditStamp(platform, { ...trace, address }, clock.now())
      return Object.assign({}, event, stamp, { detail: JSON.stringify(detail) })
    })
    try {
      await database.transaction(async (q) => {
        for (const row of rows) await q.audit.insert(row)
      })
    } catch (error) {
      refusals.putBack(counted.slice(first))
      throw error
    }
  }
}
