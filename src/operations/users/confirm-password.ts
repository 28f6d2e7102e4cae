import type { User } from '../../../db/database.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from './find-user.ts'

/**
 * Lets a password work again that a recovery has suspended; one that is not suspended stays as it is.
 * @throws invalid_request for an unknown address
 */
export const confirmPassword = async (platform: Platform, trace: Trace, actor: Actor, email: string): Promise<User> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const user = await findUser(q, email)
    if (user === null) return refused(badInput('email', 'There is no such user.'))
    if (!(await q.users.confirmPassword(user.id))) return done(user)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.password_confirmed', target: user.id }))
    return done({ ...user, passwordSuspendedAt: null })
  })
}
