/** Lifetimes in whole seconds (contract section 5). Settings may shorten them, never lengthen them. */
export const maximumLifetimes = {
  code: 300,
  appToken: 3_600,
  accessToken: 3_600,
  refreshToken: 30 * 24 * 3_600,
  session: 12 * 3_600,
  /** Between two uses of a session. */
  sessionIdle: 2 * 3_600,
  /** Of a grant, regardless of refreshes. */
  grant: 365 * 24 * 3_600,
  installSessionCode: 60,
  embeddedSession: 600,
} as const

/** How long a refresh without an idempotency key may be repeated (contract section 3). A setting may also lengthen it; 0 is never. */
export const refreshRetry = { default: 10, maximum: 60 } as const

export type Lifetimes = Readonly<Record<keyof typeof maximumLifetimes | 'refreshRetry', number>>
export const defaultLifetimes: Lifetimes = { ...maximumLifetimes, refreshRetry: refreshRetry.default }

/** How far two correct clocks may differ before a row counts as coming from the future. */
export const clockToleranceMs = 120_000

/**
 * Whether now is between the two moments. A row from the future is not valid: it was written under a clock that has since
 * been set back, and would outlive its lifetime.
 */
export const isValidAt = (span: { readonly createdAt: number; readonly expiresAt: number }, nowMs: number): boolean =>
  span.createdAt <= nowMs + clockToleranceMs && nowMs < span.expiresAt
