import type { App, Queries } from '../../../db/database.ts'
import { purgeableSince } from '../../domain/app.ts'
import { type AuditStamp, auditEvent } from '../audit/event.ts'
import type { Platform } from '../platform.ts'
import { type PurgeBatch, purgeBatchRows, purgeFamilies } from './purge-grants.ts'

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
