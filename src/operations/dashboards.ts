// What the start page and the overview of an app show besides the counts of `counts/activity.ts`.

import type { CountsOf, Queries } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { appEventsFor } from './audit/lists.ts'
import { namesOf } from './audit/names.ts'
import type { Platform } from './platform.ts'

type Rows<Name extends keyof Queries['dashboards']> = Awaited<ReturnType<Queries['dashboards'][Name]>>
type Row<Name extends keyof Queries['dashboards']> = Extract<Rows<Name>, readonly unknown[]>[number]

/** Something that an owner should look at, in one of their apps. */
export type Attention =
  | ({ readonly kind: 'app_suspended' } & Row<'suspendedApps'>)
  | ({ readonly kind: 'cannot_be_authorized' } & Row<'unreachableApps'>)
  | ({ readonly kind: 'webhook_failing' } & Row<'failingEndpoints'>)
  | ({ readonly kind: 'version_rejected' } & Row<'rejectedVersions'>)
  | ({ readonly kind: 'secret_ending' } & Row<'endingSecrets'>)

const shownOfEachKind = 5
const shownEvents = 5

/** What needs the owner's attention, the gravest first; of each kind the first ones. */
export const listAttention = async ({ database, clock }: Platform, of: CountsOf): Promise<readonly Attention[]> => {
  const q = database.queries.dashboards
  const now = clock.now()
  const [suspended, unreachable, failing, rejected, ending] = await Promise.all([
    q.suspendedApps(of, shownOfEachKind),
    q.unreachableApps(of, now, shownOfEachKind),
    q.failingEndpoints(of, shownOfEachKind),
    q.rejectedVersions(of, shownOfEachKind),
    q.endingSecrets(of, now, shownOfEachKind),
  ])
  return [
    ...suspended.map((row) => Object.assign(row, { kind: 'app_suspended' as const })),
    ...unreachable.map((row) => Object.assign(row, { kind: 'cannot_be_authorized' as const })),
    ...failing.map((row) => Object.assign(row, { kind: 'webhook_failing' as const })),
    ...rejected.map((row) => Object.assign(row, { kind: 'version_rejected' as const })),
    ...ending.map((row) => Object.assign(row, { kind: 'secret_ending' as const })),
  ]
}

/** The last events of these apps, newest first, as a member may see them, and the names of what they mention. */
export const readLatestEvents = async (platform: Platform, of: CountsOf, userId: string) => {
  const q = platform.database.queries
  const events = await appEventsFor(q, await q.dashboards.latestEvents(of, shownEvents), userId)
  return { events, names: await namesOf(platform, events, 'members') }
}
export type LatestEvents = Awaited<ReturnType<typeof readLatestEvents>>

/** How many installs are in use now, in one environment or in both (null). */
export const countActiveInstalls = async (
  { database }: Platform,
  of: CountsOf,
  environment: Environment | null,
): Promise<number> => await database.queries.dashboards.activeInstalls(of, environment)
