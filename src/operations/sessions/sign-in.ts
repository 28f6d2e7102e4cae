import type { Queries, Session, User } from '../../../db/database.ts'
import { deviceLifetimeSeconds, mostDeviceFailures, mostDevices } from '../../domain/device.ts'
import { refuse } from '../../domain/errors.ts'
import { type RowKey, rowKey } from '../../domain/identifier.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { passwordFault } from '../../domain/password.ts'
import { hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { type Actor, auditStamp, system } from '../audit/event.ts'
import { CountedRefusal, guardedTransaction, type OpenChange, prepareChange, settle } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'

/** Looked up if no user has the address, so that both cases cost the same reads. No ID is empty. */
const nobody = ''

/** The browser that signs in. */
type Browser = {
  /** The name of the session in the user's list. */
  readonly agent: string | null
  /** Its key if it is already known to this user. */
  readonly device: RowKey | null
}

/**
 * Signs a user in with a new session. An unknown address takes as long as a wrong password. The password is checked
 * outside the transaction, and the session is created only if the user still has that password. From then on the browser
 * is known to the user, until too many wrong passwords come with its cookie. Returns its key as `newDevice` if it was not
 * known before, otherwise null.
 * @throws invalid_login
 */
export const signIn = async (
  platform: Platform,
  trace: Trace,
  credentials: { readonly email: string; readonly password: string },
  { agent, device }: Browser = { agent: null, device: null },
) => {
  const asked = await findUser(platform.database.queries, credentials.email)
  const checkable = passwordFault(credentials.password) === null
  const matches = await platform.passwords.matches(checkable ? credentials.password : '', asked?.passwordHash ?? null)

  const now = platform.clock.now()
  const session = mintSession(platform, trace, now)
  const { sessionToken, expiresAt } = session
  const minted = rowKey(platform.random.uuid(now)) // the key of a browser that may become known

  const open = prepareChange(platform, trace, { kind: 'anonymous' }, now)
  const outcome = await guardedTransaction(platform, async (q) => {
    const change = open(q)
    // Locked: a reset or change of the password, and a suspension, wait for this session and end it, or are seen here.
    const current = await q.users.byId(asked?.id ?? nobody)
    const actor: Actor = current === null ? { kind: 'anonymous' } : { kind: 'user', id: current.id }
    const allowed = current !== null && mayUsePassword(platform.signIn, current.isOperator)
    const unchanged = allowed && current.passwordHash === asked?.passwordHash && current.status === 'active'
    if (!matches || !checkable || !unchanged || current.passwordSuspendedAt !== null) {
      if (current !== null && device !== null) await countDeviceFailure(change, current, device)
      return new CountedRefusal(refuse('invalid_login'), { actor, action: 'session.create' })
    }
    const row = session.rowFor(current.id, agent)
    const newDevice = await rememberDevice(q, current, { known: device, minted }, now)
    await q.sessions.insert(row)
    await change.record({ actor, action: 'session.created', target: row.key })
    const user = { id: current.id, name: current.name, email: current.email }
    return { sessionToken, expiresAt, user, newDevice }
  })
  return await settle(platform, () => auditStamp(platform, trace, now), outcome)
}

export type MintedSession = ReturnType<typeof mintSession>

/** A new session, made before the transaction that stores it. `now` is epoch milliseconds. */
export const mintSession = (platform: Platform, trace: Trace, now: number) => {
  const key = rowKey(platform.random.uuid(now))
  const sessionToken = mintSecret({ kind: 'session', key, digits: platform.random.digits(secretDigits) })
  const hash = hashSecret(sessionToken)
  const expiresAt = now + platform.lifetimes.session * 1000
  const { address } = trace
  return {
    sessionToken,
    expiresAt,
    /** The row for this user. It holds the hash of the token. */
    rowFor: (userId: string, agent: string | null): Session => ({
      key,
      hash,
      userId,
      createdAt: now,
      expiresAt,
      endedAt: null,
      address,
      agent,
      lastUsedAt: null,
    }),
  }
}

/**
 * The known browser that a cookie names, if its user has this email address; otherwise null. Reads the row of the cookie
 * and not the account, so the time taken does not tell whether the account exists.
 */
export const findKnownDevice = async (platform: Platform, key: RowKey | null, email: string) => {
  const found = key === null ? null : await platform.database.queries.devices.find(key)
  if (found === null || !isValidAt(found.device, platform.clock.now())) return null
  return found.email === normalizeEmail(email) ? key : null
}

/** Makes the browser known to the user. Returns its new key, or null if it was already known. */
const rememberDevice = async (
  q: Queries,
  user: User,
  device: { readonly known: RowKey | null; readonly minted: RowKey },
  now: number,
): Promise<RowKey | null> => {
  if (device.known !== null && (await q.devices.find(device.known))?.device.userId === user.id) return null
  const expiresAt = now + deviceLifetimeSeconds * 1000
  await q.devices.insert({ id: device.minted, userId: user.id, failures: 0, createdAt: now, expiresAt }, mostDevices)
  return device.minted
}

/** Counts a wrong password that came with the cookie of a known browser. The last one allowed ends that. */
const countDeviceFailure = async ({ q, record }: OpenChange, user: User, known: RowKey): Promise<void> => {
  const failures = await q.devices.countFailure(known, user.id)
  if (failures === null || failures < mostDeviceFailures) return
  await q.devices.end(known)
  await record({ actor: system, action: 'device.ended', target: user.id })
}
