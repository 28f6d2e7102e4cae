import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/** An address as IPv6; IPv4 stands in its IPv4-mapped place (RFC 4291 section 2.5.5.2). */
export type IpAddress = ipaddr.IPv6

/** A network: all addresses that share the first `prefix` of 128 bits with its own address, whose other bits are 0. */
export type IpNetwork = { readonly address: IpAddress; readonly prefix: number }

/** Whether it is an IPv4 address, or an IPv6 one that stands for it. */
export const isMapped = (address: IpAddress): boolean => address.isIPv4MappedAddress()

/** The longest spelling: eight groups, the last two as dotted IPv4. */
const maximumLength = 45

/** The address; null for any other text, also with a zone, a port, brackets, or leading zeros in IPv4. */
export const parseIpAddress = (text: string): IpAddress | null => {
  if (text.length > maximumLength || text.includes('%')) return null
  if (!text.includes(':')) return parseV4(text)
  const groups = withoutDots(text)
  return groups !== null && IPv6.isValid(groups) ? IPv6.parse(groups) : null
}

const withPort = /^(?:(?<v4>[\d.]+):|\[(?<v6>[\da-f:.]+)\](?::|$))(?<port>\d{1,5})?$/i

/**
 * The address in `a.b.c.d:port`, `[v6]:port` or `[v6]`, as proxies write it into X-Forwarded-For; any other text as it is. IPv6
 * without brackets has no port: nothing tells it from a last group.
 */
export const addressWithoutPort = (text: string): string => {
  const { v4, v6, port } = withPort.exec(text)?.groups ?? {}
  if (Number(port ?? 0) > 65_535 || text.endsWith(':')) return text
  // Brackets are for IPv6 alone (RFC 3986 section 3.2.2).
  return v4 ?? (v6?.includes(':') === true ? v6 : text)
}

const parseV4 = (text: string): IpAddress | null =>
  IPv4.isValidFourPartDecimal(text) ? IPv4.parse(text).toIPv4MappedAddress() : null

/** The parser would read hexadecimal and octal numbers in a dotted end, and `::1.2.3.4` as `::ffff:1.2.3.4`. */
const withoutDots = (text: string): string | null => {
  const start = text.lastIndexOf(':') + 1
  const end = text.slice(start)
  if (!end.includes('.')) return text
  const mapped = parseV4(end)
  return mapped === null ? null : text.slice(0, start) + mapped.toString().slice('::ffff:'.length)
}

/** `10.0.0.0/8`, `2001:db8::/32`, or one address. */
export const parseIpNetwork = (text: string): IpNetwork | null => {
  const slash = text.indexOf('/')
  const address = parseIpAddress(slash === -1 ? text : text.slice(0, slash))
  if (address === null) return null
  const width = text.includes(':') ? 128 : 32
  const length = slash === -1 ? String(width) : text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > width) return null
  const prefix = Number(length) + 128 - width
  return { address: firstBits(address, prefix), prefix }
}

/** One spelling per network, which `parseIpNetwork` reads as the same one. One that is wider than IPv4 is written as IPv6. */
export const formatIpNetwork = ({ address, prefix }: IpNetwork): string =>
  `${formatIpAddress(address)}/${isMapped(address) ? prefix - 96 : prefix}`

/** With the first 96 bits of an IPv4-mapped address, or it is none any more. */
const firstBits = ({ parts }: IpAddress, prefix: number): IpAddress =>
  new IPv6(parts.map((part, index) => part & (0xffff << Math.min(16, Math.max(0, (index + 1) * 16 - prefix))) & 0xffff))

/** Whether the address belongs to the network. */
export const isWithin = (address: IpAddress, network: IpNetwork): boolean =>
  address.match(network.address, network.prefix)

/** Whether all of IPv4 belongs to it, however it is written. */
export const containsIpv4 = ({ address, prefix }: IpNetwork): boolean =>
  prefix <= 96 && IPv4.parse('0.0.0.0').toIPv4MappedAddress().match(address, prefix)

/** One spelling per address: dotted IPv4, also for a mapped one, and IPv6 as RFC 5952 has it. */
export const formatIpAddress = (address: IpAddress): string =>
  (isMapped(address) ? address.toIPv4Address() : address).toString()

/** What a limit counts by: the address itself for IPv4, and for IPv6 its /64, since a host has all of that. */
export const limitKeyOf = (address: IpAddress): string =>
  isMapped(address) ? formatIpAddress(address) : firstGroups(address, 4)

/** The network that is likely one customer's: the /24 of an IPv4 address, the /48 of an IPv6 one; other text as it is. */
export const networkKeyOf = (text: string): string => {
  const address = parseIpAddress(text)
  if (address === null) return text
  if (!isMapped(address)) return firstGroups(address, 3)
  return `${address.toIPv4Address().octets.slice(0, 3).join('.')}.0/24`
}

const firstGroups = ({ parts }: IpAddress, count: number): string =>
  `${new IPv6(parts.map((part, index) => (index < count ? part : 0))).toString()}/${count * 16}`

/** Why an address must not be called. */
type AddressFault = 'malformed' | 'mapped' | 'not_public'

const networks = (...texts: readonly string[]): readonly IpNetwork[] =>
  texts.map((text) => {
    const network = parseIpNetwork(text)
    if (network === null) throw new TypeError(`${text} is not a network`)
    return network
  })

/** The special addresses of IPv4 (RFC 6890), and internal services of clouds on public addresses. */
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
  '192.88.99.0/24', // relays of 6to4, which forward anywhere
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and the broadcast address
)

/** Global unicast of IPv6 (RFC 4291 section 2.4). Private, link-local, NAT64 and multicast addresses are outside. */
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
 * Why this address, as a resolver or a URL without brackets writes it, must not be called; null when it may be. An address
 * in an allowed network always may. IPv4 written as IPv6 never may: no correct resolver writes addresses that way.
 */
export const addressFault = (text: string, allowed: readonly IpNetwork[]): AddressFault | null => {
  const address = parseIpAddress(text)
  if (address === null) return 'malformed'
  if (text.includes(':') && isMapped(address)) return 'mapped'
  if (allowed.some((network) => isWithin(address, network))) return null
  return isPublic(address) ? null : 'not_public'
}

/** Whether the host of a URL or of a setting is this machine. Names below localhost are not: some resolvers ask the network for them. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || isThisMachine(host.replace(/^\[(.*)\]$/, '$1'))

/** Whether the text is an address that a machine has for itself. */
export const isThisMachine = (text: string): boolean => {
  const address = parseIpAddress(text)
  return address !== null && thisMachine.some((network) => isWithin(address, network))
}
export const thisMachine = ['127.0.0.0/8', '::1/128'].map(parseIpNetwork).filter((network) => network !== null)
