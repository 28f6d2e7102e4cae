import { auditEvent, auditStamp } from '../audit/event.ts'
import { decideToEnd, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

/** Ends every session of the caller but the one that asks; they are refused from the answer on. Gives how many. */
export const endOtherSessions = async (platform: Platform, trace: Trace, caller: SessionCaller): Promise<number> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'user', id: caller.user.id } as const
  return await decideToEnd(platform.database, async (q) => {
    const ended = await q.sessions.endOthersOfUser(caller.user.id, caller.sessionKey, now)
    const detail = { ended }
    if (ended > 0) await q.audit.insert(auditEvent(stamp, { actor, action: 'sessions.ended', detail }))
    return done(ended)
  })
}
