import { readLifetimes } from './config/lifetimes.ts'
import {
  type ListenAddress,
  type LogLevel,
  readAuditRetention,
  readLogLevel,
  readMetricsListen,
  readPlatformName,
  readQuotas,
  readRequestLog,
  type RequestLog,
} from './config/operating.ts'
import { readRateLimits } from './config/rate-limits.ts'
import {
  type ConfigFlags,
  type Environment,
  type Faults,
  type Find,
  type Setting,
  settingFinder,
  wholeNumber,
} from './config/setting.ts'
import { misspeltSettings, warningsAbout } from './config/warnings.ts'
import type { AuditRetention, Quotas, RateLimits } from './domain/limits.ts'
import { type InstallApprovalRule, installApprovalRules } from './domain/install.ts'
import { type IpNetwork, parseIpAddress, parseIpNetwork } from './domain/ip-address.ts'
import type { Lifetimes } from './domain/lifetimes.ts'

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
  /** Of requests that could not begin for so long, every other is turned away. Null: all begin at once. */
  readonly longestWaitMs: number | null
  readonly lifetimes: Lifetimes
  /** Networks that webhooks may call although they are not public. */
  readonly webhookNetworks: readonly IpNetwork[]
  readonly installApproval: InstallApprovalRule
  /** What this platform is called on its pages. */
  readonly platformName: string
  readonly quotas: Quotas
  readonly auditRetention: AuditRetention
  readonly metricsListen: ListenAddress | null
  readonly logLevel: LogLevel
  readonly logRequests: RequestLog
  /** Sentences for the operator about what is allowed and probably not meant. */
  readonly warnings: readonly string[]
}

/** The environment of this program, for the settings of commands that are told them there. */
export const programEnvironment = (): Environment => process.env

/** Everything that is wrong with the settings. Each fault is a sentence that names its setting and never repeats a value. */
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
export const readConfig = (flags: ConfigFlags, env: Environment = process.env): Config => {
  const faults: Faults = []
  const settings: string[] = [] // every name that is looked for, so that no second list has to agree with the first
  const look = settingFinder(flags, env, faults)
  const find: Find = (name, ...flag) => {
    settings.push(name)
    return look(name, ...flag)
  }
  const config: Omit<Config, 'warnings'> = {
    host: readHost(find('HOST', '--host', 'host'), faults),
    publicUrl: readPublicUrl(find('PUBLIC_URL', '--public-url', 'publicUrl'), faults),
    port: readPort(find('PORT', '--port', 'port'), faults),
    databasePath: readDatabasePath(find('DATABASE_URL', '--database', 'database'), faults),
    trustedProxies: readNetworks(find('TRUSTED_PROXIES'), faults),
    webhookNetworks: readNetworks(find('WEBHOOK_ALLOWED_NETWORKS'), faults),
    rateLimits: readRateLimits(find, faults),
    longestWaitMs: readLongestWait(find('LONGEST_WAIT_MS'), faults),
    lifetimes: readLifetimes(find, faults),
    installApproval: readInstallApproval(find('INSTALL_APPROVAL'), faults),
    platformName: readPlatformName(find, faults),
    quotas: readQuotas(find, faults),
    auditRetention: readAuditRetention(find, faults),
    metricsListen: readMetricsListen(find, faults),
    logLevel: readLogLevel(find, faults),
    logRequests: readRequestLog(find, faults),
  }
  const { port, metricsListen } = config
  if (metricsListen !== null && metricsListen.port === port && port !== 0) {
    faults.push('METRICS_LISTEN must name another port than PORT.')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const warnings = [...warningsAbout(config), ...misspeltSettings(env, settings)]
  return Object.freeze({ ...config, warnings })
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
  // Files of settings keep what a shell would take away, and it would name another file.
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
    faults.push(`${setting.name} must name the port that clients call; nobody can call port 0.`)
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

const readLongestWait = (setting: Setting | null, faults: Faults): number | null => {
  if (setting === null) return 2_000
  if (setting.text === 'off') return null
  const milliseconds = wholeNumber(setting.text, 1, 60_000)
  if (milliseconds === null) faults.push(`${setting.name} must be off or whole milliseconds from 1 to 60000.`)
  return milliseconds
}

const readInstallApproval = (setting: Setting | null, faults: Faults): InstallApprovalRule => {
  if (setting === null) return 'manual'
  const rule = installApprovalRules.find((name) => name === setting.text)
  if (rule === undefined) faults.push(`${setting.name} must be manual or automatic.`)
  return rule ?? 'manual'
}
