import type { User } from '../../../db/database.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from './find-user.ts'

/**
 * Disables or enables a user. Disabling ends the user's sessions; grants stop working at once and are not ended, so
 * that enabling gives them back.
 * @throws invalid_request for an unknown address
 */
export const setUserStatus = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly email: string; readonly status: User['status'] },
): Promise<User> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const decided = input.status === 'disabled' ? decideToEnd : decide
  return await decided(platform.database, async (q) => {
    const user = await findUser(q, input.email)
    if (user === null) return refused(badInput('email', 'There is no such user.'))
    if (user.status === input.status) return done(user)
    await q.users.setStatus(user.id, input.status, now)
    if (input.status === 'disabled') await q.sessions.endAllOfUser(user.id, now)
    const action = input.status === 'disabled' ? 'user.disabled' : 'user.enabled'
    await q.audit.insert(auditEvent(stamp, { actor, action, target: user.id }))
    return done({ ...user, status: input.status, updatedAt: now })
  })
}
