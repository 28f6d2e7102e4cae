import type { CountsOf } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { type CountKind, dayMs, dayOf, hourMs } from '../../domain/count.ts'
import type { Platform } from '../platform.ts'

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
