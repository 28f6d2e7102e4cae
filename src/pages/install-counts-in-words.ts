import type { AppOverview } from '../operations/apps/overview.ts'

type InstallCounts = AppOverview['installs']

/** `2 active, 1 waiting for approval`; `None yet` when there is neither. */
export const installCountsInWords = (counts: InstallCounts): string => {
  const active = sum(counts.filter(({ state }) => state === 'active'))
  const pending = sum(counts.filter(({ approval }) => approval === 'pending'))
  return active + pending === 0 ? 'None yet' : `${active} active, ${pending} waiting for approval`
}

const sum = (counts: InstallCounts): number => counts.reduce((total, { count }) => total + count, 0)
