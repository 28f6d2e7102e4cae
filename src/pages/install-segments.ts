import type { countInstalls } from '../operations/installs/lists.ts'
import type { Counted } from '../operations/page.ts'
import { listPath } from './query.ts'

/** The parts of a list of installs, in the order in which a page shows them. */
const segments = {
  all: 'All',
  waiting: 'Waiting',
  active: 'Active',
  deactivated: 'Deactivated',
  rejected: 'Rejected',
  withdrawn: 'Withdrawn',
} as const

export type InstallSegment = keyof typeof segments

export const segmentNames = ['all', 'waiting', 'active', 'deactivated', 'rejected', 'withdrawn'] as const

/** The status of a segment; null for all, and for a text that is none. */
export const segmentStatus = (text: string | undefined) => {
  const segment = segmentNames.find((name) => name === text) ?? 'all'
  return segment === 'all' ? null : segment
}

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

/** Links to the segments with their counts. The other filters of the list stay. */
export const installSegments = (
  counts: StateCounts,
  current: InstallSegment,
  path: string,
  query: Readonly<Record<string, string>>,
) =>
  segmentNames.map((value) => ({
    href: listPath(path, { ...query, status: value }),
    name: segments[value],
    count: countOfSegment(counts, value),
    current: value === current,
  }))
