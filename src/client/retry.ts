export type RetryPolicy = {
  /** The most repeats of one request. */
  readonly repeats: number
  /** The longest wait before the first repeat; it doubles with each one, up to `longestWaitMs`. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** No repeat starts later than this after the first try. A longer `Retry-After` is left to the caller. */
  readonly giveUpAfterMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  repeats: 4,
  firstWaitMs: 300,
  longestWaitMs: 8_000,
  giveUpAfterMs: 60_000,
}

/** The state after a failed try. */
type RetryState = {
  /** Repeats made so far. */
  readonly repeats: number
  /** Since the first try began. */
  readonly elapsedMs: number
  /** What the server asked for; null when it asked for nothing. */
  readonly retryAfterSeconds: number | null
}

/**
 * How long to wait before the next repeat; null for no more repeats. Exponential backoff with full jitter: the wait is
 * uniform between zero and its limit, so that clients that failed together do not repeat together. A pause that the
 * server asked for is added in full.
 * @param chance from 0 to 1
 */
export const waitBeforeRepeat = (policy: RetryPolicy, state: RetryState, chance: number): number | null => {
  if (state.repeats >= policy.repeats) return null
  const longest = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** state.repeats)
  const waitMs = (state.retryAfterSeconds ?? 0) * 1000 + longest * chance
  return state.elapsedMs + waitMs > policy.giveUpAfterMs ? null : waitMs
}

/** @throws the signal's reason, as soon as it is aborted */
export const wait = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await orAborted(elapsed, signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for work that other callers may also wait for: an abort ends the waiting, not the work.
 * @throws the signal's reason, or what the work throws
 */
export const orAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return await work
  signal.throwIfAborted()
  const listening = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: listening.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    listening.abort()
  }
}
