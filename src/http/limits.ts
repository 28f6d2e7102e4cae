import { refuse } from '../domain/errors.ts'
import type { Door } from './door.ts'
import type { RateLimitPolicy, RateLimitState } from './rate-limit.ts'
import type { Call } from './call.ts'

/**
 * Takes one call from a share and shows the rest on the answer.
 * @throws rate_limited when nothing is left
 */
export const takeShare = (door: Door, call: Call, policy: RateLimitPolicy, key: string): void => {
  showShare(call, door.limiter.take(policy, key))
}

/**
 * Shows where a share stands on the answer.
 * @throws rate_limited when nothing is left
 */
export const showShare = (call: Call, decision: RateLimitState): void => {
  call.rateLimit = decision
  hold(call, decision)
}

/** The answer to a refusal tells of the limit that refused. */
export const hold = (call: Call, decision: RateLimitState): void => {
  if (decision.allowed) return
  call.rateLimit = decision
  throw refuse('rate_limited', { retryAfterSeconds: decision.resetSeconds })
}

/**
 * Counts a refused credential of a client at an address; with an empty client ID, of the address alone.
 * @throws rate_limited when there have been too many
 */
export const takeFailure = (door: Door, call: Call, clientId: string): void => {
  hold(call, door.limiter.take('failed', clientKey(call, clientId)))
}

/** One fewer under the key; a key that nobody is left under is forgotten. */
export const leave = (counts: Map<string, number>, key: string): void => {
  const left = (counts.get(key) ?? 1) - 1
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}

/** A key of bounded length, whatever came as client ID. */
export const clientKey = (call: Call, clientId: string): string => `${clientId.slice(0, 64)} ${call.addressKey}`
