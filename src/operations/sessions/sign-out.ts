import { auditEvent, auditStamp } from '../audit/event.ts'
import { decideToEnd, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

/** Ends the caller's session; it is refused from the answer on. */
export const signOut = async (platform: Platform, trace: Trace, caller: SessionCaller): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  await decideToEnd(platform.database, async (q) => {
    const target = caller.sessionKey
    if (await q.sessions.end(target, now)) {
      const actor = { kind: 'user', id: caller.user.id } as const
      await q.audit.insert(auditEvent(stamp, { actor, action: 'session.ended', target }))
    }
    return done(null)
  })
}
