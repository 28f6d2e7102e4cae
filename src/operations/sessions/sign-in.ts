import { refuse } from '../../domain/errors.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { passwordFault } from '../../domain/password.ts'
import { auditEvent, auditStamp } from '../audit/event.ts'
import { tellRefusal } from '../audit/refusal-log.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import { countDeviceFailure, mintDevice, rememberDevice } from './known-device.ts'
import { mintSession } from './mint-session.ts'

/** Asked for in the place of a user that there is not. No ID is empty. */
const nobody = ''

type SignedIn = {
  readonly sessionToken: string
  readonly expiresAt: number
  readonly user: { readonly id: string; readonly name: string; readonly email: string }
  /** The key of this browser where it was not known to the user before. */
  readonly newDevice: RowKey | null
}

/** What is signing in. */
type Browser = {
  /** What the session will be called in the user's list. */
  readonly agent: string | null
  /** The key under which it is known to this user already. */
  readonly device: RowKey | null
}

/**
 * Signs a user in with a fresh session. An unknown address takes as long as a wrong password; the password is checked
 * outside the transaction, and the session is made only if that same password is still the user's. A browser that signs
 * in is known to the user from then on; wrong passwords that come with its cookie end that.
 * @throws invalid_login
 */
export const signIn = async (
  platform: Platform,
  trace: Trace,
  credentials: { readonly email: string; readonly password: string },
  { agent, device }: Browser = { agent: null, device: null },
): Promise<SignedIn> => {
  const asked = await findUser(platform.database.queries, credentials.email)
  const checkable = passwordFault(credentials.password) === null
  const matches = await platform.passwords.matches(checkable ? credentials.password : '', asked?.passwordHash ?? null)

  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const session = mintSession(platform, trace, now)
  const { sessionToken, expiresAt } = session
  const minted = mintDevice(platform, now)

  return await decide(platform.database, async (q) => {
    const current = await q.users.byId(asked?.id ?? nobody)
    const unchanged = current !== null && current.passwordHash === asked?.passwordHash && current.status === 'active'
    if (!matches || !checkable || !unchanged || current.passwordSuspendedAt !== null) {
      const actor = current === null ? ({ kind: 'anonymous' } as const) : ({ kind: 'user', id: current.id } as const)
      const event = auditEvent(stamp, { actor, action: 'session.create', refusedWith: 'invalid_login' })
      await tellRefusal(q, platform.refusals, event)
      if (current !== null && device !== null) await countDeviceFailure(q, stamp, current, device)
      return refused(refuse('invalid_login'))
    }
    const row = session.rowFor(current.id, agent)
    const newDevice = await rememberDevice(q, current, { known: device, minted }, now)
    await q.sessions.insert(row)
    const actor = { kind: 'user', id: current.id } as const
    await q.audit.insert(auditEvent(stamp, { actor, action: 'session.created', target: row.key }))
    const user = { id: current.id, name: current.name, email: current.email }
    return done({ sessionToken, expiresAt, user, newDevice })
  })
}
