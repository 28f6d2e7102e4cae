import type { User } from '../../../db/database.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { nameFault } from '../../domain/name.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from './find-user.ts'

/**
 * Gives a user another name. The audit row does not repeat it: it holds no names of people.
 * @throws invalid_request for an unknown address or a name that cannot be shown
 */
export const renameUser = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly email: string; readonly name: string },
): Promise<User> => {
  const fault = nameFault(input.name)
  if (fault !== null) throw badInput('name', fault)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const user = await findUser(q, input.email)
    if (user === null) return refused(badInput('email', 'There is no such user.'))
    if (user.name === input.name) return done(user)
    await q.users.rename(user.id, input.name, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.renamed', target: user.id }))
    return done({ ...user, name: input.name, updatedAt: now })
  })
}

/**
 * Gives a user another address to sign in with. Sessions and grants stay: they belong to the user, not to the address.
 * @throws invalid_request for an unknown address, and a new one that is malformed or taken
 */
export const setUserEmail = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly email: string; readonly to: string },
): Promise<User> => {
  const email = normalizeEmail(input.to)
  if (email === null) throw badInput('to', 'The new email address is malformed.')
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const user = await findUser(q, input.email)
    if (user === null) return refused(badInput('email', 'There is no such user.'))
    if (user.email === email) return done(user)
    if ((await q.users.byEmail(email)) !== null)
      return refused(badInput('to', 'The new email address has a user already.'))
    await q.users.setEmail(user.id, email, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.email_changed', target: user.id }))
    return done({ ...user, email, updatedAt: now })
  })
}
