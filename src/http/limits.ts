import { type ErrorCode, PlatformError, refuse } from '../domain/errors.ts'
import type { RateLimitPolicy } from '../domain/limits.ts'
import { isClient } from '../operations/credentials/credentials.ts'
import type { TokenKind } from '../runtime/metrics.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import type { RateLimitState } from './rate-limit.ts'

/**
 * Takes one call from a share and shows what is left in the headers of the answer.
 * @throws rate_limited if nothing is left
 */
export const takeShare = (door: Door, call: Call, policy: RateLimitPolicy, key: string): void => {
  showShare(call, door.limiter.take(policy, key))
}

/**
 * Shows the state of a share in the headers of the answer.
 * @throws rate_limited if nothing is left
 */
const showShare = (call: Call, decision: RateLimitState): void => {
  call.rateLimit = decision
  hold(call, decision)
}

/** Refuses if nothing is left; the answer then shows the limit that refused. */
export const hold = (call: Call, decision: RateLimitState): void => {
  if (decision.allowed) return
  call.rateLimit = decision
  throw refuse('rate_limited', { retryAfterSeconds: decision.resetSeconds })
}

/**
 * Counts a refused credential of a client at an address, by the key of both; without one, of the address alone.
 * @throws rate_limited if there have been too many
 */
export const takeFailure = (door: Door, call: Call, key = clientKey(call, '')): void => {
  hold(call, door.limiter.take('failed', key))
}

/** Counts one fewer under the key, and forgets the key at zero. */
export const leave = (counts: Map<string, number>, key: string): void => {
  const left = (counts.get(key) ?? 1) - 1
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}

/**
 * A key of bounded length, whatever was sent as the client ID. Pages in frames, which name a client without its secret, count by
 * themselves: people who open an app must not use up what its backend may do at the same address.
 */
const clientKey = (call: Call, clientId: string, kind?: TokenKind): string =>
  `${kind === 'install_session_code' ? 'frame ' : ''}${clientId.slice(0, 64)} ${call.addressKey}`

type WithLimits = <T>(door: Door, call: Call, clientId: string, kind: TokenKind, work: () => Promise<T>) => Promise<T>

/**
 * Runs a call that a client authenticates in its body, within the share of this client at this address, unless too many of its
 * secrets were refused. The address is part of both keys, so that nobody can lock an app out by its public client ID.
 * @throws rate_limited, and what the work throws
 */
export const withClientLimits: WithLimits = async (door, call, clientId, kind, work) => {
  const key = clientKey(call, clientId, kind)
  takeShare(door, call, 'token', key)
  const guessing = refuseGuessing(door, call, clientId, key)
  if (guessing !== undefined) await guessing
  try {
    return await work()
  } catch (error) {
    await countRefused(door, call, clientId, kind, error)
    throw error
  }
}

/**
 * Likewise for a code or refresh token that a client presents with its secret. Whether that is valid depends on the client's
 * users and on anyone who sends codes to its callback. So a refused one costs no share, not even while it is checked, and
 * refusals only delay the next ones.
 * @throws rate_limited, and what the work throws
 */
export const withGrantLimits: WithLimits = async (door, call, clientId, kind, work) => {
  const key = clientKey(call, clientId)
  showShare(call, door.limiter.peek('token', key))
  try {
    await refuseGuessing(door, call, clientId, key)
    const issued = await work()
    showShare(call, door.limiter.charge('token', key))
    return issued
  } catch (error) {
    await countRefused(door, call, clientId, kind, error)
    if (isRefusal(error, 'invalid_grant')) await delayRefusal(door, key)
    else if (!isRefusal(error, 'rate_limited')) door.limiter.charge('token', key)
    throw error
  }
}

/** Nothing to wait for in the ordinary case. @throws rate_limited after too many refusals */
const refuseGuessing = (door: Door, call: Call, clientId: string, key: string): Promise<void> | undefined => {
  hold(call, door.limiter.peek('failed', key))
  const ofAddress = door.limiter.peek('failed', clientKey(call, ''))
  return ofAddress.allowed ? undefined : refuseUnknownClient(door, call, clientId, ofAddress)
}

const refuseUnknownClient = async (door: Door, call: Call, clientId: string, ofAddress: RateLimitState) => {
  if (!(await isClient(door.platform, clientId))) hold(call, ofAddress)
}

/** Counts a refused credential. @throws rate_limited if there have been too many */
const countRefused = async (door: Door, call: Call, clientId: string, kind: TokenKind, error: unknown) => {
  if (!(error instanceof PlatformError) || error.status !== 401) return
  door.platform.observe.refused(kind)
  // Pages in frames have no secret: there, the code is the credential that was refused.
  if (error.code === 'invalid_client' || kind === 'install_session_code')
    takeFailure(door, call, clientKey(call, clientId, kind))
  // Anyone can make up client IDs, so unknown ones count together and cost no real client at this address anything.
  if (!(await isClient(door.platform, clientId))) takeFailure(door, call)
}

const isRefusal = (error: unknown, code: ErrorCode): boolean => error instanceof PlatformError && error.code === code

const longestDelayMs = 1_000
/** A shorter delay has no effect. */
const leastDelayMs = 20
/** Refusals that wait for one client at one address. Few, because each holds a connection of an honest backend. */
const delayedAtOnce = 8
/** Clients and addresses that have refusals waiting. */
const delayedClients = 128

/**
 * Delays the answer to a refused grant. The delay grows as this client at this address uses up `RATE_LIMIT_FAILED`. The decision
 * has been made and stored, so only the connection waits, and the delay reveals nothing about what was presented. If too many
 * wait already, the answer is sent at once.
 */
const delayRefusal = async ({ limiter, delayed, draining, sleep }: Door, key: string): Promise<void> => {
  const { remaining } = limiter.take('failed', `grant ${key}`)
  const delayMs = Math.floor(longestDelayMs / (remaining + 1))
  if (delayMs < leastDelayMs || draining()) return
  const waiting = delayed.get(key) ?? 0
  if (waiting >= delayedAtOnce || (waiting === 0 && delayed.size >= delayedClients)) return
  delayed.set(key, waiting + 1)
  try {
    await sleep(delayMs)
  } finally {
    leave(delayed, key)
  }
}
