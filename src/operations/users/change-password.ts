import type { Queries, User } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { newPasswordFault, passwordFault } from '../../domain/password.ts'
import { type AuditStamp, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type MintedSession, mintSession } from '../sessions/sign-in.ts'
import { refusalIfEnded, type SessionCaller } from '../authenticate.ts'

type PasswordChange = {
  readonly current: string
  readonly next: string
  /** The new one as it was typed a second time. */
  readonly repeated: string
}

/**
 * Changes the caller's password. The slow hashes are made outside the transaction, and the new one is stored only if the
 * old one is still the user's. Every session of the user ends, whoever holds it; the caller gets a fresh one in the
 * same transaction. Grants are left alone: a connected app never knew the password.
 * @throws invalid_request for a new password that cannot be used, invalid_login for a wrong current one, login_required
 *   when the session has ended in the meantime
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

/** What can be told from the form alone; whether the current password is right has no part in it. */
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

/** Ends all of them, the caller's too, and puts the fresh one in its place, in the same browser. */
const renewSessions = async (q: Queries, caller: SessionCaller, session: MintedSession, now: number): Promise<void> => {
  const own = await q.sessions.find(caller.sessionKey)
  await q.sessions.endAllOfUser(caller.user.id, now)
  await q.sessions.insert(session.rowFor(caller.user.id, own?.session.agent ?? null))
}
