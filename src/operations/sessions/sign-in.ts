import type { Session, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { passwordFault } from '../../domain/password.ts'
import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import { mayEnter } from '../../domain/user.ts'
import { type Actor, anonymous } from '../audit/event.ts'
import { CountedRefusal, decide, newSecret, type OpenChange } from '../decide.ts'
import { type Enrolment, prepareEnrolment, storeEnrolment } from '../factors/change-factors.ts'
import { hasFactor, useCode, type UsedFactor } from '../factors/factors.ts'
import {
  asked as passkeyOf,
  checkPasskey,
  type PasskeyAnswer,
  usePasskey,
  type NewPasskey,
  preparePasskey,
  storePasskey,
} from '../factors/passkeys.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import {
  admit,
  countDeviceFailure,
  enter,
  type Entry,
  type PendingSignIn,
  pendingSignInSeconds,
  type PreparedEntry,
  prepareEntry,
  proofOf,
  type SignedIn,
  type SigningBrowser,
} from './entry.ts'

/** Looked up if no user has the address, so that both cases cost the same reads. No ID is empty. */
export const nobody = ''

/**
 * Signs a user in with a password. An unknown address takes as long as a wrong password. The password is checked outside the
 * transaction, and counts only if the user still has it. It leads to a session, or to the second factor. With the session the
 * browser becomes known to the user, until too many wrong passwords come with its cookie.
 * @throws invalid_login
 */
export const signIn = async (
  platform: Platform,
  trace: Trace,
  credentials: { readonly email: string; readonly password: string },
  browser: SigningBrowser = { agent: null, device: null },
): Promise<Entry> => {
  const begunAt = platform.clock.now()
  const asked = await findUser(platform.database.queries, credentials.email)
  const checkable = passwordFault(credentials.password) === null
  const matches = await platform.passwords.matches(checkable ? credentials.password : '', asked?.passwordHash ?? null)

  const now = platform.clock.now()
  const entry = prepareEntry(platform, mintSession(platform, trace, now), browser, now, 'password')
  return await decide(platform, trace, { actor: anonymous, now, kind: 'guarded' }, async (change) => {
    const { q } = change
    // Locked: a reset or change of the password, and a suspension, wait for this session and end it, or are seen here.
    const current = await q.users.byId(asked?.id ?? nobody)
    const actor: Actor = current === null ? anonymous : { kind: 'user', id: current.id }
    const allowed = current !== null && mayUsePassword(platform.signIn, current.isOperator)
    const counts = allowed && current.passwordHash === asked?.passwordHash && mayEnter(current, begunAt)
    if (!matches || !checkable || !counts) {
      if (current !== null) await countDeviceFailure(change, current, browser.device)
      return new CountedRefusal(refuse('invalid_login'), { actor, action: 'session.create' })
    }
    return await admit(change, entry, current)
  })
}

export type MintedSession = ReturnType<typeof mintSession>

/** A new session, made before the transaction that stores it. `now` is epoch milliseconds. */
export const mintSession = (platform: Platform, trace: Trace, now: number) => {
  const { key, secret: sessionToken, hash } = newSecret(platform, 'session', now)
  const expiresAt = now + platform.lifetimes.session * 1000
  const { address } = trace
  return {
    sessionToken,
    expiresAt,
    /** The row for this user. It holds the hash of the token. `askedAt` is when they proved who they are. */
    rowFor: (userId: string, agent: string | null, askedAt: number | null): Session => ({
      key,
      hash,
      userId,
      createdAt: now,
      expiresAt,
      endedAt: null,
      address,
      agent,
      lastUsedAt: null,
      askedAt,
    }),
  }
}

/**
 * Signs in with a passkey alone, for which the authenticator must have verified the person. It needs no second factor. Whoever may not
 * use a password here may not use this either: their builder or identity provider decides who signs in.
 * @throws invalid_login
 */
export const signInWithPasskey = async (
  platform: Platform,
  trace: Trace,
  answer: PasskeyAnswer,
  browser: SigningBrowser,
): Promise<SignedIn> => {
  const begunAt = platform.clock.now()
  const checked = await checkPasskey(platform, passkeyOf.alone, answer)
  const now = platform.clock.now()
  const entry = prepareEntry(platform, mintSession(platform, trace, now), browser, now, 'password')
  return await decide(platform, trace, { actor: anonymous, now, kind: 'guarded' }, async (change) => {
    const { q } = change
    const user = await q.users.byId(checked?.passkey.userId ?? nobody)
    const allowed = user !== null && mayEnter(user, begunAt) && mayUsePassword(platform.signIn, user.isOperator)
    const untaken = checked === null || !allowed ? 'passkey_unknown' : await usePasskey(change, checked)
    if (user === null || untaken !== null) {
      const actor: Actor = user === null ? anonymous : { kind: 'user', id: user.id }
      const error = refuse('invalid_login', { param: 'passkey', message: wrongPasskey })
      return new CountedRefusal(error, {
        actor,
        action: 'session.create',
        detail: { factor: 'passkey', reason: untaken },
      })
    }
    return await enter(change, entry, user, 'passkey', null)
  })
}

const wrongPasskey = 'This passkey was not accepted. Try again, or sign in in another way.'

/** What is proved in addition to the first proof. */
export type SecondProof =
  { readonly kind: 'code'; readonly code: string } | { readonly kind: 'passkey'; readonly answer: PasskeyAnswer }

/**
 * Signs in with a passkey, a code of the authenticator app, or a recovery code. Each is accepted once.
 * @throws invalid_login, about `code` or `passkey` unless the sign-in has to begin again
 */
export const finishSignIn = async (
  platform: Platform,
  trace: Trace,
  pending: PendingSignIn,
  proof: SecondProof,
  browser: SigningBrowser,
): Promise<SignedIn> => {
  const checked =
    proof.kind === 'passkey' ? await checkPasskey(platform, passkeyOf.second(pending.userId), proof.answer) : null
  const now = platform.clock.now()
  const entry = prepareEntry(platform, mintSession(platform, trace, now), browser, now, pending.way)
  return await decide(platform, trace, { actor: anonymous, now, kind: 'guarded' }, async (change) => {
    const user = await stillPending(change, entry, pending)
    if (user instanceof CountedRefusal) return user
    const untaken = checked === null ? 'passkey_unknown' : await usePasskey(change, checked)
    const passkey: UsedFactor | null = untaken === null ? 'passkey' : null
    const factor = proof.kind === 'code' ? await useCode(change, user.id, proof.code) : passkey
    if (factor === null) {
      if (proof.kind === 'code') await countDeviceFailure(change, user, browser.device)
      const message = proof.kind === 'code' ? wrongCode : wrongPasskey
      return refusedEntry(
        user.id,
        refuse('invalid_login', { param: proof.kind, message }),
        proof.kind === 'code' ? { factor: 'code' } : { factor: 'passkey', reason: untaken },
      )
    }
    if (factor === 'recovery_code') {
      const actor = { kind: 'user', id: user.id } as const
      await change.record({ actor, action: 'factor.recovery_code_used', target: user.id })
    }
    return await enter(change, { ...entry, askedAt: now }, user, factor, null)
  })
}

const wrongCode = 'The code is wrong, or it was used before. Wait for the next one.'

/** A second factor that is set up. */
type NewFactor = ({ readonly kind: 'totp' } & Enrolment) | ({ readonly kind: 'passkey' } & NewPasskey)

/** What stores it in the transaction, and returns recovery codes. */
const prepareFactor = async (platform: Platform, userId: string, factor: NewFactor, now: number) => {
  if (factor.kind === 'totp') {
    const prepared = prepareEnrolment(platform, userId, factor, now)
    return async (change: OpenChange) => await storeEnrolment(change, prepared)
  }
  const prepared = await preparePasskey(platform, userId, factor, now)
  return async (change: OpenChange) => await storePasskey(change, prepared)
}

/**
 * Sets up a second factor for somebody who cannot sign in without one any more, and signs them in. Returns also their recovery
 * codes, to show once.
 * @throws invalid_request for a code that does not fit the key, and an answer of the browser that is wrong or old;
 *   version_not_eligible for a passkey that is registered already; invalid_login when the sign-in has to begin again
 */
export const enrolAndSignIn = async (
  platform: Platform,
  trace: Trace,
  pending: PendingSignIn,
  factor: NewFactor,
  browser: SigningBrowser,
): Promise<{ readonly signedIn: SignedIn; readonly codes: readonly string[] }> => {
  const now = platform.clock.now()
  const store = await prepareFactor(platform, pending.userId, factor, now)
  const askedAt = pending.way === 'password' ? pending.since : null // a factor that was never asked for proves nothing
  const minted = mintSession(platform, trace, now)
  const entry = { ...prepareEntry(platform, minted, browser, now, pending.way), askedAt }
  return await decide(platform, trace, { actor: anonymous, now }, async (change) => {
    const user = await stillPending(change, entry, pending)
    if (user instanceof CountedRefusal) return user
    if (await hasFactor(change.q, user.id)) return refusedEntry(user.id, beginAgain('changed')) // it must be proved
    const codes = await store(change)
    if (codes instanceof PlatformError) return refusedEntry(user.id, codes, { factor: factor.kind })
    return { signedIn: await enter(change, entry, user, factor.kind, null), codes }
  })
}

/** The user, locked, if the first proof still counts. */
const stillPending = async (
  { q, now }: OpenChange,
  { rules }: PreparedEntry,
  { userId, way, proof, since }: PendingSignIn,
): Promise<User | CountedRefusal> => {
  const user = await q.users.byId(userId)
  if (now - since >= pendingSignInSeconds * 1000) return refusedEntry(userId, beginAgain('late'))
  const counts =
    user !== null &&
    mayEnter(user, since) &&
    proofOf(user, way) === proof &&
    (way !== 'password' || mayUsePassword(rules, user.isOperator))
  return counts ? user : refusedEntry(userId, beginAgain('changed'))
}

/** Why a sign-in whose first proof was right has to begin again. */
export const causesToBeginAgain = {
  late: 'This took too long. Sign in again.',
  changed:
    'Your password, your second factors or your access were changed after this sign-in had begun. Sign in again.',
} as const
type CauseToBeginAgain = keyof typeof causesToBeginAgain

const beginAgain = (kind: CauseToBeginAgain): PlatformError =>
  refuse('invalid_login', { message: causesToBeginAgain[kind], details: { kind } })

/** The cause, if the error is such a refusal. */
export const causeToBeginAgain = (error: unknown): CauseToBeginAgain | null => {
  const kind = error instanceof PlatformError && error.code === 'invalid_login' ? error.facts.details?.['kind'] : null
  return kind === 'late' || kind === 'changed' ? kind : null
}

const refusedEntry = (
  userId: string,
  error: PlatformError,
  detail: Readonly<Record<string, unknown>> = { factor: 'code' },
): CountedRefusal =>
  new CountedRefusal(error, {
    actor: { kind: 'user', id: userId },
    action: 'session.create',
    detail,
  })
