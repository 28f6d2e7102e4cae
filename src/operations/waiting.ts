import type { Platform } from './platform.ts'

/** What waits for an operator. Counted up to `countedWaiting`. */
export type WaitingWork = { readonly reviews: number; readonly installs: number }

const countedWaiting = 100

/** How many versions wait for a review, and how many installs for a decision. */
export const countWaiting = async ({ database: { queries } }: Platform): Promise<WaitingWork> => {
  const [reviews, installs] = await Promise.all([
    queries.versions.countForReview(countedWaiting),
    queries.installs.countPending(countedWaiting),
  ])
  return { reviews, installs }
}
