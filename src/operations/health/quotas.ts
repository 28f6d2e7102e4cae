import type { Platform } from '../platform.ts'

/** How much apps and accounts use of what they may. */
export type QuotaUse = Awaited<ReturnType<typeof readQuotaUse>>

/** Reads the `rows` apps and accounts that use most. */
export const readQuotaUse = async ({ database: { queries: q }, quotas }: Platform, rows: number) => ({
  quotas,
  artifactsOfApps: await q.artifacts.largestUses(rows),
  appsOfAccounts: await q.apps.ownersOfMost(rows),
  /** All stored files, including those that no version uses any more. */
  stored: await q.artifacts.totals(),
})
