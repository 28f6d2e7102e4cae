import { readAuditRetention, readLifetimes, readLongestWait, readQuotas, readRateLimits } from './config/limits.ts'
import {
  type ConfigFlags,
  type EnvironmentVariables,
  type Faults,
  type Find,
  readChoice,
  readNumber,
  type Setting,
  settingFinder,
  wholeNumber,
} from './config/setting.ts'
import { misspeltSettings, warningsAbout } from './config/warnings.ts'
import { type InstallApprovalRule, installApprovalRules } from './domain/install.ts'
import { type IpNetwork, parseIpAddress, parseIpNetwork } from './domain/ip-address.ts'
import type { Lifetimes } from './domain/lifetimes.ts'
import type { AuditRetention, Quotas, RateLimits } from './domain/limits.ts'

const logLevels = ['debug', 'info', 'warn', 'error'] as const
const requestLogs = ['all', 'errors', 'none'] as const
type ListenAddress = { readonly host: string; readonly port: number }

/** The settings of the server. */
export type Config = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly databasePath: string
  /** The origin that clients see, without a trailing slash. Null: `http://localhost` with the port of the server. */
  readonly publicUrl: string | null
  readonly trustedProxies: readonly IpNetwork[]
  /** Null: off. */
  readonly rateLimits: RateLimits | null
  /** How long requests wait for their turn when there are too many. Null: all begin at once. */
  readonly longestWaitMs: number | null
  readonly lifetimes: Lifetimes
  /** Private networks that webhooks may call. */
  readonly webhookNetworks: readonly IpNetwork[]
  readonly installApproval: InstallApprovalRule
  /** The name of this platform on its pages. */
  readonly platformName: string
  readonly quotas: Quotas
  readonly auditRetention: AuditRetention
  /** Where the metrics are served on a port of their own. Null: beside the API. */
  readonly metricsListen: ListenAddress | null
  readonly logLevel: (typeof logLevels)[number]
  /** Which requests are logged: all, those answered with 4xx or 5xx, or none. */
  readonly logRequests: (typeof requestLogs)[number]
  /** Sentences for the operator about settings that are allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

/** The environment of this program, for commands that have settings of their own. */
export const programEnvironment = (): EnvironmentVariables => process.env

/** All faults of the settings. Each is a sentence that names its setting and never repeats a value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
  }
}

/**
 * Flags over environment over defaults.
 * @throws ConfigError with all faults at once
 */
export const readConfig = (flags: ConfigFlags, env: EnvironmentVariables = process.env): Config => {
  const faults: Faults = []
  const settings: string[] = [] // every name that is looked for; recorded here so that no second list can differ
  const look = settingFinder(flags, env, faults)
  const find: Find = (name, ...flag) => {
    settings.push(name)
    return look(name, ...flag)
  }
  const config: Omit<Config, 'warnings'> = {
    host: readHost(find('HOST', '--host', 'host'), faults),
    publicUrl: readPublicUrl(find('PUBLIC_URL', '--public-url', 'publicUrl'), faults),
    port: readNumber(find('PORT', '--port', 'port'), faults, { fallback: 3000, least: 0, most: 65_535 }),
    databasePath: readDatabasePath(find('DATABASE_URL', '--database', 'database'), faults),
    trustedProxies: readNetworks(find('TRUSTED_PROXIES'), faults),
    webhookNetworks: readNetworks(find('WEBHOOK_ALLOWED_NETWORKS'), faults),
    rateLimits: readRateLimits(find, faults),
    longestWaitMs: readLongestWait(find, faults),
    lifetimes: readLifetimes(find, faults),
    installApproval: readChoice(find('INSTALL_APPROVAL'), faults, installApprovalRules, 'manual'),
    platformName: readPlatformName(find('PLATFORM_NAME'), faults),
    quotas: readQuotas(find, faults),
    auditRetention: readAuditRetention(find, faults),
    metricsListen: readMetricsListen(find('METRICS_LISTEN'), faults),
    logLevel: readChoice(find('LOG_LEVEL'), faults, logLevels, 'info'),
    logRequests: readChoice(find('LOG_REQUESTS'), faults, requestLogs, 'all'),
  }
  const { port, metricsListen } = config
  if (metricsListen !== null && metricsListen.port === port && port !== 0) {
    faults.push('METRICS_LISTEN must name another port than PORT.')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const warnings = [...warningsAbout(config), ...misspeltSettings(env, settings)]
  return Object.freeze({ ...config, warnings })
}

const readHost = (setting: Setting | null, faults: Faults): string => {
  if (setting === null) return '127.0.0.1'
  const isName = /^[A-Za-z0-9._-]{1,253}$/.test(setting.text)
  if (!isName && parseIpAddress(setting.text) === null) {
    faults.push(`${setting.name} must be an IP address or a host name, without a port.`)
  }
  return setting.text
}

/** Where the database is by default. */
export const defaultDatabasePath = './data/app-platform.db'

const readDatabasePath = (setting: Setting | null, faults: Faults): string => {
  if (setting === null) return defaultDatabasePath
  const { name, text } = setting
  const path = text.startsWith('file:') ? pathOfFileUrl(text) : text
  if (path === null || path === '' || path.includes('\0') || path === ':memory:' || path.endsWith('/')) {
    faults.push(`${name} must be a file: URL without host, query and fragment, or the path of a file.`)
    return ''
  }
  // A settings file keeps quotes and spaces that a shell would remove; they would name another file.
  if (/^[\s"']|[\s"']$/.test(path)) faults.push(`${name} begins or ends with a space or a quotation mark.`)
  else if (/^[a-z][a-z0-9+.-]*:/i.test(path)) {
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
  if (!isOrigin) {
    faults.push(`${setting.name} must be an origin such as https://apps.example.com: no path, query, fragment or user.`)
  } else if (url.port === '0') {
    faults.push(`${setting.name} must name the port that clients call; port 0 cannot be called.`)
  } else {
    return url.origin
  }
  return null
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

/** The name that people see; 1 to 60 characters on one line. */
const readPlatformName = (setting: Setting | null, faults: Faults): string => {
  if (setting === null) return 'App Platform'
  const name = setting.text.trim()
  if (name.length > 60 || /\p{C}/u.test(name)) faults.push(`${setting.name} must be 1 to 60 visible characters.`)
  return name
}

const readMetricsListen = (setting: Setting | null, faults: Faults): ListenAddress | null => {
  if (setting === null) return null
  const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(setting.text) ?? []
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const port = wholeNumber(digits, 0, 65_535)
  if (port !== null && parseIpAddress(bare) !== null) return { host: bare, port }
  faults.push(`${setting.name} must be an IP address and a port, such as 127.0.0.1:9090.`)
  return null
}
