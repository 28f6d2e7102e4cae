import type { User } from '../../../db/database.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfLastOperator } from './leaves-an-operator.ts'

/**
 * Makes a user an operator, or one no longer, from the next request on.
 * @throws invalid_request for an unknown user, and for the last operator
 */
export const setOperator = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly userId: string; readonly isOperator: boolean },
): Promise<User> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const { userId, isOperator } = input
  const decided = isOperator ? decide : decideToEnd
  return await decided(platform.database, async (q) => {
    const user = await q.users.byId(userId)
    if (user === null) return refused(badInput('user', 'There is no such user.'))
    if (user.isOperator === isOperator) return done(user)
    const last = isOperator ? null : await refusalIfLastOperator(q, userId)
    if (last !== null) return refused(last)
    await q.users.setOperator(userId, isOperator, now)
    const action = isOperator ? 'user.operator_granted' : 'user.operator_withdrawn'
    await q.audit.insert(auditEvent(stamp, { actor, action, target: userId }))
    return done({ ...user, isOperator, updatedAt: now })
  })
}
