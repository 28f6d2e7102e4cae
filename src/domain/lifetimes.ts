/** Lifetimes in whole seconds (contract section 5). Settings may shorten them, never lengthen them. */
export const maximumLifetimes = {
  code: 300,
  appToken: 3_600,
  accessToken: 3_600,
  refreshToken: 30 * 24 * 3_600,
  session: 12 * 3_600,
  /** Between two uses of a session. */
  sessionIdle: 2 * 3_600,
  /** Of a grant, however often it is refreshed. */
  grant: 365 * 24 * 3_600,
  installSessionCode: 60,
  embeddedSession: 600,
} as const
export type Lifetimes = Readonly<Record<keyof typeof maximumLifetimes, number>>

/** How far two honest clocks may differ before a row counts as coming from the future. */
export const clockToleranceMs = 120_000

/**
 * Whether a thing that lives from one moment to another is alive now. Something from the future is not: it was made
 * under a clock that has since been set back, and would outlive its lifetime.
 */
export const isValidAt = (span: { readonly createdAt: number; readonly expiresAt: number }, nowMs: number): boolean =>
  span.createdAt <= nowMs + clockToleranceMs && nowMs < span.expiresAt
