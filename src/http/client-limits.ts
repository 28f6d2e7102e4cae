import { type ErrorCode, PlatformError } from '../domain/errors.ts'
import { isClient } from '../operations/credentials/list-credentials.ts'
import type { TokenKind } from '../operations/platform.ts'
import type { Door } from './door.ts'
import { clientKey, hold, leave, showShare, takeFailure, takeShare } from './limits.ts'
import type { Call } from './call.ts'

/**
 * Runs a call that a client authenticates in its body: within the share of this client at this address, and not at
 * all while too many of its secrets were refused. The address is part of both keys, so that nobody locks an app
 * out by its public client ID.
 * @throws rate_limited, and what the work throws
 */
export const withClientLimits = async <T>(
  door: Door,
  call: Call,
  clientId: string,
  kind: TokenKind,
  work: () => Promise<T>,
): Promise<T> => {
  takeShare(door, call, 'token', clientKey(call, clientId))
  return await unlessRefusedTooOften(door, call, clientId, kind, work)
}

/**
 * Likewise for a code or refresh token that a client presents with its secret. Whether that is any good is up to the
 * users of the client and to whoever sends codes to its callback: so one that is refused costs no share, not even while
 * it is being checked, and refusals only delay the next ones.
 * @throws rate_limited, and what the work throws
 */
export const withGrantLimits = async <T>(
  door: Door,
  call: Call,
  clientId: string,
  kind: TokenKind,
  work: () => Promise<T>,
): Promise<T> => {
  const key = clientKey(call, clientId)
  showShare(call, door.limiter.peek('token', key))
  try {
    const issued = await unlessRefusedTooOften(door, call, clientId, kind, work)
    showShare(call, door.limiter.charge('token', key))
    return issued
  } catch (error) {
    if (isRefusal(error, 'invalid_grant')) await delayRefusal(door, key)
    else if (!isRefusal(error, 'rate_limited')) door.limiter.charge('token', key)
    throw error
  }
}

const unlessRefusedTooOften = async <T>(
  door: Door,
  call: Call,
  clientId: string,
  kind: TokenKind,
  work: () => Promise<T>,
): Promise<T> => {
  hold(call, door.limiter.peek('failed', clientKey(call, clientId)))
  const ofAddress = door.limiter.peek('failed', clientKey(call, ''))
  if (!ofAddress.allowed && !(await isClient(door.platform, clientId))) hold(call, ofAddress)
  try {
    return await work()
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) {
      door.platform.observe.refused(kind)
      // Pages in frames have no secret: there, the code is the credential that was refused.
      if (error.code === 'invalid_client' || kind === 'install_session_code') takeFailure(door, call, clientId)
      // Client IDs can be made up without end: they count together, and cost no real client at this address anything.
      if (!(await isClient(door.platform, clientId))) takeFailure(door, call, '')
    }
    throw error
  }
}

const isRefusal = (error: unknown, code: ErrorCode): boolean => error instanceof PlatformError && error.code === code

const longestDelayMs = 1_000
/** A shorter one slows nobody down. */
const leastDelayMs = 20
/** Refusals that wait for one client at one address: few, because each holds a connection of an honest backend. */
const delayedAtOnce = 8
/** Clients and addresses for which any wait. */
const delayedClients = 128

/**
 * Delays the answer to a refused grant: the longer, the fewer of `RATE_LIMIT_FAILED` are left to refused grants of this
 * client at this address. The decision has been made and stored, so a delay holds nothing but the connection, and its
 * length tells nothing about what was presented. Where too many wait already, the answer is sent at once.
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
