/** How far two honest clocks may differ before a row counts as coming from the future. */
export const clockToleranceMs = 120_000

/**
 * Whether a thing that lives from one moment to another is alive now. Something from the future is not: it was made
 * under a clock that has since been set back, and would outlive its lifetime.
 */
export const isValidAt = (span: { readonly createdAt: number; readonly expiresAt: number }, nowMs: number): boolean =>
  span.createdAt <= nowMs + clockToleranceMs && nowMs < span.expiresAt
