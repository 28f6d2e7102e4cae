import type { ServiceKey } from '../../../db/database.ts'
import { andThen, type Awaitable } from '../../domain/awaitable.ts'
import { isSecretUseUnrecorded } from '../../domain/credential.ts'
import { recordIdOfKey } from '../../domain/identifier.ts'
import { parseIpAddress } from '../../domain/ip-address.ts'
import { parseSecret } from '../../domain/secret.ts'
import { isFromNetworks, parseStoredRights, type ServiceRight, serviceKeyStatus } from '../../domain/service-key.ts'
import { recordUse } from '../authenticate.ts'
import { findServiceKey } from '../find-token.ts'
import type { Platform, Trace } from '../platform.ts'

/** The builder, by one of its keys. */
export type ServiceCaller = {
  readonly kind: 'service'
  /** The ID of the key, which audit rows name. */
  readonly id: string
  readonly rights: readonly ServiceRight[]
}

/**
 * Null for anything but a live service key that is used from one of its networks. `id`, if the caller names one, must be that
 * of the key.
 */
export const authenticateServiceKey = (
  platform: Platform,
  { address }: Trace,
  text: string,
  { id = null, now = platform.clock.now() }: { readonly id?: string | null; readonly now?: number } = {},
): Awaitable<ServiceCaller | null> => {
  const secret = parseSecret('serviceKey', text)
  if (secret === null) return null
  const keyId = recordIdOfKey('svk_', secret.key)
  if (id !== null && id !== keyId) return null
  return andThen(findServiceKey(platform.database.queries, { key: keyId, hash: secret.hash }), (key) => {
    if (key === null || whyRefused(key, address, now) !== null) return null
    if (isSecretUseUnrecorded(key, now)) void recordUse(platform, key.id, (q) => q.serviceKeys.touch(key.id, now))
    return { kind: 'service', id: key.id, rights: parseStoredRights(key.rights) }
  })
}

/** Why a genuine key is refused, for the audit; null if it is not. */
export const whyRefused = (key: ServiceKey, address: string, now: number): 'ended' | 'suspended' | 'network' | null => {
  const status = serviceKeyStatus(key, now)
  if (status !== 'live') return status
  return isFromNetworks(key.networks, parseIpAddress(address)) ? null : 'network'
}
