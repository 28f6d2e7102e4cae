import { formatIpAddress, type IpAddress, type IpNetwork, isMapped, isWithin, parseIpNetwork } from './ip-address.ts'

/** What a service key may do. No right reaches an operator's account. */
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
export type ServiceRight = (typeof serviceRights)[number]

const isServiceRight = (name: string): name is ServiceRight => serviceRights.some((right) => right === name)

/** The named rights in their fixed order, without repeats; null if one does not exist or none is named. */
export const readRights = (names: readonly string[]): readonly ServiceRight[] | null =>
  names.length > 0 && names.every(isServiceRight) ? serviceRights.filter((right) => names.includes(right)) : null

/** Rights from the store, which only gets those that exist. */
export const parseStoredRights = (text: string): readonly ServiceRight[] => text.split(' ').filter(isServiceRight)

/** The most networks of one key. */
export const maximumNetworks = 32

/** The networks in one spelling each, without repeats; null if one is malformed. */
export const readNetworks = (texts: readonly string[]): readonly string[] | null => {
  const networks = texts.map((text) => parseIpNetwork(text))
  return networks.includes(null)
    ? null
    : [...new Set(networks.flatMap((each) => (each === null ? [] : [formatNetwork(each)])))]
}

const formatNetwork = ({ address, prefix }: IpNetwork): string =>
  `${formatIpAddress(address)}/${isMapped(address) ? prefix - 96 : prefix}`

/** Whether a key works from the address (null: unknown). A key without networks works from everywhere. */
export const isFromNetworks = (stored: string, address: IpAddress | null): boolean => {
  if (stored === '') return true
  return address !== null && stored.split(' ').some((text) => isInNetwork(text, address))
}

const isInNetwork = (text: string, address: IpAddress): boolean => {
  const network = parseIpNetwork(text)
  return network !== null && isWithin(address, network)
}

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
