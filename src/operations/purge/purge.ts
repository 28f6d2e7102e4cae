import type { ExpiringKind, PlainKind, App, Queries } from '../../../db/database.ts'
import { countsKeptMs, dayMs, dayOf, hoursKeptMs } from '../../domain/count.ts'
import { PlatformError } from '../../domain/errors.ts'
import { recordIdOfTime } from '../../domain/identifier.ts'
import type { AuditRetention } from '../../domain/limits.ts'
import { system } from '../audit/event.ts'
import { countAll, removableBefore } from '../counts/counts.ts'
import { decide, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { purgeableSince } from '../../domain/app.ts'
import { timeKeyAt } from '../../domain/time-key.ts'

/** Every kind of row that expires, in the order in which a purge removes them. */
const nothing = {
  app_tokens: 0,
  sessions: 0,
  devices: 0,
  form_tickets: 0,
  sign_in_requests: 0,
  password_links: 0,
  mails: 0,
  app_invitations: 0,
  staged_resources: 0,
  install_session_codes: 0,
  embedded_sessions: 0,
  grants: 0,
  retry_salts: 0,
  idempotency_keys: 0,
  webhook_attempts: 0,
  webhook_events: 0,
  webhook_secrets: 0,
  deleted_apps: 0,
  artifacts: 0, // after the versions of deleted apps, which may have been the last to use one
  anonymous_refusals: 0,
  audit_events: 0,
  audit_positions: 0,
  hourly_counts: 0,
  daily_users: 0,
} satisfies Record<ExpiringKind, number> & Record<string, number>
export type PurgeKind = keyof typeof nothing
/** What has no batches of its own: the walk over the grants erases their salts. */
type WalkedKind = 'retry_salts'
const isPurgeKind = (name: string): name is PurgeKind => name in nothing
export const purgeKinds: readonly PurgeKind[] = Object.keys(nothing).filter(isPurgeKind)

export type PurgeResult = Readonly<Record<PurgeKind, number>>

/** A store that takes nothing, such as while another session holds a lock, is not asked for every kind: each refusal takes 5 s. */
const mostRefusals = 3
const isRefusal = (cause: unknown) => cause instanceof PlatformError && cause.code === 'unavailable'

/**
 * Counts for the dashboards what is new, so that nothing is removed uncounted, and then removes all expired rows, batch by batch. `pause` is awaited between batches so that other work can run. `stopped`
 * ends the purge early. `told` is called after each batch. Returns the rows removed per kind.
 * @throws the first failure, after every other kind was purged, unless the store takes nothing
 */
export const purgeAll = async (
  platform: Platform,
  trace: Trace,
  pause: () => Promise<void>,
  stopped: () => boolean,
  told: (kind: PurgeKind, rows: number) => void = () => undefined,
): Promise<PurgeResult> => {
  const removed = { ...nothing }
  const cursor = { afterGrantId: '' }
  const count = (kind: PurgeKind, rows: number): void => {
    removed[kind] += rows
    if (rows > 0) told(kind, rows)
  }
  const purgeKind = async (kind: PurgeKind): Promise<void> => {
    if (kind === 'retry_salts') return
    let finished = false
    while (!finished && !stopped()) {
      const batch = await purgeBatch(platform, trace, kind, cursor)
      count(kind, batch.removed)
      count('retry_salts', batch.erasedSalts ?? 0)
      finished = batch.finished
      if (!finished) await pause()
    }
  }
  const failures: unknown[] = []
  await countAll(platform, pause, stopped).catch((cause: unknown) => failures.push(cause))
  for (const kind of purgeKinds) {
    if (failures.filter(isRefusal).length === mostRefusals) break
    await purgeKind(kind).catch((cause: unknown) => failures.push(cause))
  }
  if (failures.length > 0) throw failures[0]
  return removed
}

/** Unused artifacts and started uploads are kept for a day. */
const artifactGraceMs = dayMs
/** An artifact has up to forty large rows of content. */
const artifactsAtOnce = 1

/** An event has up to ten deliveries. */
const webhookEventsAtOnce = 25

/**
 * Removes one batch of expired rows. The purge only saves space: every check compares the expiry itself. Rows stay while
 * the clock is not certain that they have expired (`purgeBefore`), and spent codes and refresh tokens stay until their
 * whole family has expired.
 */
export const purgeBatch = async (
  platform: Platform,
  trace: Trace,
  kind: Exclude<PurgeKind, WalkedKind>,
  cursor: PurgeCursor,
): Promise<PurgeBatch> => {
  const before = platform.clock.purgeBefore()
  if (kind === 'grants') return await purgeGrants(platform, trace, before, cursor)
  if (kind === 'deleted_apps') return await purgeDeletedApps(platform, trace, before)
  const removed = await decide(platform, trace, { actor: system }, (change) =>
    removeBatch(change, kind, before, platform.auditRetention),
  )
  return { removed, finished: removed < (rowsAtOnce[kind] ?? purgeBatchRows) }
}

const rowsAtOnce: Partial<Record<PurgeKind, number>> = {
  artifacts: artifactsAtOnce,
  webhook_events: webhookEventsAtOnce,
}

const removeBatch = async (
  change: OpenChange,
  kind: Exclude<PurgeKind, WalkedKind | 'grants' | 'deleted_apps'>,
  before: number,
  retention: AuditRetention,
): Promise<number> => {
  const { q } = change
  switch (kind) {
    case 'app_tokens':
      return await purgeAppTokens(change, before)
    case 'artifacts':
      return await q.artifacts.purgeUnused(before - artifactGraceMs, artifactsAtOnce)
    case 'audit_positions':
      return await q.auditReading.purgePositions(purgeBatchRows)
    case 'webhook_events':
      return await q.webhookEvents.purge(before, webhookEventsAtOnce)
    case 'anonymous_refusals':
      return await purgeAudit(change, kind, daysBefore(before, retention.anonymousDays))
    case 'audit_events':
      return await purgeAudit(change, kind, daysBefore(before, retention.days))
    case 'hourly_counts':
      return (
        (await q.counts.purge(before - countsKeptMs, purgeBatchRows)) +
        (await q.counts.mergeDays(dayOf(before - hoursKeptMs), purgeBatchRows))
      )
    case 'daily_users': // those of the day that is counted now are needed, and one more day for clocks that differ
      return await q.counts.purgeUsers(dayOf(await removableBefore(q, before)) - dayMs, purgeBatchRows)
    default:
      return await q.expiring.remove(kind satisfies PlainKind, before, purgeBatchRows)
  }
}

/** Rounded down to a whole day (UTC), so that the purge of every minute writes one summary a day and not one a minute. */
const daysBefore = (moment: number, days: number): number => (Math.floor(moment / dayMs) - days) * dayMs

/** Removes audit rows and writes one row that sums them up. */
const purgeAudit = async ({ q, record }: OpenChange, kind: 'anonymous_refusals' | 'audit_events', before: number) => {
  const beforeId = recordIdOfTime('aud_', before + (await q.audit.aheadMs()))
  const stretch = { beforeId, before, limit: purgeBatchRows }
  const rows = await (kind === 'audit_events' ? q.audit.purge(stretch) : q.audit.purgeAnonymous(stretch))
  if (rows.length === 0) return 0
  const times = rows.map(({ at }) => at)
  const [from, to] = [Math.min(...times), Math.max(...times)].map((at) => new Date(at).toISOString())
  const detail = { events: rows.length, from, to }
  await record({ action: `${kind}.purged`, detail })
  return rows.length
}

/** The row of an app token is its audit record, so an audit row sums up the removed tokens per credential. */
const purgeAppTokens = async ({ q, record }: OpenChange, before: number): Promise<number> => {
  const rows = await q.appTokens.purge(before, await removableBefore(q, before), purgeBatchRows)
  const first = rows.at(0)
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return 0
  const issued: Record<string, number> = {}
  for (const row of rows) issued[row.credentialId] = (issued[row.credentialId] ?? 0) + 1
  const [from, to] = [first, last].map(({ createdAt }) => new Date(createdAt).toISOString())
  await record({ action: 'app_tokens.purged', detail: { issued, from, to } })
  return rows.length
}

/** How many rows one transaction of the purge removes, so that no other write waits for long. */
const purgeBatchRows = 250

type PurgeBatch = { readonly removed: number; readonly finished: boolean; readonly erasedSalts?: number }

/** The position of the walk over all grants: the next batch starts after this ID. */
type PurgeCursor = { afterGrantId: string }

/**
 * Reads the next window of grants, erases the salts in it whose retry window has closed, and removes the expired families in it that have
 * been counted, as many as fit into one transaction. After the last window the walk starts again. The row of a token pair is its audit
 * record, so an audit row sums up the removed pairs per client. Salts have no index: it would cost every refresh more than all of this.
 */
const purgeGrants = async (platform: Platform, trace: Trace, before: number, cursor: PurgeCursor) => {
  const window = await platform.database.queries.grants.window(cursor.afterGrantId, purgeBatchRows)
  const last = window.at(-1)
  if (last === undefined) {
    cursor.afterGrantId = ''
    return { removed: 0, finished: true }
  }
  const expired = window.filter((grant) => grant.expiresAt <= before)
  const closed = window.filter(({ retryUntil }) => retryUntil !== null && retryUntil <= before).map(({ id }) => id)
  if (expired.length === 0 && closed.length === 0) {
    cursor.afterGrantId = last.id
    return { removed: 0, finished: false }
  }
  const batch = await decide(platform, trace, { actor: system }, async (change) => {
    const erasedSalts = closed.length === 0 ? 0 : await change.q.grants.closeRetries(closed, before)
    if (expired.length === 0) return { removed: 0, full: false, erasedSalts }
    const newestBefore = timeKeyAt(await removableBefore(change.q, before))
    return { ...(await purgeFamilies(change, expired, before, newestBefore)), erasedSalts }
  })
  // After a full batch the same window is read again; the removed families are no longer in it.
  if (!batch.full) cursor.afterGrantId = last.id
  return { removed: batch.removed, finished: false, erasedSalts: batch.erasedSalts }
}

type Family = { readonly id: string }

/** Removes families in this order until the batch is full, and writes the audit row that sums them up. */
const purgeFamilies = async (
  { q, record }: OpenChange,
  expired: readonly Family[],
  before: number,
  newestBefore?: number,
) => {
  const { removed, full, ...detail } = await removeFamilies(q, expired, before, newestBefore)
  if (removed > 0) await record({ action: 'grants.purged', detail })
  return { removed, full }
}

const removeFamilies = async (q: Queries, expired: readonly Family[], before: number, newestBefore?: number) => {
  const issued: Record<string, number> = {}
  let removed = 0
  let families = 0
  for (const { id } of expired) {
    const family = await q.grants.purgeFamily(id, before, purgeBatchRows - removed, newestBefore)
    if (family.kind === 'kept') continue
    removed += family.rows
    if (family.pairs > 0) issued[family.clientId] = (issued[family.clientId] ?? 0) + family.pairs
    if (family.kind === 'shortened') return { removed, families, issued, full: true }
    families += 1
  }
  return { removed, families, issued, full: false }
}

/**
 * Removes a batch of the rows of the app that was deleted first, if that was more than 7 days ago. The row of the app
 * itself is removed last. Its audit rows stay. Rows that other kinds remove by age (app tokens, idempotency keys, unused
 * artifacts) are left to them.
 */
const purgeDeletedApps = async (platform: Platform, trace: Trace, before: number): Promise<PurgeBatch> =>
  await decide(platform, trace, { actor: system }, async (change) => {
    const app = await change.q.apps.deletedBy(purgeableSince(before))
    return app === null ? { removed: 0, finished: true } : { removed: await removeSome(change, app), finished: false }
  })

const removeSome = async (change: OpenChange, app: App): Promise<number> => {
  const { q, record } = change
  const grants = await q.deletedApps.grantsOf(app.id, purgeBatchRows)
  if (grants.length > 0) return (await purgeFamilies(change, grants, Number.MAX_SAFE_INTEGER)).removed
  const removed = await q.deletedApps.removeSome(app.id, purgeBatchRows)
  if (removed > 0) return removed
  await q.deletedApps.remove(app)
  await record({ action: 'app.purged', appId: app.id, target: app.id, detail: { slug: app.slug } })
  return 1
}
