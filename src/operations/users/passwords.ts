// The three ways to a working password: users change their own, operators reset one, and operators confirm one that a
// recovery has suspended.

import type { Queries, User } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { newPasswordFault, passwordFault } from '../../domain/password.ts'
import type { Rule } from '../acting-as.ts'
import { auditEvent, type AuditStamp, auditStamp } from '../audit/event.ts'
import { refusalIfEnded } from '../acting-as.ts'
import type { SessionCaller } from '../authenticate.ts'
import { badInput, decide, done, type Operation, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type MintedSession, mintSession } from '../sessions/sign-in.ts'
import { findUser, noUserAt } from './find-user.ts'

type PasswordChange = {
  readonly current: string
  readonly next: string
  /** The new password, typed a second time. */
  readonly repeated: string
}

/**
 * Changes the caller's password. The slow hashes are computed before the transaction, which stores the new one only if
 * the old one has not changed meanwhile. All sessions of the user end; the caller gets a new one in the same transaction.
 * Grants stay, because a connected app never knew the password.
 * @throws invalid_request for a new password that cannot be used, invalid_login for a wrong current password,
 *   login_required when the session has ended
 */
export const changePassword = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  change: PasswordChange,
): Promise<Pick<MintedSession, 'sessionToken' | 'expiresAt'>> => {
  const fault = faultOf(change)
  if (fault !== null) throw fault
  const user = await platform.database.queries.users.byId(caller.user.id)
  const checkable = passwordFault(change.current) === null
  const oldHash = user?.passwordHash ?? null
  const matches = (await platform.passwords.matches(checkable ? change.current : '', oldHash)) && checkable
  const newHash = matches ? await platform.passwords.hash(change.next) : null

  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const session = mintSession(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const ended = await refusalIfEnded(platform, q, stamp, caller, now)
    if (ended !== null) return refused(ended)
    const replaced =
      oldHash !== null && newHash !== null && (await q.users.replacePassword(caller.user.id, oldHash, newHash, now))
    if (!replaced) return refused(await wrongPassword(q, stamp, caller.user.id))
    await renewSessions(q, caller, session, now)
    const facts = { actor: { kind: 'user', id: caller.user.id }, action: 'user.password_changed' } as const
    await q.audit.insert(auditEvent(stamp, { ...facts, target: caller.user.id }))
    return done({ sessionToken: session.sessionToken, expiresAt: session.expiresAt })
  })
}

/** The fault of the form itself, which does not depend on whether the current password is right. */
const faultOf = ({ current, next, repeated }: PasswordChange): PlatformError | null => {
  const weakness = newPasswordFault(next)
  if (weakness !== null) return badInput('password', weakness)
  if (next === current) return badInput('password', 'The new password is the same as the current one.')
  return next === repeated ? null : badInput('repeated', 'The two new passwords differ.')
}

const wrongPassword = async (q: Queries, stamp: AuditStamp, userId: User['id']): Promise<PlatformError> => {
  const refusal = refuse('invalid_login', { param: 'current', message: 'The current password is wrong.' })
  const facts = { actor: { kind: 'user', id: userId }, action: 'user.change_password' } as const
  await q.audit.insert(auditEvent(stamp, { ...facts, target: userId, refusedWith: refusal.code }))
  return refusal
}

/** Ends all sessions of the user and stores a new one for the caller's browser. */
const renewSessions = async (q: Queries, caller: SessionCaller, session: MintedSession, now: number): Promise<void> => {
  const own = await q.sessions.find(caller.sessionKey)
  await q.sessions.endAllOfUser(caller.user.id, now)
  await q.sessions.insert(session.rowFor(caller.user.id, own?.session.agent ?? null))
}

/**
 * The rule for resetting a password on the desk: not the operator's own. That needs the current password, or a stolen
 * session would be enough to take over the account.
 */
export const isForSomebodyElse =
  (operatorId: string, userId: string): Rule =>
  async () =>
    operatorId === userId ? badInput('user', ownPassword) : null

const ownPassword = 'You cannot reset your own password here: change it under Account, Password.'

/**
 * Gives a user a new password and ends their sessions. Grants stay. Of two resets at once only one succeeds, so a
 * password that an operator is shown always works.
 * @throws invalid_request for an unknown user or a password that cannot be used, version_not_eligible when the password
 *   has changed since it was read
 */
export const resetPassword: Operation<
  { readonly userId: string; readonly password: string },
  { readonly user: User; readonly endedSessions: number }
> = async (platform, trace, actor, input) => {
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
    await q.users.confirmPassword(user.id) // the new password is not suspended
    const endedSessions = await q.sessions.endAllOfUser(user.id, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.password_reset', target: user.id }))
    return done({ user: { ...user, passwordHash, passwordSuspendedAt: null, updatedAt: now }, endedSessions })
  })
}

const changedSince = 'The password was changed a moment ago. Nothing was done a second time.'

/**
 * Makes a password valid again that a recovery has suspended. Nothing changes when it is not suspended.
 * @throws invalid_request for an unknown address
 */
export const confirmPassword: Operation<string, User> = async (platform, trace, actor, email) => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const user = await findUser(q, email)
    if (user === null) return refused(noUserAt(email))
    if (!(await q.users.confirmPassword(user.id))) return done(user)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'user.password_confirmed', target: user.id }))
    return done({ ...user, passwordSuspendedAt: null })
  })
}
