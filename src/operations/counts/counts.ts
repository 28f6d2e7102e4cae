import type { Database, CountsOf, Queries } from '../../../db/database.ts'
import { countingDelayMs, type CountKind, countsKeptMs, dayMs, dayOf, hourMs } from '../../domain/count.ts'
import type { Platform } from '../platform.ts'
import type { Environment } from '../../domain/app.ts'
import { appEventsFor } from '../audit/read-audit.ts'
import { namesOf } from '../audit/names.ts'

/** About how many rows of each table one transaction counts, so that no other write waits for long. */
const rowsAtOnce = 1_000

/** What has been counted: everything whose key was made before this moment, and nothing else. */
const countedUntil = async (q: Database['queries'], now: number): Promise<number> =>
  (await q.watermarks.find('counted')) ?? now - countsKeptMs

/**
 * Counts what has been issued, installed and delivered since the last time, for the dashboards. The moment up to which everything is
 * counted moves in the transaction that adds the counts. So each row is counted once, even if a server ends in between or
 * several servers count. Rows of the last two minutes wait, because others with earlier keys may still be committed.
 */
export const countAll = async (platform: Platform, pause: () => Promise<void>, stopped: () => boolean) => {
  while (!stopped() && (await countPart(platform))) await pause()
}

/** Where nothing is to be counted, the moment moves once an hour and not at every run. */
const idleMs = hourMs

type Part = { readonly from: number; readonly until: number; readonly isEmpty: boolean }

/** The next part before this moment; null if there is nothing to do. */
const nextPart = async (q: Database['queries'], now: number): Promise<Part | null> => {
  const from = await countedUntil(q, now)
  const until = now - countingDelayMs
  if (from >= until) return null
  const end = await q.counted.partEnd({ from, until }, rowsAtOnce)
  if (end !== null) return { from, until: end, isEmpty: false }
  return until - from < idleMs ? null : { from, until, isEmpty: true }
}

/** Counts the next part. Returns whether there may be more. */
const countPart = async ({ database, clock }: Platform): Promise<boolean> => {
  const now = clock.purgeBefore()
  if ((await nextPart(database.queries, now)) === null) return false
  return await database.transaction(async (q) => {
    const part = await nextPart(q, now)
    if (part === null) return false
    if (!part.isEmpty) await q.counts.add(await q.counted.count(part))
    await q.watermarks.set('counted', part.until)
    return part.until < now - countingDelayMs
  })
}

/** How long the purge waits for a row to be counted. If counting fails for longer, space counts more. */
const patienceMs = dayMs

/** The moment from which on the purge removes no row that the dashboards count, by the time of its key. */
export const removableBefore = async (q: Database['queries'], now: number): Promise<number> =>
  Math.max(await countedUntil(q, now), now - patienceMs)

/** How many days the dashboards show, with today as the last one. */
const shownDays = 30

/** The count of each day that is shown, oldest first; `day` is when it began (UTC). */
export type DailyCounts = readonly { readonly day: number; readonly count: number }[]

export type AppActivity = {
  readonly byDay: Readonly<Record<CountKind, DailyCounts>>
  /** Over all days that are shown. */
  readonly total: Readonly<Record<CountKind, number>>
  /** Of this hour and the 24 hours before it. */
  readonly latest: Readonly<Record<CountKind, number>>
}

/**
 * What was counted of one app, or of all apps of an owner, in one environment or in both (null). The numbers are a few minutes old: they
 * come from the counts, so reading them costs the same whatever was issued.
 */
export const readActivity = async (
  { database, clock }: Platform,
  of: CountsOf,
  environment: Environment | null,
): Promise<AppActivity> => {
  const now = clock.now()
  const firstDay = dayOf(now) - (shownDays - 1) * dayMs
  const dayAgo = Math.floor(now / hourMs) * hourMs - dayMs
  const counts = await database.queries.counts.since(of, environment, firstDay)
  const ofKind = Map.groupBy(counts, ({ kind }) => kind)
  const byDay = (kind: CountKind): DailyCounts => {
    const ofDay = Map.groupBy(ofKind.get(kind) ?? [], ({ hour }) => dayOf(hour))
    return Array.from({ length: shownDays }, (_, index) => {
      const day = firstDay + index * dayMs
      return { day, count: sum(ofDay.get(day) ?? []) }
    })
  }
  return {
    byDay: ofEach(byDay),
    total: ofEach((kind) => sum(ofKind.get(kind) ?? [])),
    latest: ofEach((kind) => sum((ofKind.get(kind) ?? []).filter(({ hour }) => hour >= dayAgo))),
  }
}

const sum = (rows: readonly { readonly count: number }[]): number => rows.reduce((total, { count }) => total + count, 0)

const ofEach = <Value>(valueOf: (kind: CountKind) => Value): Readonly<Record<CountKind, Value>> => ({
  tokens: valueOf('tokens'),
  active_users: valueOf('active_users'),
  installs: valueOf('installs'),
  webhook_successes: valueOf('webhook_successes'),
  webhook_failures: valueOf('webhook_failures'),
})

// What the start page and the overview of an app show besides its counts.

type Rows<Name extends keyof Queries['dashboards']> = Awaited<ReturnType<Queries['dashboards'][Name]>>
type Row<Name extends keyof Queries['dashboards']> = Extract<Rows<Name>, readonly unknown[]>[number]

/** Something that an owner should look at, in one of their apps. */
export type Attention =
  | ({ readonly kind: 'app_suspended' } & Row<'suspendedApps'>)
  | ({ readonly kind: 'cannot_be_authorized' } & Row<'unreachableApps'>)
  | ({ readonly kind: 'webhook_failing' } & Row<'failingEndpoints'>)
  | ({ readonly kind: 'version_rejected' } & Row<'rejectedVersions'>)
  | ({ readonly kind: 'secret_ending' } & Row<'endingSecrets'>)

/** More than these of a kind are not counted. */
export const mostOfEachKind = 100
const shownEvents = 5

/** What needs the owner's attention, the gravest first; of each kind the first hundred. */
export const listAttention = async ({ database, clock }: Platform, of: CountsOf): Promise<readonly Attention[]> => {
  const q = database.queries.dashboards
  const now = clock.now()
  const [suspended, unreachable, failing, rejected, ending] = await Promise.all([
    q.suspendedApps(of, mostOfEachKind),
    q.unreachableApps(of, now, mostOfEachKind),
    q.failingEndpoints(of, mostOfEachKind),
    q.rejectedVersions(of, mostOfEachKind),
    q.endingSecrets(of, now, mostOfEachKind),
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
