import { type IpAddress, type IpNetwork, isMapped, isWithin, parseIpAddress, parseIpNetwork } from './ip-address.ts'

/** Why an address must not be called. */
type AddressFault = 'malformed' | 'mapped' | 'not_public'

const networks = (...texts: readonly string[]): readonly IpNetwork[] =>
  texts.map((text) => {
    const network = parseIpNetwork(text)
    if (network === null) throw new TypeError(`${text} is not a network`)
    return network
  })

/** What the registry of special addresses (RFC 6890) takes from IPv4, and what clouds have put on a public address. */
const closedV4 = networks(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // carrier-grade NAT (RFC 6598), and the metadata of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the host of a virtual machine in one cloud
  '169.254.0.0/16', // link-local, and the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata of one cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4, which lead anywhere
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and the broadcast address
)

/** All of IPv6 that is routed to everybody (RFC 4291 section 2.4); private, link-local, NAT64 and multicast are outside. */
const openV6 = networks('2000::/3')
const closedV6 = networks(
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: has an IPv4 address inside
  '3fff::/20', // documentation
)

const isPublic = (address: IpAddress): boolean => {
  const isIn = (network: IpNetwork) => isWithin(address, network)
  return isMapped(address) ? !closedV4.some(isIn) : openV6.some(isIn) && !closedV6.some(isIn)
}

/**
 * What forbids calling this address, as a resolver or a URL without brackets writes it; null when nothing does. An address
 * of an allowed network is fine whatever it is. IPv4 written as IPv6 is refused always: nobody needs that spelling.
 */
export const addressFault = (text: string, allowed: readonly IpNetwork[]): AddressFault | null => {
  const address = parseIpAddress(text)
  if (address === null) return 'malformed'
  if (text.includes(':') && isMapped(address)) return 'mapped'
  if (allowed.some((network) => isWithin(address, network))) return null
  return isPublic(address) ? null : 'not_public'
}
