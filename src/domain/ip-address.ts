/** An address as sixteen bytes; IPv4 stands in its IPv4-mapped place (RFC 4291 section 2.5.5.2). */
export type IpAddress = readonly number[]

/** A network: all addresses that share the first `prefix` of 128 bits with it. */
export type IpNetwork = { readonly address: IpAddress; readonly prefix: number }

const mappedPrefix: IpAddress = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** Whether it is an IPv4 address, or an IPv6 one that stands for it. */
export const isMapped = (address: IpAddress): boolean => mappedPrefix.every((byte, index) => address[index] === byte)

const parseV4 = (text: string): IpAddress | null => {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  // No leading zeros: some read them as octal, and one address must have one spelling.
  if (!parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null
  return parts.map(Number)
}

const parseGroups = (text: string): number[] | null => {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const tail = index === groups.length - 1 ? parseV4(group) : null
      if (tail === null) return null
      bytes.push(...tail)
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    }
  }
  return bytes
}

const parseV6 = (text: string): IpAddress | null => {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const head = parseGroups(halves[0] ?? '')
  const tail = halves[1] === undefined ? [] : parseGroups(halves[1])
  if (head === null || tail === null) return null
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return null
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

/** The address, or null for anything that is not plainly one: no zone, no port, no brackets. */
export const parseIpAddress = (text: string): IpAddress | null => {
  if (text.length > 45) return null
  if (text.includes(':')) return parseV6(text)
  const v4 = parseV4(text)
  return v4 === null ? null : [...mappedPrefix, ...v4]
}

/** `10.0.0.0/8`, `2001:db8::/32`, or one address. */
export const parseIpNetwork = (text: string): IpNetwork | null => {
  const slash = text.indexOf('/')
  const address = parseIpAddress(slash === -1 ? text : text.slice(0, slash))
  if (address === null) return null
  const width = text.includes(':') ? 128 : 32
  const length = slash === -1 ? String(width) : text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > width) return null
  return { address, prefix: Number(length) + 128 - width }
}

/** Whether the address belongs to the network; both are read as IPv6, IPv4 in its mapped form. */
export const isWithin = (address: IpAddress, network: IpNetwork): boolean => {
  for (let bits = network.prefix, index = 0; bits > 0; bits -= 8, index += 1) {
    const mask = bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff
    if (((address[index] ?? 0) & mask) !== ((network.address[index] ?? 0) & mask)) return false
  }
  return true
}

/** One spelling per address: dotted IPv4, also for a mapped one, and IPv6 as RFC 5952 has it. */
export const formatIpAddress = (address: IpAddress): string => {
  if (isMapped(address)) return address.slice(12).join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((address[index * 2] ?? 0) << 8) | (address[index * 2 + 1] ?? 0)).toString(16),
  )
  const gap = longestZeros(groups)
  if (gap.length < 2) return groups.join(':')
  return `${groups.slice(0, gap.start).join(':')}::${groups.slice(gap.start + gap.length).join(':')}`
}

const longestZeros = (groups: readonly string[]): { start: number; length: number } => {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0
    while (groups[start + length] === '0') length += 1
    if (length > best.length) best = { start, length }
  }
  return best
}

/** What a limit counts by: the address itself for IPv4, for IPv6 its /64, for a host owns that whole. */
export const limitKeyOf = (address: IpAddress): string =>
  isMapped(address)
    ? formatIpAddress(address)
    : `${formatIpAddress([...address.slice(0, 8), ...Array.from({ length: 8 }, () => 0)])}/64`

/** The network that is likely one customer's: the /24 of an IPv4 address, the /48 of an IPv6 one; other text as it is. */
export const networkKeyOf = (text: string): string => {
  const address = parseIpAddress(text)
  if (address === null) return text
  const [kept, length] = isMapped(address) ? [15, 24] : [6, 48]
  return `${formatIpAddress(address.map((byte, index) => (index < kept ? byte : 0)))}/${length}`
}
