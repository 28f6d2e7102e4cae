import type { countInstalls } from '../operations/installs/lists.ts'
import type { Counted } from '../operations/page.ts'

/** The parts of a list of installs, in the order in which a page shows them. */
export const installTabs = [
  ['all', 'All'],
  ['waiting', 'Waiting'],
  ['active', 'Active'],
  ['deactivated', 'Uninstalled'],
  ['rejected', 'Rejected'],
  ['withdrawn', 'Withdrawn'],
] as const

export type InstallSegment = (typeof installTabs)[number][0]

/** The websites or the stores. */
export const resourceKindOptions = [
  ['site', 'Websites'],
  ['store', 'Stores'],
] as const

/** The status of a segment; null for all. */
export const segmentStatus = (segment: InstallSegment) => (segment === 'all' ? null : segment)

type StateCounts = Awaited<ReturnType<typeof countInstalls>>

/** The counts of a list that was not read. */
export const noStates: StateCounts = { states: [], exact: true }

/** How many installs a segment has. */
export const countOfSegment = ({ states, exact }: StateCounts, segment: InstallSegment): Counted => ({
  count: states.reduce(
    (sum, state) => (segment === 'all' || segmentOf(state) === segment ? sum + state.count : sum),
    0,
  ),
  exact,
})

const segmentOf = ({ approval, state }: StateCounts['states'][number]): InstallSegment => {
  if (approval === 'pending') return 'waiting'
  if (approval !== 'approved') return approval
  return state === 'active' ? 'active' : 'deactivated'
}

type InSegments = {
  readonly values: { readonly status: InstallSegment }
  readonly with: (change: { readonly status: InstallSegment }) => string
}

/** Links to the segments with their counts. The other filters of the list stay. */
export const installSegments = (counts: StateCounts, { values, with: addressWith }: InSegments) =>
  installTabs.map(([value, name]) => ({
    href: addressWith({ status: value }),
    name,
    count: countOfSegment(counts, value),
    current: value === values.status,
  }))
