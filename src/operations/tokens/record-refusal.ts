import type { ErrorCode } from '../../domain/errors.ts'
import { auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'

/**
 * Leaves the audit row of a refused bearer credential or session. The refusal stands whether or not the row could be
 * written, so a store that takes no writes never turns a no into anything else.
 */
export const recordRefusal = async (
  platform: Platform,
  trace: Trace,
  action: string,
  refusedWith: ErrorCode,
): Promise<void> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  const event = auditEvent(stamp, { actor: { kind: 'anonymous' }, action, refusedWith })
  try {
    await platform.database.transaction(async (q) => await q.audit.insert(event))
  } catch {
    // The caller is refused all the same; the engine has reported why it takes no writes.
  }
}
