/** The two times a decision may need. Epoch milliseconds, whole. */
export type Clock = {
  /**
   * For granting and refusing: never behind the time this clock trusts, so that setting the machine's clock back revives
   * nothing, and never behind the machine's clock, so that a token is refused rather than used too long.
   */
  now(): number
  /** For deleting: the earlier of the two, so that a machine clock that jumped ahead deletes nothing alive. */
  purgeBefore(): number
  /** The trusted time, to be kept with the data and handed to the next start as `highWater`. */
  highWater(): number
  /** The machine's clock as it stands, for telling other machines the time. It decides nothing here: it may jump. */
  wall(): number
}

export type TimeSources = {
  /** The machine's clock, epoch milliseconds; may jump. */
  readonly wall: () => number
  /** Milliseconds since some fixed moment; never jumps. */
  readonly monotonic: () => number
}

/** How long the machine's clock must stay ahead before the trusted time follows it. */
const beliefMs = 3_600_000

/** The fastest that an honest clock is slewed is 500 in a million; twice that is followed at once. */
const slewPerMs = 0.001

/** Ahead by less than this is not a jump. */
const toleranceMs = 100

/**
 * Trusted time starts from the machine's clock, or from the last high-water mark where there is one, and then runs with
 * the monotonic clock. It follows the machine's clock ahead slowly, or at once after it has stayed ahead for an hour,
 * and then only by the least it was ahead in that hour. It never goes back.
 */
export const createClock = (sources: TimeSources, highWater: number | null): Clock => {
  let trusted = highWater ?? sources.wall()
  let sampledAt = sources.monotonic()
  let aheadSince: number | null = null
  let leastAhead = Number.POSITIVE_INFINITY

  const advance = (wall: number) => {
    const at = sources.monotonic()
    const elapsed = Math.max(0, at - sampledAt)
    sampledAt = at
    trusted += elapsed
    const ahead = wall - trusted
    if (ahead > 0) trusted += Math.min(ahead, elapsed * slewPerMs)
    believe(wall - trusted, at)
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
    now: () => {
      const wall = sources.wall()
      advance(wall)
      return Math.floor(Math.max(wall, trusted))
    },
    purgeBefore: () => {
      const wall = sources.wall()
      advance(wall)
      return Math.floor(Math.min(wall, trusted))
    },
    highWater: () => {
      advance(sources.wall())
      return Math.floor(trusted)
    },
    wall: () => Math.floor(sources.wall()),
  }
}

export const systemTime: TimeSources = { wall: () => Date.now(), monotonic: () => performance.now() }
