import type { Platform } from './platform.ts'

/** What waits for an operator. Counted up to `countedWaiting`. */
export type WaitingWork = { readonly reviews: number; readonly activations: number; readonly installs: number }

export const countedWaiting = 100

/** How many versions wait for a review and, once approved, for their activation, and how many installs for a decision. */
export const countWaiting = async ({
  database: { queries },
}: {
  readonly database: Pick<Platform['database'], 'queries'>
}): Promise<WaitingWork> => {
  const [reviews, activations, installs] = await Promise.all([
    queries.versions.countInQueue('review', countedWaiting),
    queries.versions.countInQueue('activation', countedWaiting),
    queries.installs.countPending(countedWaiting),
  ])
  return { reviews, activations, installs }
}
