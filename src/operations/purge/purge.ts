import { type AuditStamp, auditEvent, auditStamp } from '../audit/event.ts'
import { deviceLifetimeSeconds } from '../../domain/device.ts'
import { keyOfUuidTime, recordIdOfTime } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { webhookHistoryMs } from '../../domain/webhook-delivery.ts'
import type { Queries } from '../../../db/database.ts'
import type { Platform, Trace } from '../platform.ts'

/** Rows that one transaction of the purge may remove at most; small, so that no other write waits for long. */
const purgeBatchRows = 250

/** Unused artifacts and started uploads are kept for a day. */
const artifactGraceMs = 24 * 3600 * 1000
/** An artifact has up to forty rows of content, which are large. */
const artifactsAtOnce = 1

/** An event has up to ten deliveries. */
const webhookEventsAtOnce = 25

/** What a purge goes through, in this order. */
export const purgeKinds = [
  'app_tokens',
  'sessions',
  'devices',
  'form_tickets',
  'install_session_codes',
  'embedded_sessions',
  'grants',
  'retry_salts',
  'idempotency_keys',
  'artifacts',
  'webhook_attempts',
  'webhook_events',
  'webhook_secrets',
] as const
export type PurgeKind = (typeof purgeKinds)[number]

/** Where the walk over all grants stands: the ID after which the next batch looks. */
type PurgeCursor = { afterGrantId: string }

type PurgeBatch = { readonly removed: number; readonly finished: boolean }

/**
 * Removes one batch of what is over. It only tidies: every check looks at expiry itself. What the clock is not sure of
 * (`purgeBefore`) stays, and spent codes and refresh tokens stay until their whole family has expired.
 */
export const purgeBatch = async (
  platform: Platform,
  trace: Trace,
  kind: PurgeKind,
  cursor: PurgeCursor,
): Promise<PurgeBatch> => {
  const before = platform.clock.purgeBefore()
  const stamp = auditStamp(platform, trace, platform.clock.now())
  if (kind === 'grants') return await purgeGrants(platform, stamp, before, cursor)
  const removed = await platform.database.transaction(async (q) => await removeBatch(q, stamp, kind, before))
  return { removed, finished: removed < (rowsAtOnce[kind] ?? purgeBatchRows) }
}

const rowsAtOnce: Partial<Record<PurgeKind, number>> = {
  artifacts: artifactsAtOnce,
  webhook_events: webhookEventsAtOnce,
}

const removeBatch = async (
  q: Queries,
  stamp: AuditStamp,
  kind: Exclude<PurgeKind, 'grants'>,
  before: number,
): Promise<number> => {
  /** Nothing that was made before it belongs to a session that could be open. */
  const oldestSession = keyOfUuidTime(before - maximumLifetimes.session * 1000)
  switch (kind) {
    case 'app_tokens':
      return await purgeAppTokens(q, stamp, keyOfUuidTime(before - maximumLifetimes.appToken * 1000))
    case 'sessions':
      return await q.sessions.purge(oldestSession, purgeBatchRows)
    case 'devices':
      return await q.devices.purge(keyOfUuidTime(before - deviceLifetimeSeconds * 1000), purgeBatchRows)
    case 'form_tickets': // a ticket lives no longer than the session that it is bound to
      return await q.formTickets.purge(oldestSession, purgeBatchRows)
    // Both stay as long as a session could be open beside them: a page that comes late is told so in words it can read.
    case 'install_session_codes':
      return await q.embedding.purgeCodes(oldestSession, purgeBatchRows)
    case 'embedded_sessions':
      return await q.embedding.purgeSessions(oldestSession, purgeBatchRows)
    case 'retry_salts':
      return await q.grants.closeRetries(before, purgeBatchRows)
    case 'idempotency_keys':
      return await q.idempotency.purge(before, purgeBatchRows)
    case 'artifacts':
      return await q.artifacts.purgeUnused(before - artifactGraceMs, artifactsAtOnce)
    case 'webhook_attempts':
      return await q.webhookAttempts.purge(recordIdOfTime('att_', before - webhookHistoryMs), purgeBatchRows)
    case 'webhook_events':
      return await q.webhookEvents.purge(recordIdOfTime('evt_', before - webhookHistoryMs), webhookEventsAtOnce)
    case 'webhook_secrets':
      return await q.webhookEndpoints.purgeSecrets(before, purgeBatchRows)
    default:
      return kind satisfies never
  }
}

/** An app token's row is its audit record, so what is removed is summed up per credential in an event. */
const purgeAppTokens = async (q: Queries, stamp: AuditStamp, beforeKey: string): Promise<number> => {
  const rows = await q.appTokens.purge(beforeKey, purgeBatchRows)
  const first = rows.at(0)
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return 0
  const issued: Record<string, number> = {}
  for (const row of rows) issued[row.credentialId] = (issued[row.credentialId] ?? 0) + 1
  await q.audit.insert(
    auditEvent(stamp, {
      actor: { kind: 'system' },
      action: 'app_tokens.purged',
      detail: { issued, from: new Date(first.createdAt).toISOString(), to: new Date(last.createdAt).toISOString() },
    }),
  )
  return rows.length
}

/**
 * Looks at the next window of grants on the reading connection and removes the families in it that have expired, as
 * many as fit into one transaction; after the last window the walk starts over. A token pair's row is its audit record,
 * so an event sums up per client what is removed.
 */
const purgeGrants = async (
  platform: Platform,
  stamp: AuditStamp,
  before: number,
  cursor: PurgeCursor,
): Promise<PurgeBatch> => {
  const window = await platform.database.queries.grants.window(cursor.afterGrantId, purgeBatchRows)
  const last = window.at(-1)
  if (last === undefined) {
    cursor.afterGrantId = ''
    return { removed: 0, finished: true }
  }
  const expired = window.filter((grant) => grant.expiresAt <= before)
  if (expired.length === 0) {
    cursor.afterGrantId = last.id
    return { removed: 0, finished: false }
  }
  const batch = await platform.database.transaction(async (q) => {
    const purged = await purgeFamilies(q, expired, before)
    const { removed, families, issued } = purged
    if (removed > 0) {
      const detail = { families, issued }
      await q.audit.insert(auditEvent(stamp, { actor: { kind: 'system' }, action: 'grants.purged', detail }))
    }
    return purged
  })
  // A batch that was full looks at the same window again; families that are gone are no longer in it.
  if (!batch.full) cursor.afterGrantId = last.id
  return { removed: batch.removed, finished: false }
}

/** Families in the order given until the batch is full; counts what was removed, pairs per client. */
const purgeFamilies = async (q: Queries, expired: readonly { readonly id: string }[], before: number) => {
  const issued: Record<string, number> = {}
  let removed = 0
  let families = 0
  for (const { id } of expired) {
    const family = await q.grants.purgeFamily(id, before, purgeBatchRows - removed)
    if (family.kind === 'kept') continue
    removed += family.rows
    if (family.pairs > 0) issued[family.clientId] = (issued[family.clientId] ?? 0) + family.pairs
    if (family.kind === 'shortened') return { removed, families, issued, full: true }
    families += 1
  }
  return { removed, families, issued, full: false }
}
