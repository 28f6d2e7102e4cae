import type { App, Queries } from '../../../db/database.ts'
import { purgeableSince } from '../../domain/app.ts'
import { auditEvent, type AuditStamp } from '../audit/event.ts'
import type { Platform } from '../platform.ts'

/** Rows that one transaction of the purge may remove at most; small, so that no other write waits for long. */
export const purgeBatchRows = 250

export type PurgeBatch = { readonly removed: number; readonly finished: boolean }

/** Where the walk over all grants stands: the ID after which the next batch looks. */
export type PurgeCursor = { afterGrantId: string }

/**
 * Looks at the next window of grants on the reading connection and removes the families in it that have expired, as
 * many as fit into one transaction; after the last window the walk starts over. A token pair's row is its audit record,
 * so an event sums up per client what is removed.
 */
export const purgeGrants = async (
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
  const batch = await platform.database.transaction(async (q) => await purgeFamilies(q, stamp, expired, before))
  // A batch that was full looks at the same window again; families that are gone are no longer in it.
  if (!batch.full) cursor.afterGrantId = last.id
  return { removed: batch.removed, finished: false }
}

type PurgedFamilies = { readonly removed: number; readonly full: boolean }

/** Removes families in the order given until the batch is full, and leaves the event that sums them up. */
export const purgeFamilies = async (
  q: Queries,
  stamp: AuditStamp,
  expired: readonly { readonly id: string }[],
  before: number,
): Promise<PurgedFamilies> => {
  const { removed, full, ...detail } = await removeFamilies(q, expired, before)
  if (removed > 0) {
    await q.audit.insert(auditEvent(stamp, { actor: { kind: 'system' }, action: 'grants.purged', detail }))
  }
  return { removed, full }
}

/** Counts what was removed, pairs per client. */
const removeFamilies = async (q: Queries, expired: readonly { readonly id: string }[], before: number) => {
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

/**
 * Removes a batch of what belongs to the app that was deleted first, if that was more than 7 days ago; the app itself
 * goes last. Its audit rows stay. What is purged by its age anyway (app tokens, idempotency keys, artifacts that no
 * version uses) is left to that.
 */
export const purgeDeletedApps = async (platform: Platform, stamp: AuditStamp, before: number): Promise<PurgeBatch> =>
  await platform.database.transaction(async (q) => {
    const app = await q.apps.deletedBy(purgeableSince(before))
    return app === null ? { removed: 0, finished: true } : { removed: await removeSome(q, stamp, app), finished: false }
  })

const removeSome = async (q: Queries, stamp: AuditStamp, app: App): Promise<number> => {
  const grants = await q.deletedApps.grantsOf(app.id, purgeBatchRows)
  if (grants.length > 0) return (await purgeFamilies(q, stamp, grants, Number.MAX_SAFE_INTEGER)).removed
  const removed = await q.deletedApps.removeSome(app.id, purgeBatchRows)
  if (removed > 0) return removed
  await q.deletedApps.remove(app)
  const facts = { actor: { kind: 'system' }, action: 'app.purged', appId: app.id, target: app.id } as const
  await q.audit.insert(auditEvent(stamp, { ...facts, detail: { slug: app.slug } }))
  return 1
}
