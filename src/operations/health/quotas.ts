import type { Platform } from '../platform.ts'

/** Sorting more would stop other requests for too long: 10,000 versions take about 40 ms. */
const mostVersions = 10_000
const mostApps = 5_000

/** Reads the `rows` apps and accounts that use most; null where there are too many to sort. */
export const readQuotaUse = async ({ database: { queries: q }, quotas }: Platform, rows: number) => ({
  quotas,
  artifactsOfApps: await q.artifacts.largestUses(rows, mostVersions),
  appsOfAccounts: await q.apps.ownersOfMost(rows, mostApps),
  /** All stored files, including those that no version uses any more. */
  stored: await q.artifacts.totals(),
})
