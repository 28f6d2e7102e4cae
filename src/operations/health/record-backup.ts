import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'

/** Keeps in the database when the last backup was made, for the health page and the metrics, and who made it. */
export const recordBackup = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  sizeBytes: number,
): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  await platform.database.transaction(async (q) => {
    await q.watermarks.set('backed_up', now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'database.backed_up', detail: { sizeBytes } }))
  })
}
