import { browserLabel, deviceCookie, deviceLifetimeSeconds, readDeviceCookie } from '../domain/device.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { RowKey } from '../domain/identifier.ts'
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

type SignInCaller = {
  /** Whose account it is, in the form in which accounts are found. */
  readonly account: string
  /** The key by which the server knows the caller, read after the limits; null if it does not. */
  readonly knownAs: () => Promise<string | null>
}

/** The account of an address as it was typed. All malformed addresses count together: they have none. */
const accountAt = (email: string): string => normalizeEmail(email) ?? ''

/**
 * Runs a sign-in unless this account at this address, or this address with made-up accounts, has failed too often. The try is
 * counted before and given back on success, so that parallel guesses cannot pass together.
 * @throws rate_limited, and what the work throws
 */
export const withSignInLimit = async <T>(
  door: Door,
  call: Call,
  { account, knownAs }: SignInCaller,
  work: (platform: Platform) => Promise<T>,
): Promise<T> => {
  const key = `${account} ${call.addressKey}`
  const addressKey = `sign-in ${call.addressKey}`
  hold(call, door.limiter.peek('failed', addressKey)) // first, so that a try refused here does not count against the account
  takeShare(door, call, 'sign_in', key)
  try {
    const result = await inLineForHashing(door, call, { account, knownAs }, work)
    door.limiter.giveBack('sign_in', key)
    return result
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) {
      door.platform.observe.refused('sign_in')
      hold(call, door.limiter.take('failed', addressKey))
    } else {
      door.limiter.giveBack('sign_in', key)
    }
    throw error
  }
}

/**
 * Runs work that hashes a password, at this caller's place in the line for it. One address has few places.
 * @throws rate_limited, and what the work throws
 */
export const inLineForHashing = async <T>(
  door: Door,
  call: Call,
  { account, knownAs }: SignInCaller,
  work: (platform: Platform) => Promise<T>,
): Promise<T> => {
  const waiting = door.signingIn.get(call.addressKey) ?? 0
  if (waiting >= hashingAtOnce) throw refuse('rate_limited', { retryAfterSeconds: 1 })
  door.signingIn.set(call.addressKey, waiting + 1)
  try {
    const { platform } = door
    const place = { network: networkKeyOf(call.address), account, knownAs: await knownAs() }
    return await work({ ...platform, passwords: platform.passwords.inLineAs(place) })
  } finally {
    leave(door.signingIn, call.addressKey)
  }
}

/**
 * Asks for a link by mail, within limits for this address at this network and for the network. So nobody elsewhere uses up what
 * the person may ask for.
 * @throws rate_limited, and what the work throws
 */
export const withLinkLimit = async <T>(door: Door, call: Call, email: string, work: () => Promise<T>): Promise<T> => {
  takeShare(door, call, 'sign_in', `link ${accountAt(email)} ${call.addressKey}`)
  hold(call, door.limiter.take('failed', `link ${call.addressKey}`))
  return await work()
}

/**
 * Checks a password, within the limits. A browser in which this user has signed in before has its own place in the line for
 * hashing; its cookie gives no access.
 * @throws rate_limited, unavailable, invalid_login
 */
export const signInHere = async (
  door: Door,
  call: Call,
  credentials: { readonly email: string; readonly password: string },
) => {
  const { email } = credentials
  const browser = browserOf(door, call.request)
  let device: RowKey | null = null
  const knownAs = async () => (device = await findKnownDevice(door.platform, browser.device, email))
  return await withSignInLimit(
    door,
    call,
    { account: accountAt(email), knownAs },
    async (platform) => await signIn(platform, call, credentials, { ...browser, device }),
  )
}

/**
 * Goes on with a second proof, within the limits. Wrong ones count like wrong passwords, and codes of the authenticator app also for the
 * account, at all addresses together: somebody who knows the password must not guess the six digits. Browsers that are known to
 * the user count by themselves, and the others cannot be guessed. So nobody else locks the user out.
 * @throws rate_limited, unavailable, invalid_login
 */
export const finishHere = async (
  door: Door,
  call: Call,
  pending: PendingSignIn,
  proof: SecondProof,
): Promise<SignedIn> => {
  const { email } = pending
  const { agent, device: claimed } = browserOf(door, call.request)
  const device = await findKnownDevice(door.platform, claimed, email)
  const finish = async (platform: Platform) => await finishSignIn(platform, call, pending, proof, { agent, device })
  const key = `code ${pending.userId} ${device ?? ''}`
  const isGuessable = proof.kind === 'code' && readCode(proof.code).kind !== 'recovery'
  if (isGuessable) hold(call, door.limiter.take('code', key))
  try {
    const signedIn = await withSignInLimit(door, call, { account: email, knownAs: async () => device }, finish)
    if (isGuessable) door.limiter.giveBack('code', key)
    return signedIn
  } catch (error) {
    const isWrong = error instanceof PlatformError && error.code === 'invalid_login'
    if (isGuessable && !isWrong) door.limiter.giveBack('code', key)
    throw error
  }
}

/** Signs in with a passkey alone, within the limits of the address. @throws rate_limited, invalid_login */
export const signInWithPasskeyHere = async (door: Door, call: Call, answer: PasskeyAnswer): Promise<SignedIn> => {
  const browser = browserOf(door, call.request)
  // Counted by passkey: who it is, is known when it is checked, and people who share an address must not lock each other out.
  const caller = { account: `passkey ${answer.response.id.slice(0, 254)}`, knownAs: async () => null }
  return await withSignInLimit(
    door,
    call,
    caller,
    async (platform) => await signInWithPasskey(platform, call, answer, browser),
  )
}

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
