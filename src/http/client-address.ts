import {
  addressWithoutPort,
  formatIpAddress,
  type IpNetwork,
  isWithin,
  limitKeyOf,
  parseIpAddress,
} from '../domain/ip-address.ts'
import { remembered } from '../domain/remembered.ts'

/** Where a request came from, and the key that limits count it by. */
type ClientAddress = { readonly address: string; readonly limitKey: string }

const unknown: ClientAddress = { address: 'unknown', limitKey: 'unknown' }

/** Longer than any real chain of proxies; the rest of the header is not read. */
const maximumHops = 32

/** Parsed addresses that are kept, since most requests come from few. */
const rememberedAddresses = 4096

/**
 * The peer, unless it is a trusted proxy: then the nearest address in X-Forwarded-For that is not one. Whatever else the
 * header says was written by someone who is not trusted. An entry may have a port and brackets. Anything else ends the walk at
 * the last known hop, and `unreadable` is called the first time: all clients behind that hop now share its address.
 */
export const createClientAddressReader = (trustedProxies: readonly IpNetwork[], unreadable: () => void = () => {}) => {
  let wasUnreadable = false
  /** Only addresses are remembered, because they are short. */
  const describe = remembered(
    rememberedAddresses,
    (text: string) => {
      const parsed = parseIpAddress(text)
      if (parsed === null) return { client: unknown, trusted: false }
      const client = { address: formatIpAddress(parsed), limitKey: limitKeyOf(parsed) }
      return { client, trusted: trustedProxies.some((network) => isWithin(parsed, network)) }
    },
    ({ client }) => client !== unknown,
  )

  const walk = (proxy: ClientAddress, forwardedFor: string): ClientAddress => {
    let nearest = proxy
    for (const hop of forwardedFor.split(',').slice(-maximumHops).toReversed()) {
      const { client, trusted } = describe(addressWithoutPort(hop.trim()))
      if (client === unknown) {
        if (!wasUnreadable) unreadable()
        wasUnreadable = true
        return nearest
      }
      nearest = client
      if (!trusted) return nearest
    }
    return nearest
  }

  /** `forwardedFor` is read only behind a trusted proxy. */
  return (peer: string | undefined, forwardedFor: () => string | null): ClientAddress => {
    if (peer === undefined) return unknown
    const { client, trusted } = describe(peer)
    if (!trusted) return client
    const header = forwardedFor()
    return header === null ? client : walk(client, header)
  }
}
