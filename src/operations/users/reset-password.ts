import type { User } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { newPasswordFault } from '../../domain/password.ts'
import type { Rule } from '../acting-as.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'

/**
 * Whether an operator may give this user a new password on the desk: not their own, which takes the current password, or
 * a stolen session could be turned into the account.
 */
export const isForSomebodyElse =
  (operatorId: string, userId: string): Rule =>
  async () =>
    operatorId === userId ? badInput('user', ownPassword) : null

const ownPassword = 'You cannot reset your own password here: change it under Account, Password.'

/**
 * Gives a user a new password and ends their sessions; what they have allowed to apps stays. Of two at once one wins, so
 * whoever is shown a password is shown the one that works.
 * @throws invalid_request for an unknown user or a password that cannot be used, version_not_eligible when the password
 *   has changed in the meantime
 */
export const resetPassword = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly userId: string; readonly password: string },
): Promise<{ readonly user: User; readonly endedSessions: number }> => {
  const weakness = newPasswordFault(input.password)
  if (weakness !== null) throw badInput('password', weakness)
  const user = await platform.database.queries.users.byId(input.userId)
  if (user === null) throw badInput('user', 'There is no such user.')
  const passwordHash = await platform.passwords.hash(input.password)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    if (!(await q.users.replacePassword(user.id, user.passwordHash, passwordHash, now))) {
      return refused(refuse('version_not_eligible', { message: changedSince }))
    }
    await q.users.confirmPassword(user.id) // one that a recovery has suspended is gone
    const endedSessions = await q.sessions.endAllOfUser(user.id, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.password_reset', target: user.id }))
    return done({ user: { ...user, passwordHash, passwordSuspendedAt: null, updatedAt: now }, endedSessions })
  })
}

const changedSince = 'The password was changed a moment ago. Nothing was done a second time.'
