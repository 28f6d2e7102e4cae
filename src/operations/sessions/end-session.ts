import { refuse } from '../../domain/errors.ts'
import { auditEvent, auditStamp } from '../audit/event.ts'
import { decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

/**
 * Ends one session of the caller by its key; it is refused from the answer on. False when it had ended before.
 * @throws route_not_found when the caller has none of this key, whoever else has
 */
export const endSession = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  key: string,
): Promise<boolean> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'user', id: caller.user.id } as const
  return await decideToEnd(platform.database, async (q) => {
    const ended = await q.sessions.endOfUser(caller.user.id, key, now)
    if (ended) await q.audit.insert(auditEvent(stamp, { actor, action: 'session.ended', target: key }))
    const isOwn = ended || (await q.sessions.find(key))?.user.id === caller.user.id
    return isOwn ? done(ended) : refused(refuse('route_not_found'))
  })
}
