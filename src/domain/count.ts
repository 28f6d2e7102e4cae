/** What the dashboards show over time; `db/queries/counts.ts` says what is counted as each. */
export const countKinds = ['tokens', 'active_users', 'installs', 'webhook_successes', 'webhook_failures'] as const
export type CountKind = (typeof countKinds)[number]

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** When the day began (UTC) in which this moment is, in epoch milliseconds. */
export const dayOf = (epochMs: number): number => Math.floor(epochMs / dayMs) * dayMs

/** How long counts are kept. The dashboards show 30 days. */
export const countsKeptMs = 40 * dayMs

/** How long the hours of a day are told apart after it has ended. Then the day is one row. */
export const hoursKeptMs = dayMs

/**
 * How old a row must be to be counted: older than any transaction that could still commit a row with an earlier key. Clocks of
 * servers that share a database may differ by 30 s, and a transaction ends within 20 s.
 */
export const countingDelayMs = 120_000
