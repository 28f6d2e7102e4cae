// The three ways to a working password: users change their own, operators reset one, and operators let
// somebody sign in again whom a recovery has suspended.

import type { User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { newPasswordFault, normalPassword, passwordFault } from '../../domain/password.ts'
import type { Rule } from '../acting-as.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { badInput, decide, type OpenChange, type Operation, refusalOfFaults, refuseFault } from '../decide.ts'
import { endSignIns } from '../end-access.ts'
import type { Platform, Trace } from '../platform.ts'
import { type MintedSession, mintSession } from '../sessions/sign-in.ts'
import { knownUser } from './find-user.ts'

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
  passwords: PasswordChange,
): Promise<Pick<MintedSession, 'sessionToken' | 'expiresAt'>> => {
  const fault = faultOf(passwords)
  if (fault !== null) throw fault
  const user = await platform.database.queries.users.byId(caller.user.id)
  const checkable = passwordFault(passwords.current) === null
  const oldHash = user?.passwordHash ?? null
  const matches = (await platform.passwords.matches(checkable ? passwords.current : '', oldHash)) && checkable
  const newHash = matches ? await platform.passwords.hash(passwords.next) : null

  const now = platform.clock.now()
  const session = mintSession(platform, trace, now)
  return await decide(platform, trace, { actor: actorOf(caller), now }, async (change) => {
    const { q, record } = change
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const replaced =
      oldHash !== null && newHash !== null && (await q.users.replacePassword(caller.user.id, oldHash, newHash, now))
    if (!replaced) return await wrongPassword(change, caller.user.id)
    await renewSessions(change, caller, session)
    await record({ action: 'user.password_changed', target: caller.user.id })
    return { sessionToken: session.sessionToken, expiresAt: session.expiresAt }
  })
}

/** The fault of the form itself, which does not depend on whether the current password is right. */
const faultOf = (passwords: PasswordChange): PlatformError | null => {
  const [current, next, repeated] = [passwords.current, passwords.next, passwords.repeated].map(normalPassword)
  return refusalOfFaults({
    password: newPasswordFault(passwords.next) ?? (next === current ? sameAsBefore : null),
    repeated: next === repeated ? null : 'The two new passwords differ.',
  })
}

const sameAsBefore = 'The new password is the same as the current one.'

const wrongPassword = async ({ record }: OpenChange, userId: string): Promise<PlatformError> => {
  await record({ action: 'user.change_password', target: userId, refusedWith: 'invalid_login' })
  return refuse('invalid_login', { param: 'current', message: 'The current password is wrong.' })
}

/** Ends all sessions of the user and stores a new one for the caller's browser. */
const renewSessions = async (change: OpenChange, caller: SessionCaller, session: MintedSession): Promise<void> => {
  const { q, now } = change
  const own = await q.sessions.find(caller.sessionKey)
  await endSignIns(change, caller.user.id)
  await q.sessions.insert(session.rowFor(caller.user.id, own?.session.agent ?? null, now))
}

/**
 * The rule for steps on the desk that operators do not take about themselves, such as resetting a password: that needs the
 * current one, or a stolen session would be enough to take over the account.
 */
export const isForSomebodyElse =
  (operatorId: string, userId: string, message = ownPassword): Rule =>
  async () =>
    operatorId === userId ? badInput('user', message) : null

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
  refuseFault('password', newPasswordFault(input.password))
  const user = await platform.database.queries.users.byId(input.userId)
  if (user === null) throw badInput('user', 'There is no such user.')
  const passwordHash = await platform.passwords.hash(input.password)
  return await decide(platform, trace, { actor }, async (change) => {
    const { q, now, record } = change
    if (!(await q.users.replacePassword(user.id, user.passwordHash, passwordHash, now))) {
      return refuse('version_not_eligible', { message: changedSince })
    }
    await q.users.confirm(user.id)
    const endedSessions = await endSignIns(change, user.id)
    await record({ action: 'user.password_reset', target: user.id })
    return { user: { ...user, passwordHash, suspendedAt: null, updatedAt: now }, endedSessions }
  })
}

const changedSince = 'The password was changed a moment ago. Nothing was done a second time.'

/**
 * Lets a user sign in again whom a recovery has suspended. Nothing changes for anybody else.
 * @throws invalid_request for an unknown address
 */
export const confirmUser: Operation<string, User> = async (platform, trace, actor, email) => {
  return await decide(platform, trace, { actor }, async ({ q, record }) => {
    const user = await knownUser(q, email)
    if (user instanceof PlatformError) return user
    if (!(await q.users.confirm(user.id))) return user
    await record({ action: 'user.confirmed', target: user.id })
    return { ...user, suspendedAt: null }
  })
}
