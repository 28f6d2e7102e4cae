import { type IpNetwork, formatIpAddress, isWithin, limitKeyOf, parseIpAddress } from '../domain/ip-address.ts'

/** Where a request came from, and the name that limits count it by. */
export type ClientAddress = { readonly address: string; readonly limitKey: string }

/** `forwardedFor` is read only behind a trusted proxy. */
export type ClientAddressReader = (peer: string | undefined, forwardedFor: () => string | null) => ClientAddress

const unknown: ClientAddress = { address: 'unknown', limitKey: 'unknown' }

/** A header longer than any chain of proxies is not read to its end. */
const maximumHops = 32

const rememberedPeers = 4096

/**
 * The peer, unless it is a trusted proxy: then the nearest address in X-Forwarded-For that is not one. Whatever else the
 * header says was written by someone who is not trusted. An entry that is no address stops the walk at the last hop known.
 */
export const createClientAddressReader = (trustedProxies: readonly IpNetwork[]): ClientAddressReader => {
  const peers = new Map<string, { readonly client: ClientAddress; readonly trusted: boolean }>()
  const isTrusted = (address: readonly number[]) => trustedProxies.some((network) => isWithin(address, network))

  const describe = (text: string): { readonly client: ClientAddress; readonly trusted: boolean } => {
    const parsed = parseIpAddress(text)
    if (parsed === null) return { client: unknown, trusted: false }
    const client = { address: formatIpAddress(parsed), limitKey: limitKeyOf(parsed) }
    return { client, trusted: isTrusted(parsed) }
  }

  const describePeer = (peer: string) => {
    const known = peers.get(peer)
    if (known !== undefined) return known
    if (peers.size >= rememberedPeers) peers.clear()
    const described = describe(peer)
    peers.set(peer, described)
    return described
  }

  const walk = (proxy: ClientAddress, forwardedFor: string): ClientAddress => {
    let nearest = proxy
    for (const hop of forwardedFor.split(',').slice(-maximumHops).toReversed()) {
      const { client, trusted } = describe(hop.trim())
      if (client === unknown) return nearest
      nearest = client
      if (!trusted) return nearest
    }
    return nearest
  }

  return (peer, forwardedFor) => {
    if (peer === undefined) return unknown
    const { client, trusted } = describePeer(peer)
    if (!trusted) return client
    const header = forwardedFor()
    return header === null ? client : walk(client, header)
  }
}
