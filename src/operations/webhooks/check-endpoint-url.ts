import { webhookUrlFault } from '../../domain/registered-url.ts'
import { badInput } from '../bad-input.ts'
import type { Platform } from '../platform.ts'

/**
 * Refuses a URL that an endpoint cannot have, for how it is written or for where it leads now.
 * @throws invalid_request
 */
export const checkEndpointUrl = async (platform: Platform, url: string): Promise<void> => {
  const fault = webhookUrlFault(url)
  if (fault !== null) throw badInput('url', fault)
  const wrong = await platform.webhooks.check(url)
  if (wrong !== null) throw badInput('url', placeFaults[wrong])
}

/** Says nothing of what is behind the address: whoever registers must not learn from it what is inside. */
const placeFaults = {
  address_refused: 'This host has an address that webhooks do not call: it is private, reserved or of this machine.',
  not_resolved: 'This host name has no address.',
  timed_out: 'This host name could not be looked up in time. Try it again.',
} as const
