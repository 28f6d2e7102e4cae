/** Limits how many requests begin at a time to what can be answered in time. The others wait briefly. */
export type Turnstile = {
  /** True if the request may begin at once; else a promise of whether it may begin later. */
  enter(): true | Promise<boolean>
}

type TurnstileOptions = {
  /** Beyond this wait, every second waiter is refused; null lets all requests begin at once. */
  readonly longestWaitMs: number | null
  readonly monotonicMs: () => number
}

/** How long a turn of the event loop should take at most; health checks wait that long. */
const longestTurnMs = 100
/** Requests that may begin in every turn, however long the last turn took. */
const leastPerTurn = 64
/** More than a turn can bring, since Bun takes 1,024 events from the system at a time. */
const plenty = 2_048
/** The growth of the allowance after a turn that was short enough. */
const growth = 1.25

/**
 * Without a limit, all requests that have arrived begin in the same turn of the event loop, and whatever they wait for (bytes,
 * the disk, a shared commit) comes in a later turn. With more requests than can be answered, turns get long and every wait
 * takes several of them: callers give up, and the work done for them is lost. So after a turn that took too long, the next
 * turns begin only as much as would have fitted, and the rest waits here in order of arrival.
 *
 * Waiting is better than an immediate refusal, because a refusal costs a good part of an answer and refused callers come back.
 * For the same reason at most every second waiter is refused: otherwise a crowd that retries would leave time for nothing but
 * refusals.
 */
export const createTurnstile = ({ longestWaitMs, monotonicMs }: TurnstileOptions): Turnstile => {
  if (longestWaitMs === null) return { enter: () => true }
  const line = new Set<{ readonly since: number; readonly resolve: (mayBegin: boolean) => void }>()
  let allowance = plenty
  let begun = 0
  let turnBeganAt = 0
  let turning = false

  const join = (): Promise<boolean> => new Promise((resolve) => line.add({ since: monotonicMs(), resolve }))
  const letIn = (now: number): void => {
    let turnedAway = 0
    for (const waiting of line) {
      if (begun >= allowance) return
      const mayBegin = now - waiting.since <= longestWaitMs || turnedAway > begun
      if (mayBegin) begun += 1
      else turnedAway += 1
      line.delete(waiting)
      waiting.resolve(mayBegin)
    }
  }
  /** Runs once a turn, as long as there is anything to do. */
  const turned = (): void => {
    const now = monotonicMs()
    allowance = nextAllowance(allowance, begun, now - turnBeganAt)
    turnBeganAt = now
    turning = begun > 0 // requests wait only if others have begun
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
