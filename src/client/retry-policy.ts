export type RetryPolicy = {
  /** How often a request is repeated at most. */
  readonly repeats: number
  /** The longest wait before the first repeat; it doubles with each one, up to `longestWaitMs`. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** No repeat starts later than this after the first try. A `Retry-After` beyond it is left to the caller. */
  readonly giveUpAfterMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  repeats: 4,
  firstWaitMs: 300,
  longestWaitMs: 8_000,
  giveUpAfterMs: 60_000,
}

/** How things stand after a try that failed. */
export type RetryState = {
  /** Repeats made so far. */
  readonly repeats: number
  /** Since the first try began. */
  readonly elapsedMs: number
  /** What the server asked for; null when it did not. */
  readonly retryAfterSeconds: number | null
}

/**
 * How long to wait before the next repeat; null when there is to be none. Exponential backoff with full jitter: any
 * wait from nothing to the longest is as likely, so that clients which failed together do not come back together. What
 * the server asked for is waited for whole, and the jitter comes on top.
 * @param chance from 0 to 1
 */
export const waitBeforeRepeat = (policy: RetryPolicy, state: RetryState, chance: number): number | null => {
  if (state.repeats >= policy.repeats) return null
  const longest = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** state.repeats)
  const waitMs = (state.retryAfterSeconds ?? 0) * 1000 + longest * chance
  return state.elapsedMs + waitMs > policy.giveUpAfterMs ? null : waitMs
}
