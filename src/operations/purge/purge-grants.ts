import type { App, Queries } from '../../../db/database.ts'
import { purgeableSince } from '../../domain/app.ts'
import { timeKeyAt } from '../../domain/time-key.ts'
import { system } from '../audit/event.ts'
import { removableBefore } from '../counts/count.ts'
import { decide, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'

/** How many rows one transaction of the purge removes, so that no other write waits for long. */
export const purgeBatchRows = 250

export type PurgeBatch = { readonly removed: number; readonly finished: boolean; readonly erasedSalts?: number }

/** The position of the walk over all grants: the next batch starts after this ID. */
export type PurgeCursor = { afterGrantId: string }

/**
 * Reads the next window of grants, erases the salts in it whose retry window has closed, and removes the expired families in it that have
 * been counted, as many as fit into one transaction. After the last window the walk starts again. The row of a token pair is its audit
 * record, so an audit row sums up the removed pairs per client. Salts have no index: it would cost every refresh more than all of this.
 */
export const purgeGrants = async (
  platform: Platform,
  trace: Trace,
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
export const purgeDeletedApps = async (platform: Platform, trace: Trace, before: number): Promise<PurgeBatch> =>
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
