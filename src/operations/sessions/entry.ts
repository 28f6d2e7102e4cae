// How a sign-in goes on after the first proof, which is a password, the builder's word or that of an identity provider: to a
// session, to the code of a second factor, or to setting one up. There is no session before that.

import type { Queries, User } from '../../../db/database.ts'
import { deviceLifetimeSeconds, mostDeviceFailures, mostDevices } from '../../domain/device.ts'
import { type RowKey, rowKey } from '../../domain/identifier.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { factorGraceMs, isFactorRequired, isStrongSignIn } from '../../domain/second-factor.ts'
import { hashSecret } from '../../domain/secret.ts'
import type { SignInWay } from '../../domain/sign-in-rules.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { system } from '../audit/event.ts'
import type { OpenChange } from '../decide.ts'
import { hasFactor, type UsedFactor } from '../factors/factors.ts'
import type { Platform } from '../platform.ts'
import type { MintedSession } from './sign-in.ts'

/** The browser that signs in. */
export type SigningBrowser = {
  /** The name of the session in the user's list. */
  readonly agent: string | null
  /** Its key if it is already known to this user. */
  readonly device: RowKey | null
}

/** A new session. */
export type SignedIn = {
  readonly kind: 'signed_in'
  readonly sessionToken: string
  readonly expiresAt: number
  readonly user: { readonly id: string; readonly name: string; readonly email: string }
  readonly way: SignInWay
  /** The key of a browser that has become known to the user; null if it was known before. */
  readonly newDevice: RowKey | null
  /** From when on this person must have a second factor; null if they have one or need none. */
  readonly factorDueAt: number | null
}

/** The first proof was right, and something is missing. It gives no access and ends after ten minutes. */
export type PendingSignIn = {
  readonly kind: 'pending'
  readonly need: 'code' | 'enrolment'
  readonly userId: string
  readonly email: string
  readonly way: SignInWay
  /** Changes with the password. */
  readonly proof: string
  /** Epoch milliseconds. */
  readonly since: number
}

export type Entry = SignedIn | PendingSignIn

/** How long somebody may take for the second factor. */
export const pendingSignInSeconds = 600

/** What a pending sign-in depends on, besides the user: it ends when the password is changed. */
export const proofOf = ({ passwordHash }: User, way: SignInWay): string =>
  way === 'password' ? Buffer.from(hashSecret(passwordHash)).toString('base64url') : ''

export type PreparedEntry = ReturnType<typeof prepareEntry>

/** Everything for a sign-in that a transaction must not make itself. */
export const prepareEntry = (
  { random, signIn: rules }: Platform,
  session: MintedSession,
  { agent, device }: SigningBrowser,
  now: number,
  way: SignInWay,
  /** What the identity provider says about how it knows the person. */
  acr: string | null = null,
  /** When another service has asked the person; null if it knew them from before, or does not say. */
  askedElsewhereAt: number | null = null,
) => ({
  rules,
  session,
  way,
  agent,
  isStrong: isStrongSignIn(rules, way, acr),
  askedAt: way === 'password' ? now : askedElsewhereAt,
  /** What the audit says about the way. */
  detail: detailOf(way),
  device: { known: device, minted: rowKey(random.uuid(now)) },
})

const detailOf = (way: SignInWay): Readonly<Record<string, string>> => (way === 'password' ? {} : { way })

/** Goes on with a sign-in of an active user whose first proof was right. */
export const admit = async (change: OpenChange, entry: PreparedEntry, user: User): Promise<Entry> => {
  const { q, now, record } = change
  const { rules, way, isStrong, detail } = entry
  const isAsked = !isStrong && isFactorRequired(rules, user.isOperator)
  const hasOne = !isStrong && (await hasFactor(q, user.id))
  const dueAt = isAsked && !hasOne ? (user.factorDueAt ?? now + factorGraceMs) : null
  if (!hasOne && (dueAt === null || dueAt > now)) {
    if (dueAt !== null && user.factorDueAt === null) await q.users.askForFactor(user.id, dueAt)
    return await enter(change, entry, user, null, dueAt)
  }
  const need = hasOne ? 'code' : 'enrolment'
  const actor = { kind: 'user', id: user.id } as const
  await record({ actor, action: 'factor.asked', target: user.id, detail: { ...detail, need } })
  return { kind: 'pending', need, userId: user.id, email: user.email, way, proof: proofOf(user, way), since: now }
}

/** Creates the session. `factor` is what was proved in addition. */
export const enter = async (
  { q, now, record }: OpenChange,
  { session, way, agent, askedAt, detail, device }: PreparedEntry,
  { id, name, email, isOperator }: User,
  factor: UsedFactor | null,
  factorDueAt: number | null,
): Promise<SignedIn> => {
  // What another service says of operators proves nothing: they need a password or a factor of this server.
  const isProvedHere = way === 'password' || factor !== null
  const row = session.rowFor(id, agent, isOperator && !isProvedHere ? null : askedAt)
  const newDevice = way === 'password' ? await rememberDevice(q, id, device, now) : null
  await q.sessions.insert(row)
  const facts = factor === null ? detail : { ...detail, factor }
  const said = Object.keys(facts).length === 0 ? {} : { detail: facts }
  const news = newDevice === null ? {} : { mail: { kind: 'new_device', to: null } as const }
  await record({ actor: { kind: 'user', id }, action: 'session.created', target: row.key, ...said, ...news })
  const { sessionToken, expiresAt } = session
  return { kind: 'signed_in', sessionToken, expiresAt, user: { id, name, email }, way, newDevice, factorDueAt }
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
  userId: string,
  device: { readonly known: RowKey | null; readonly minted: RowKey },
  now: number,
): Promise<RowKey | null> => {
  if (device.known !== null && (await q.devices.find(device.known))?.device.userId === userId) return null
  const expiresAt = now + deviceLifetimeSeconds * 1000
  await q.devices.insert({ id: device.minted, userId, failures: 0, createdAt: now, expiresAt }, mostDevices)
  return device.minted
}

/** Counts a wrong password or code that came with the cookie of a known browser. The last one allowed ends that. */
export const countDeviceFailure = async ({ q, record }: OpenChange, user: Pick<User, 'id'>, known: RowKey | null) => {
  const failures = known === null ? null : await q.devices.countFailure(known, user.id)
  if (known === null || failures === null || failures < mostDeviceFailures) return
  await q.devices.end(known)
  await record({ actor: system, action: 'device.ended', target: user.id })
}
