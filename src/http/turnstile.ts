/** Lets as many requests begin at a time as can be answered in time; the others wait, and not for long. */
export type Turnstile = {
  /** True where a request may begin at once; else a promise of whether it may begin after a while. */
  enter(): true | Promise<boolean>
}

export type TurnstileOptions = {
  /** Of those who could not begin for so long, in milliseconds, every other is turned away; null: all begin at once. */
  readonly longestWaitMs: number | null
  readonly monotonicMs: () => number
}

/** How long a turn of the event loop should take at most: it is what the health checks wait for. */
const longestTurnMs = 100
/** So many may begin in a turn however long the last one took. */
const leastPerTurn = 64
/** More than a turn can bring: Bun takes 1,024 events from the system at a time. */
const plenty = 2_048
/** By how much the allowance grows after a turn that was short enough. */
const growth = 1.25

type Waiting = { readonly since: number; readonly resolve: (mayBegin: boolean) => void; next: Waiting | null }

/**
 * All requests that have arrived would begin in the same turn of the event loop, and what any of them waits for (its bytes,
 * the disk, a commit that it shares) comes to it in a later one. With more requests than can be answered, turns get long
 * and every wait is many of them: callers give up, and the work that was done for them is lost. So a turn that took too
 * long lets the next ones begin only what would have fitted; the rest waits here in the order of its arrival. Waiting is
 * worth more than a refusal at once: refusing costs a good part of an answer, and whoever was refused asks again. So of
 * those who have waited too long at most every other is turned away: else a crowd that comes back at once would leave time
 * for nothing but refusals.
 */
export const createTurnstile = ({ longestWaitMs, monotonicMs }: TurnstileOptions): Turnstile => {
  if (longestWaitMs === null) return { enter: () => true }
  let first: Waiting | null = null
  let last: Waiting | null = null
  let allowance = plenty
  let begun = 0
  let turnBeganAt = 0
  let turning = false

  const join = (): Promise<boolean> =>
    new Promise((resolve) => {
      const waiting = { since: monotonicMs(), resolve, next: null }
      if (last === null) first = waiting
      else last.next = waiting
      last = waiting
    })
  const letIn = (now: number): void => {
    let turnedAway = 0
    while (first !== null && begun < allowance) {
      const mayBegin = now - first.since <= longestWaitMs || turnedAway > begun
      if (mayBegin) begun += 1
      else turnedAway += 1
      first.resolve(mayBegin)
      first = first.next
    }
    if (first === null) last = null
  }
  /** Comes once a turn, as long as there is anything to do. */
  const turned = (): void => {
    const now = monotonicMs()
    allowance = nextAllowance(allowance, begun, now - turnBeganAt)
    turnBeganAt = now
    turning = begun > 0 // nobody waits unless others have begun
    begun = 0
    letIn(now)
    if (turning) setImmediate(turned)
  }
  const turn = (): void => {
    if (turning) return
    turning = true
    turnBeganAt = monotonicMs()
    setImmediate(turned)
  }
  return {
    enter: () => {
      turn()
      if (begun < allowance) {
        begun += 1
        return true
      }
      return join()
    },
  }
}

const nextAllowance = (allowance: number, begun: number, tookMs: number): number =>
  tookMs > longestTurnMs
    ? Math.max(leastPerTurn, Math.floor((begun * longestTurnMs) / tookMs))
    : Math.min(plenty, Math.ceil(allowance * growth))
