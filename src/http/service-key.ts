import { refuse } from '../domain/errors.ts'
import { secretPrefixes } from '../domain/secret.ts'
import type { ServiceRight } from '../domain/service-key.ts'
import { CountedRefusal, settle } from '../operations/decide.ts'
import { authenticateServiceKey, type ServiceCaller } from '../operations/service-keys/authenticate.ts'
import { refuseBearer } from './bearer.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import { readBasicCredentials } from './standard-client.ts'
import { takeShare } from './limits.ts'

/** A service key as it was presented; `id` if the caller names one. */
export type PresentedKey = { readonly id: string | null; readonly secret: string }

/** The service key of a request: as a bearer token, or by HTTP Basic with its ID as the name. Null if there is none. */
export const presentedServiceKey = ({ authorization }: Call): PresentedKey | null => {
  if (authorization.kind === 'none') return null
  if (authorization.kind === 'bearer') {
    const { token } = authorization
    return token.startsWith(secretPrefixes.serviceKey) ? { id: null, secret: token } : null
  }
  const basic = readBasicCredentials(authorization.header)
  return basic !== null && basic.clientId.startsWith('svk_') ? { id: basic.clientId, secret: basic.clientSecret } : null
}

/**
 * The caller behind a service key. A wrong one is audited, and counts against its address if it was never issued.
 * @throws invalid_token, rate_limited
 */
export const requireServiceKey = async (
  door: Door,
  call: Call,
  presented: PresentedKey | null = presentedServiceKey(call),
): Promise<ServiceCaller> => {
  if (presented === null && call.authorization.kind === 'none') throw refuse('invalid_token')
  const { id = null, secret = '' } = presented ?? {}
  const caller = await authenticateServiceKey(door.platform, call, secret, { id, now: call.now })
  if (caller === null) throw await refuseBearer(door, call, refuse('invalid_token'), 'service_key', secret)
  takeShare(door, call, 'management', `${caller.id} ${call.addressKey}`)
  return caller
}

/** The refusal of a call that the key has no right to leaves an audit row. @throws right_missing */
export const requireRight = async (
  { platform }: Door,
  call: Call,
  { id, rights }: ServiceCaller,
  right: ServiceRight,
): Promise<void> => {
  if (rights.includes(right)) return
  const error = refuse('right_missing', { details: { right } })
  const facts = { actor: { kind: 'service', id }, action: 'service_key.use', target: id, detail: { right } } as const
  await settle(platform, call, new CountedRefusal(error, facts), call.now)
}
