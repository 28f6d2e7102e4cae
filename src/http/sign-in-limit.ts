import { browserLabel, deviceCookie, deviceLifetimeSeconds, readDeviceCookie } from '../domain/device.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import { networkKeyOf } from '../domain/ip-address.ts'
import { readCode } from '../domain/second-factor.ts'
import { normalizeEmail } from '../domain/user.ts'
import type { PasskeyAnswer } from '../operations/factors/passkeys.ts'
import type { Platform } from '../operations/platform.ts'
import {
  findKnownDevice,
  type PendingSignIn,
  type SignedIn,
  type SigningBrowser,
} from '../operations/sessions/entry.ts'
import { finishSignIn, type SecondProof, signIn, signInWithPasskey } from '../operations/sessions/sign-in.ts'
import type { Call } from './call.ts'
import { readCookie, setCookie } from './cookies.ts'
import type { Door } from './door.ts'
import { hold, leave, takeShare } from './limits.ts'
import { sessionCookie } from './session-cookie.ts'

/** Calls of one address that may wait for a hash at the same time: hashing is slow, and all callers share its line. */
const hashingAtOnce = 4

/** Who tries to sign in, or to prove again who they are. */
type Guesser = {
  /** Whose account it is, in the form in which accounts are found. */
  readonly account: string
  /** The session, or the known browser of this account, by which the server knows the caller; null if it does not. */
  readonly knownAs: string | null
}

/** The account of an address as it was typed. All malformed addresses count together: they have none. */
const accountAt = (email: string): string => normalizeEmail(email) ?? ''

/**
 * What a guess takes from. Whoever the server knows has a count of their own, which they alone can use up. All others at an address
 * share two: that of the account there, and that of all accounts together, made-up ones included. A passkey, which nobody can guess,
 * takes from none of them.
 */
const countsOf = ({ addressKey }: Call, { account, knownAs }: Guesser) =>
  knownAs === null
    ? { key: `${account} ${addressKey}`, ofAddress: addressKey }
    : { key: `known ${knownAs}`, ofAddress: null }

/** Runs a check of what nobody can guess: a refusal is in the metrics, and keeps nobody from trying again. @throws what the work throws */
export const withoutLimit = async <T>(door: Door, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (isWrong(error)) door.platform.observe.refused('sign_in')
    throw error
  }
}

/**
 * Runs a check of what can be guessed unless this guesser has failed too often. The try is counted before and given back on success,
 * so that parallel guesses cannot pass together.
 * @throws rate_limited, and what the work throws
 */
export const withGuessLimit = async <T>(
  door: Door,
  call: Call,
  guesser: Guesser,
  work: () => Promise<T>,
): Promise<T> => {
  const { limiter } = door
  const { key, ofAddress } = countsOf(call, guesser)
  const addressKey = ofAddress === null ? null : `sign-in ${ofAddress}`
  // First, so that a try refused here does not count against the account.
  if (addressKey !== null) hold(call, limiter.peek('failed', addressKey))
  takeShare(door, call, 'sign_in', key)
  try {
    const result = await withoutLimit(door, work)
    limiter.giveBack('sign_in', key)
    return result
  } catch (error) {
    if (!isWrong(error)) limiter.giveBack('sign_in', key)
    else if (addressKey !== null) hold(call, limiter.take('failed', addressKey))
    throw error
  }
}

const isWrong = (error: unknown): boolean => error instanceof PlatformError && error.code === 'invalid_login'

/** Likewise for a password, which is hashed. @throws rate_limited, and what the work throws */
export const withPasswordLimit = async <T>(
  door: Door,
  call: Call,
  guesser: Guesser,
  work: (platform: Platform) => Promise<T>,
): Promise<T> =>
  await withGuessLimit(door, call, guesser, async () => await inLineForHashing(door, call, guesser, work))

/**
 * Runs work that hashes a password, at this caller's place in the line for it. One address has few places, and each known caller as many.
 * @throws rate_limited, and what the work throws
 */
export const inLineForHashing = async <T>(
  door: Door,
  call: Call,
  { account, knownAs }: Guesser,
  work: (platform: Platform) => Promise<T>,
): Promise<T> => {
  const key = knownAs ?? call.addressKey
  const waiting = door.signingIn.get(key) ?? 0
  if (waiting >= hashingAtOnce) throw refuse('rate_limited', { retryAfterSeconds: 1 })
  door.signingIn.set(key, waiting + 1)
  try {
    const { platform } = door
    const place = { network: networkKeyOf(call.address), account, knownAs }
    return await work({ ...platform, passwords: platform.passwords.inLineAs(place) })
  } finally {
    leave(door.signingIn, key)
  }
}

/**
 * Asks for a link by mail, within limits as for guesses. So nobody elsewhere uses up what the person may ask for.
 * @throws rate_limited, and what the work throws
 */
export const withLinkLimit = async <T>(door: Door, call: Call, email: string, work: () => Promise<T>): Promise<T> => {
  const knownAs = await findKnownDevice(door.platform, browserOf(door, call.request).device, email)
  const { key, ofAddress } = countsOf(call, { account: accountAt(email), knownAs })
  takeShare(door, call, 'sign_in', `link ${key}`)
  if (ofAddress !== null) hold(call, door.limiter.take('failed', `link ${ofAddress}`))
  return await work()
}

/**
 * Checks a password, within the limits. A browser in which this user has signed in before has its own count of guesses, which ends
 * with it after a few, and its own place in the line for hashing; its cookie gives no access.
 * @throws rate_limited, unavailable, invalid_login
 */
export const signInHere = async (
  door: Door,
  call: Call,
  credentials: { readonly email: string; readonly password: string },
) => {
  const { email } = credentials
  const browser = browserOf(door, call.request)
  const device = await findKnownDevice(door.platform, browser.device, email)
  const guesser = { account: accountAt(email), knownAs: device }
  const check = async (platform: Platform) => await signIn(platform, call, credentials, { ...browser, device })
  return await withPasswordLimit(door, call, guesser, check)
}

/**
 * Goes on with a second proof. Codes are limited for the account, at all addresses together: somebody who knows the password must not
 * guess the six digits. Browsers that are known to the user count by themselves, and recovery codes, which cannot be guessed, at each
 * address. So nobody else locks the user out.
 * @throws rate_limited, unavailable, invalid_login
 */
export const finishHere = async (
  door: Door,
  call: Call,
  pending: PendingSignIn,
  proof: SecondProof,
): Promise<SignedIn> => {
  const { email, userId } = pending
  const { agent, device: claimed } = browserOf(door, call.request)
  const device = await findKnownDevice(door.platform, claimed, email)
  const finish = async () => await finishSignIn(door.platform, call, pending, proof, { agent, device })
  if (proof.kind === 'passkey') return await withoutLimit(door, finish)
  // Only people who know the password come here, and no others take from their count.
  const guesser = { account: email, knownAs: `${userId} ${device ?? call.addressKey}` }
  const guess = async () => await withGuessLimit(door, call, guesser, finish)
  return readCode(proof.code).kind === 'recovery'
    ? await guess()
    : await withCodeLimit(door, call, `code ${userId} ${device ?? ''}`, guess)
}

/** Checks a code of the authenticator app, within the count of wrong ones under the key. @throws rate_limited, and what the work throws */
export const withCodeLimit = async <T>(door: Door, call: Call, key: string, work: () => Promise<T>): Promise<T> => {
  hold(call, door.limiter.take('code', key))
  try {
    const result = await work()
    door.limiter.giveBack('code', key)
    return result
  } catch (error) {
    if (!isWrong(error)) door.limiter.giveBack('code', key)
    throw error
  }
}

/** Signs in with a passkey alone. Who it is, is known when it is checked. @throws invalid_login */
export const signInWithPasskeyHere = async (door: Door, call: Call, answer: PasskeyAnswer): Promise<SignedIn> =>
  await withoutLimit(
    door,
    async () => await signInWithPasskey(door.platform, call, answer, browserOf(door, call.request)),
  )

/** The browser that signs in. `device` is what it claims. */
export const browserOf = (door: Door, request: Request): SigningBrowser => ({
  agent: browserLabel(request.headers.get('user-agent')),
  device: readCookie(door, request, 'device', (value) => readDeviceCookie(door.serverKey, value)),
})

/** The cookies of a new session; the call is noted as the user's. */
export const enteredCookies = (door: Door, call: Call, signedIn: SignedIn): readonly string[] => {
  const { user, sessionToken, newDevice, way } = signedIn
  call.notes.userId = user.id
  door.platform.observe.issued('session')
  return [
    sessionCookie(door, sessionToken),
    ...(newDevice === null
      ? []
      : [setCookie(door, 'device', deviceCookie(door.serverKey, newDevice), deviceLifetimeSeconds)]),
    ...(way === 'oidc' ? [setCookie(door, 'way', way, door.platform.lifetimes.session)] : []),
  ]
}
