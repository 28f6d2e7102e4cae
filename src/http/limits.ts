import { PlatformError, refuse } from '../domain/errors.ts'
import type { Door } from './door.ts'
import type { RateLimitPolicy, RateLimitState } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Takes one call from a share and shows the rest on the answer.
 * @throws rate_limited when nothing is left
 */
export const takeShare = (door: Door, context: RequestContext, policy: RateLimitPolicy, key: string): void => {
  showShare(context, door.limiter.take(policy, key))
}

/**
 * Shows where a share stands on the answer.
 * @throws rate_limited when nothing is left
 */
export const showShare = (context: RequestContext, decision: RateLimitState): void => {
  context.rateLimit = decision
  hold(context, decision)
}

/** The answer to a refusal tells of the limit that refused. */
export const hold = (context: RequestContext, decision: RateLimitState): void => {
  if (decision.allowed) return
  context.rateLimit = decision
  throw refuse('rate_limited', { retryAfterSeconds: decision.resetSeconds })
}

/**
 * Counts a refused credential of a client at an address; with an empty client ID, of the address alone.
 * @throws rate_limited when there have been too many
 */
export const takeFailure = (door: Door, context: RequestContext, clientId: string): void => {
  hold(context, door.limiter.take('failed', clientKey(context, clientId)))
}

/** Sign-ins of one address that may be checked at the same time: hashing is slow, and the line for it is everybody's. */
const signInsAtOnce = 4

/**
 * Runs a sign-in unless this account at this address, or this address with made-up accounts, has failed too often. The
 * try is taken before and given back on success, so that parallel guesses cannot pass together; and one address has
 * few in the line for hashing at a time, so that it cannot fill the line for others.
 * @throws rate_limited, and what the call throws
 */
export const withSignInLimit = async <T>(
  door: Door,
  context: RequestContext,
  email: string,
  call: () => Promise<T>,
): Promise<T> => {
  const key = `${email.toLowerCase().slice(0, 254)} ${context.addressKey}`
  const addressKey = `sign-in ${context.addressKey}`
  hold(context, door.limiter.peek('failed', addressKey)) // first: a try that this refuses costs the account none of its own
  takeShare(door, context, 'sign_in', key)
  const waiting = door.signingIn.get(context.addressKey) ?? 0
  if (waiting >= signInsAtOnce) {
    door.limiter.giveBack('sign_in', key)
    throw refuse('rate_limited', { retryAfterSeconds: 1 })
  }
  door.signingIn.set(context.addressKey, waiting + 1)
  try {
    const result = await call()
    door.limiter.giveBack('sign_in', key)
    return result
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) {
      door.platform.observe.refused('session')
      hold(context, door.limiter.take('failed', addressKey))
    } else {
      door.limiter.giveBack('sign_in', key)
    }
    throw error
  } finally {
    leave(door.signingIn, context.addressKey)
  }
}

/** One fewer under the key; a key that nobody is left under is forgotten. */
export const leave = (counts: Map<string, number>, key: string): void => {
  const left = (counts.get(key) ?? 1) - 1
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}

/** A key of bounded length, whatever came as client ID. */
export const clientKey = (context: RequestContext, clientId: string): string =>
  `${clientId.slice(0, 64)} ${context.addressKey}`
