import { containsIpv4, formatIpNetwork, type IpAddress, isMapped, isWithin, parseIpNetwork } from './ip-address.ts'

/** What a key of the builder's backend may do. No right reaches an operator's account. */
export const serviceRights = [
  'users:read',
  'users:write',
  'resources:read',
  'resources:write',
  'apps:read',
  'apps:write',
  'installs:read',
  'installs:write',
  'scopes:read',
  'scopes:write',
  'sign-in',
  'tokens:introspect',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
] as const

/** Every right: those, and running commands of operators over the network. */
export const keyRights = [...serviceRights, 'operate'] as const
export type ServiceRight = (typeof keyRights)[number]

const isKeyRight = (name: string): name is ServiceRight => keyRights.some((right) => right === name)

/** The named rights in their fixed order, without repeats; or what is wrong with them. */
export const readRights = (names: readonly string[]) => {
  const unknown = names.findIndex((name) => !isKeyRight(name))
  const fault =
    unknown !== -1
      ? `Right ${unknown + 1} in the list does not exist. There are: ${keyRights.join(', ')}.`
      : names.length === 0
        ? 'Choose at least one right.'
        : null
  return { rights: keyRights.filter((right) => names.includes(right)), fault }
}

/** Rights from the store, which only gets those that exist. */
export const parseStoredRights = (text: string): readonly ServiceRight[] => text.split(' ').filter(isKeyRight)

/** The most networks of one key. */
export const maximumNetworks = 32

/** The networks in one spelling each, without repeats; and the place of the first that is malformed, from 1, or null. */
export const readNetworks = (texts: readonly string[]) => {
  const networks = texts.map((text) => parseIpNetwork(text))
  const wrong = networks.indexOf(null)
  return {
    networks: [...new Set(networks.flatMap((each) => (each === null ? [] : [formatIpNetwork(each)])))],
    wrong: wrong === -1 ? null : wrong + 1,
  }
}

/** Whether a key works from the address (null: unknown). A key without networks works from everywhere. */
export const isFromNetworks = (stored: string, address: IpAddress | null): boolean => {
  if (stored === '') return true
  return address !== null && stored.split(' ').some((text) => isInNetwork(text, address))
}

const isInNetwork = (text: string, address: IpAddress): boolean => {
  const network = parseIpNetwork(text)
  return network !== null && isWithin(address, network)
}

/** The widest network from which a key may operate: an /8 of IPv4 or of IPv6. */
const widestPrefix = 8

/** Whether a network is too wide to say where a key works: wider than an /8, or all of IPv4 among IPv6. */
const isTooWide = (text: string): boolean => {
  const network = parseIpNetwork(text)
  if (network === null || containsIpv4(network)) return true
  return network.prefix - (isMapped(network.address) ? 96 : 0) < widestPrefix
}

/** Whether these networks, in one spelling each, say from where a key may operate. */
export const areNarrow = (networks: readonly string[]): boolean =>
  networks.length > 0 && !networks.some((network) => isTooWide(network))

type ServiceKeyState = {
  readonly revokedAt: number | null
  /** The end that was chosen at creation, or that of the grace period of a rotation. */
  readonly expiresAt: number | null
  readonly suspendedAt: number | null
}

type ServiceKeyStatus = 'live' | 'ended' | 'suspended'

/** `suspended`: its revocation may be among data that was lost, and no operator has confirmed it. `nowMs` is epoch milliseconds. */
export const serviceKeyStatus = (key: ServiceKeyState, nowMs: number): ServiceKeyStatus => {
  if (key.revokedAt !== null || (key.expiresAt !== null && nowMs >= key.expiresAt)) return 'ended'
  return key.suspendedAt === null ? 'live' : 'suspended'
}

/** The longest chosen lifetime of a key, in days. */
export const maximumKeyDays = 3_650
