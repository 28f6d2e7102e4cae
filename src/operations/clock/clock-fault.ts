import type { Clock } from '../../runtime/clock.ts'

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
