import { type InstallApprovalRule, installApprovalRules } from './domain/install.ts'
import { type IpNetwork, parseIpAddress, parseIpNetwork } from './domain/ip-address.ts'
import { type Lifetimes, maximumLifetimes } from './domain/lifetimes.ts'
import { defaultRateLimits, type RateLimit, type RateLimitPolicy, type RateLimits } from './domain/rate-limits.ts'

/** What the server was told to be. */
export type Config = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly databasePath: string
  /** The origin that clients see, without a trailing slash. Null: `http://localhost` and the port that is taken. */
  readonly publicUrl: string | null
  readonly trustedProxies: readonly IpNetwork[]
  /** Null: off. */
  readonly rateLimits: RateLimits | null
  /** A request that could not begin for so long is turned away. Null: all begin at once. */
  readonly longestWaitMs: number | null
  readonly lifetimes: Lifetimes
  /** Networks that webhooks may call although they are not public. */
  readonly webhookNetworks: readonly IpNetwork[]
  readonly installApproval: InstallApprovalRule
  /** Sentences for the operator about what is allowed and probably not meant. */
  readonly warnings: readonly string[]
}

/** Flags of the command line as they were typed; they win over the environment. */
export type ConfigFlags = {
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly database?: string | undefined
  readonly publicUrl?: string | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this program, for the settings of commands that are told them there. */
export const programEnvironment = (): Environment => process.env

/** Everything that is wrong with the settings. Each fault is a sentence that names its setting and never repeats a value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
  }
}

/** A setting as it was found: which name the operator knows it by, and its text. */
type Setting = { readonly name: string; readonly text: string }
type Faults = string[]

/**
 * Flags over environment over defaults.
 * @throws ConfigError with all faults at once
 */
export const readConfig = (flags: ConfigFlags, env: Environment = process.env): Config => {
  const faults: Faults = []
  const find = finder(flags, env, faults)
  const host = readHost(find('HOST', '--host', 'host'), faults)
  const publicUrl = readPublicUrl(find('PUBLIC_URL', '--public-url', 'publicUrl'), faults)
  const config: Config = {
    host,
    port: readPort(find('PORT', '--port', 'port'), faults),
    databasePath: readDatabasePath(find('DATABASE_URL', '--database', 'database'), faults),
    publicUrl,
    trustedProxies: readNetworks(find('TRUSTED_PROXIES'), faults),
    webhookNetworks: readNetworks(find('WEBHOOK_ALLOWED_NETWORKS'), faults),
    rateLimits: readRateLimits(find, faults),
    longestWaitMs: readLongestWait(find('LONGEST_WAIT_MS'), faults),
    lifetimes: readLifetimes(find, faults),
    installApproval: readInstallApproval(find('INSTALL_APPROVAL'), faults),
    warnings: warningsAbout(publicUrl),
  }
  faults.push(...unknownNames(env))
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

const finder =
  (flags: ConfigFlags, env: Environment, faults: Faults) =>
  (variable: string, flag?: string, key?: keyof ConfigFlags): Setting | null => {
    const flagged = key === undefined ? undefined : flags[key]
    const name = flagged === undefined ? variable : (flag ?? variable)
    const text = flagged ?? env[variable]
    if (text === undefined) return null
    if (text.trim() !== '') return { name, text }
    faults.push(`${name} is empty. Leave it out to use the default.`)
    return null
  }

type Find = ReturnType<typeof finder>

/** A whole number without sign, point or exponent; null when it is not one or not within the bounds. */
const wholeNumber = (text: string, least: number, most: number): number | null => {
  if (!/^\d{1,9}$/.test(text)) return null
  const value = Number(text)
  return value >= least && value <= most ? value : null
}

const readPort = (setting: Setting | null, faults: Faults): number => {
  if (setting === null) return 3000
  const port = wholeNumber(setting.text, 0, 65_535)
  if (port === null) faults.push(`${setting.name} must be a whole number from 0 to 65535.`)
  return port ?? 0
}

const readHost = (setting: Setting | null, faults: Faults): string => {
  if (setting === null) return '127.0.0.1'
  const isName = /^[A-Za-z0-9._-]{1,253}$/.test(setting.text)
  if (!isName && parseIpAddress(setting.text) === null) {
    faults.push(`${setting.name} must be an IP address or a host name, without a port.`)
  }
  return setting.text
}

/** Where the database is when nobody has said so. */
export const defaultDatabasePath = './data/app-platform.db'

const readDatabasePath = (setting: Setting | null, faults: Faults): string => {
  if (setting === null) return defaultDatabasePath
  const { name, text } = setting
  const path = text.startsWith('file:') ? pathOfFileUrl(text) : text
  if (path === null || path === '' || path.includes('\0') || path === ':memory:' || path.endsWith('/')) {
    faults.push(`${name} must be a file: URL without host, query and fragment, or the path of a file.`)
    return ''
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    faults.push(`${name} must name a SQLite file; other databases are not supported.`)
  }
  return path
}

/** `file:./data/x.db` and `file:x.db` are relative, `file:/x.db` and `file:///x.db` absolute. */
const pathOfFileUrl = (url: string): string | null => {
  const rest = url.slice('file:'.length)
  if (/[?#]/.test(rest)) return null
  if (rest.startsWith('//') && !rest.startsWith('///')) return null
  try {
    return decodeURIComponent(rest.startsWith('///') ? rest.slice(2) : rest)
  } catch {
    return null
  }
}

const readPublicUrl = (setting: Setting | null, faults: Faults): string | null => {
  if (setting === null) return null
  const url = URL.parse(setting.text)
  const isOrigin = url !== null && /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(setting.text)
  if (isOrigin) return url.origin
  faults.push(`${setting.name} must be an origin such as https://apps.example.com: no path, query, fragment or user.`)
  return null
}

const warningsAbout = (publicUrl: string | null): readonly string[] => {
  if (publicUrl === null || publicUrl.startsWith('https:')) return []
  const { hostname } = new URL(publicUrl)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
  return isLoopback ? [] : ['PUBLIC_URL is plain HTTP on a host that is not this machine: tokens travel unencrypted.']
}

const readNetworks = (setting: Setting | null, faults: Faults): readonly IpNetwork[] => {
  if (setting === null) return []
  const networks = setting.text.split(',').map((part) => parseIpNetwork(part.trim()))
  const valid = networks.filter((network) => network !== null)
  if (valid.length < networks.length) {
    faults.push(`${setting.name} must be a comma-separated list of IP addresses and networks such as 10.0.0.0/8.`)
  }
  return valid
}

const rateLimitNames = {
  token: 'RATE_LIMIT_TOKEN',
  failed: 'RATE_LIMIT_FAILED',
  authorize: 'RATE_LIMIT_AUTHORIZE',
  read: 'RATE_LIMIT_READ',
  write: 'RATE_LIMIT_WRITE',
  sign_in: 'RATE_LIMIT_SIGN_IN',
  address: 'RATE_LIMIT_ADDRESS',
} as const satisfies Readonly<Record<RateLimitPolicy, string>>

const readRateLimits = (find: Find, faults: Faults): RateLimits | null => {
  const limit = (policy: RateLimitPolicy): RateLimit => readRateLimit(find(rateLimitNames[policy]), policy, faults)
  const limits: RateLimits = {
    token: limit('token'),
    failed: limit('failed'),
    authorize: limit('authorize'),
    read: limit('read'),
    write: limit('write'),
    sign_in: limit('sign_in'),
    address: limit('address'),
  }
  const setting = find('RATE_LIMIT')
  if (setting === null || setting.text === 'on') return limits
  if (setting.text !== 'off') faults.push(`${setting.name} must be on or off.`)
  return null
}

const readRateLimit = (setting: Setting | null, policy: RateLimitPolicy, faults: Faults): RateLimit => {
  const fallback = defaultRateLimits[policy]
  if (setting === null) return fallback
  const [first = '', second = '', ...more] = setting.text.split('/')
  const count = wholeNumber(first, 1, 1_000_000)
  const seconds = wholeNumber(second, 1, 86_400)
  if (count !== null && seconds !== null && more.length === 0) return { count, seconds }
  const { name } = setting
  faults.push(
    `${name} must be count/seconds such as ${fallback.count}/${fallback.seconds}: 1 to 1000000 in 1 to 86400.`,
  )
  return fallback
}

const readLongestWait = (setting: Setting | null, faults: Faults): number | null => {
  if (setting === null) return 2_000
  if (setting.text === 'off') return null
  const milliseconds = wholeNumber(setting.text, 1, 60_000)
  if (milliseconds === null) faults.push(`${setting.name} must be off or whole milliseconds from 1 to 60000.`)
  return milliseconds
}

const lifetimeNames = {
  code: 'LIFETIME_CODE',
  appToken: 'LIFETIME_APP_TOKEN',
  accessToken: 'LIFETIME_ACCESS_TOKEN',
  refreshToken: 'LIFETIME_REFRESH_TOKEN',
  session: 'LIFETIME_SESSION',
  installSessionCode: 'LIFETIME_INSTALL_SESSION_CODE',
  embeddedSession: 'LIFETIME_EMBEDDED_SESSION',
} as const satisfies Record<keyof Lifetimes, string>

const readLifetimes = (find: Find, faults: Faults): Lifetimes => {
  const lifetime = (kind: keyof typeof lifetimeNames): number => {
    const setting = find(lifetimeNames[kind])
    if (setting === null) return maximumLifetimes[kind]
    const seconds = wholeNumber(setting.text, 1, maximumLifetimes[kind])
    if (seconds === null) {
      faults.push(
        `${setting.name} must be whole seconds from 1 to ${maximumLifetimes[kind]}: it may shorten, not lengthen.`,
      )
    }
    return seconds ?? maximumLifetimes[kind]
  }
  return {
    code: lifetime('code'),
    appToken: lifetime('appToken'),
    accessToken: lifetime('accessToken'),
    refreshToken: lifetime('refreshToken'),
    session: lifetime('session'),
    installSessionCode: lifetime('installSessionCode'),
    embeddedSession: lifetime('embeddedSession'),
  }
}

const readInstallApproval = (setting: Setting | null, faults: Faults): InstallApprovalRule => {
  if (setting === null) return 'manual'
  const rule = installApprovalRules.find((name) => name === setting.text)
  if (rule === undefined) faults.push(`${setting.name} must be manual or automatic.`)
  return rule ?? 'manual'
}

/** A misspelt limit would otherwise silently be its default. */
const unknownNames = (env: Environment): readonly string[] => {
  const known = new Set<string>(['RATE_LIMIT', ...Object.values(rateLimitNames), ...Object.values(lifetimeNames)])
  return Object.keys(env)
    .filter((name) => (name.startsWith('RATE_LIMIT') || name.startsWith('LIFETIME_')) && !known.has(name))
    .map((name) => `${name} is not a setting. Is it misspelt?`)
}
