/** The times that decisions need, in whole epoch milliseconds. */
export type Clock = ReturnType<typeof createClock>

type TimeSources = {
  /** The machine's clock, epoch milliseconds; may jump. */
  readonly wall: () => number
  /** Milliseconds since a fixed moment; never jumps. */
  readonly monotonic: () => number
}

/** How long the machine's clock must stay ahead before the trusted time follows it. */
const beliefMs = 3_600_000

/** Clock synchronisation slews by at most 500 parts per million; twice that is followed at once. */
const slewPerMs = 0.001

/** A smaller difference is not a jump. */
const toleranceMs = 100

/**
 * The trusted time starts at the last high-water mark, or at the machine's clock if there is none, and runs with the
 * monotonic clock. If the machine's clock is ahead, it follows slowly; after an hour ahead it jumps, by the smallest
 * difference of that hour. It never goes back.
 */
export const createClock = (sources: TimeSources, highWater: number | null) => {
  let trusted = highWater ?? sources.wall()
  let sampledAt = sources.monotonic()
  let aheadSince: number | null = null
  let leastAhead = Number.POSITIVE_INFINITY

  /** Returns the time of the machine's clock. */
  const advance = (): number => {
    const wall = sources.wall()
    const at = sources.monotonic()
    const elapsed = Math.max(0, at - sampledAt)
    sampledAt = at
    trusted += elapsed
    const ahead = wall - trusted
    if (ahead > 0) trusted += Math.min(ahead, elapsed * slewPerMs)
    believe(wall - trusted, at)
    return wall
  }

  const believe = (ahead: number, at: number) => {
    if (ahead <= toleranceMs) {
      aheadSince = null
      leastAhead = Number.POSITIVE_INFINITY
      return
    }
    aheadSince ??= at
    leastAhead = Math.min(leastAhead, ahead)
    if (at - aheadSince < beliefMs) return
    trusted += leastAhead
    aheadSince = null
    leastAhead = Number.POSITIVE_INFINITY
  }

  return {
    /**
     * For granting and refusing. It is never behind the trusted time, so that setting the machine's clock back revives
     * nothing, and never behind the machine's clock, so that no token is used too long.
     */
    now: () => Math.floor(Math.max(advance(), trusted)),
    /** For deleting: the earlier of the two, so that nothing live is deleted when the machine's clock jumps ahead. */
    purgeBefore: () => Math.floor(Math.min(advance(), trusted)),
    /** The trusted time. It is stored with the data and passed to the next start as `highWater`. */
    highWater: () => {
      advance()
      return Math.floor(trusted)
    },
    /** The machine's clock, for telling other machines the time. No decision here uses it, since it may jump. */
    wall: () => Math.floor(sources.wall()),
  }
}

export const systemTime: TimeSources = { wall: () => Date.now(), monotonic: () => performance.now() }
