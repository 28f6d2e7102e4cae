import { browserLabel, deviceCookie, deviceLifetimeSeconds, readDeviceCookie } from '../domain/device.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { RowKey } from '../domain/identifier.ts'
import { networkKeyOf } from '../domain/ip-address.ts'
import type { Platform } from '../operations/platform.ts'
import { findKnownDevice, signIn } from '../operations/sessions/sign-in.ts'
import type { Door } from './door.ts'
import { hold, leave, takeShare } from './limits.ts'
import type { Call } from './call.ts'
import { readCookie, sessionCookie, setCookie } from './session-cookie.ts'

/** Sign-ins of one address that may be checked at the same time: hashing is slow, and all callers share its line. */
const signInsAtOnce = 4

type SignInCaller = {
  readonly email: string
  /** The key by which the server knows the caller, read after the limits; null if it does not. */
  readonly knownAs: () => Promise<string | null>
}

/**
 * Runs a sign-in unless this account at this address, or this address with made-up accounts, has failed too often. The try is
 * counted before and given back on success, so that parallel guesses cannot pass together. One address has few places in the
 * line for hashing, so that it cannot fill the line for others. The work gets a platform that checks passwords at this
 * caller's place in that line.
 * @throws rate_limited, and what the work throws
 */
export const withSignInLimit = async <T>(
  door: Door,
  call: Call,
  { email, knownAs }: SignInCaller,
  work: (platform: Platform) => Promise<T>,
): Promise<T> => {
  const account = email.toLowerCase().slice(0, 254)
  const key = `${account} ${call.addressKey}`
  const addressKey = `sign-in ${call.addressKey}`
  hold(call, door.limiter.peek('failed', addressKey)) // first, so that a try refused here does not count against the account
  takeShare(door, call, 'sign_in', key)
  const waiting = door.signingIn.get(call.addressKey) ?? 0
  if (waiting >= signInsAtOnce) {
    door.limiter.giveBack('sign_in', key)
    throw refuse('rate_limited', { retryAfterSeconds: 1 })
  }
  door.signingIn.set(call.addressKey, waiting + 1)
  try {
    const { platform } = door
    const place = { network: networkKeyOf(call.address), account, knownAs: await knownAs() }
    const result = await work({ ...platform, passwords: platform.passwords.inLineAs(place) })
    door.limiter.giveBack('sign_in', key)
    return result
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) {
      door.platform.observe.refused('session')
      hold(call, door.limiter.take('failed', addressKey))
    } else {
      door.limiter.giveBack('sign_in', key)
    }
    throw error
  } finally {
    leave(door.signingIn, call.addressKey)
  }
}

/**
 * Signs a person in, within the limits, and returns the cookies to set. A browser in which this user has signed in before has its
 * own place in the line for hashing; its cookie gives no access.
 * @throws rate_limited, unavailable, invalid_login
 */
export const signInHere = async (
  door: Door,
  call: Call,
  credentials: { readonly email: string; readonly password: string },
) => {
  const { email } = credentials
  const agent = browserLabel(call.request.headers.get('user-agent'))
  let device: RowKey | null = null
  const knownAs = async () => (device = await findKnownDevice(door.platform, deviceOf(door, call.request), email))
  const signedIn = await withSignInLimit(
    door,
    call,
    { email, knownAs },
    async (platform) => await signIn(platform, call, credentials, { agent, device }),
  )
  call.notes.userId = signedIn.user.id
  door.platform.observe.issued('session')
  const session = sessionCookie(door, signedIn.sessionToken, door.platform.lifetimes.session)
  const { newDevice } = signedIn
  if (newDevice === null) return { ...signedIn, cookies: [session] }
  const known = setCookie(door, 'device', deviceCookie(door.serverKey, newDevice), deviceLifetimeSeconds)
  return { ...signedIn, cookies: [session, known] }
}

const deviceOf = (door: Door, request: Request): RowKey | null => {
  const cookie = readCookie(door, request, 'device')
  return cookie === null ? null : readDeviceCookie(door.serverKey, cookie)
}
