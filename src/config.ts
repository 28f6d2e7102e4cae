import { brokenRuleOf, isPostgresUrl } from '../db/postgres/address.ts'
import { readAuditRetention, readLifetimes, readLongestWait, readQuotas, readRateLimits } from './config/limits.ts'
import {
  Broken,
  choiceOf,
  type ConfigFlags,
  type EnvironmentVariables,
  fileSetting,
  flagOf,
  nameOf,
  onOrOff,
  originOf,
  type Read,
  type SecretSetting,
  secretSettings,
  settingReader,
  wholeNumber,
} from './config/setting.ts'
import { mailSettings, readMail } from './config/mail.ts'
import { httpUrlOf, readIdentityProvider, readIssuer, readSignIn } from './config/sign-in.ts'
import { misspeltSettings, warningsAbout } from './config/warnings.ts'
import { appCreators } from './domain/app.ts'
import type { SettingFact } from './domain/deciding-settings.ts'
import { installApprovalRules } from './domain/install.ts'
import { misleading } from './domain/text.ts'
import { type IpNetwork, parseIpAddress, parseIpNetwork } from './domain/ip-address.ts'

const logLevels = ['debug', 'info', 'warn', 'error'] as const
const requestLogs = ['all', 'errors', 'none'] as const

/** Where the data is: in an SQLite file, or in a PostgreSQL database. The URL may have a password, so it is never shown. */
export type DatabasePlace =
  { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'postgres'; readonly url: string }

/** The settings of the server. */
export type Config = ReturnType<typeof readConfig>

/** The environment of this program, for commands that have settings of their own. */
export const programEnvironment = (): EnvironmentVariables => process.env

/** All faults of the settings. Each is a sentence that names its setting and never repeats a value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
  }
}

/** What everything that opens the platform needs. */
const readPlatform = (read: Read, faults: string[]) => ({
  /** The origin that clients see, without a trailing slash. Null: `http://localhost` with the port of the server. */
  publicUrl: read('PUBLIC_URL', null, originOf, 'publicUrl'),
  /** 0 takes a free one. */
  port: read('PORT', 3000, wholeNumber(0, 65_535), 'port'),
  database: readPlace(read),
  /** Private networks that webhooks may call. */
  webhookNetworks: read('WEBHOOK_ALLOWED_NETWORKS', [], networksOf),
  lifetimes: readLifetimes(read),
  signIn: readSignIn(read, faults),
  appCreation: read('APP_CREATION', 'everyone', choiceOf(appCreators)),
  installApproval: read('INSTALL_APPROVAL', 'manual', choiceOf(installApprovalRules)),
  platformName: readPlatformName(read),
  builder: readBuilder(read, faults),
  quotas: readQuotas(read),
  auditRetention: readAuditRetention(read),
})

/** The folder of the backups that the server makes by itself; `none` if something else makes them. Null: nothing is said of them. */
const readBackups = (read: Read): { readonly directory: string; readonly keep: number } | 'none' | null => {
  const directory = read<string | null>('BACKUP_DIRECTORY', null, (text) => (text === 'none' ? text : folderOf(text)))
  const keep = read('BACKUP_KEEP', 14, wholeNumber(1, 1_000))
  return directory === null || directory === 'none' ? directory : { directory, keep }
}

/** The website builder that people come from, for the way back to it. Null: no page has one. */
const readBuilder = (read: Read, faults: string[]): { readonly name: string; readonly url: string } | null => {
  const url = read<string | null>('BUILDER_URL', null, httpUrlOf)
  const name = read<string | null>('BUILDER_NAME', null, nameOf)
  if (url === null && name !== null) faults.push('BUILDER_NAME needs BUILDER_URL: the page that the link leads to.')
  return url === null ? null : { url, name: name ?? new URL(url).host }
}

const readPlace = (read: Read): DatabasePlace => read('DATABASE_URL', defaultDatabase, databaseOf, 'database')
/** The name that people see on the pages. */
const readPlatformName = (read: Read): string => read('PLATFORM_NAME', 'App Platform', nameOf)

/** Flags over environment over defaults. @throws ConfigError with all faults at once */
const readSettings = <T>(
  flags: ConfigFlags,
  env: EnvironmentVariables,
  take: (read: Read, faults: string[], names: readonly string[], told: readonly SettingFact[]) => T,
): T => {
  const faults: string[] = []
  const names: string[] = [] // of all settings; recorded as they are read, so that no second list can differ
  const told: SettingFact[] = []
  const taken = take(settingReader(flags, env, faults, names, secretSettings, told), faults, names, told)
  if (faults.length > 0) throw new ConfigError(faults)
  return taken
}

/** The settings of the server. @throws ConfigError with all faults at once */
export const readConfig = (flags: ConfigFlags, env: EnvironmentVariables = process.env) =>
  readSettings(flags, env, (read, faults, names, told) => {
    const config = readServer(read, faults)
    const warnings = [...warningsAbout(config), ...misspeltSettings(env, names)]
    /** Every setting once, by name, with where it comes from. */
    const settings = [...new Map(told.map((fact) => [fact.name, fact])).values()].toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    )
    return Object.freeze({ ...config, warnings, settings })
  })

/** What was given of the settings that are no secrets, by name, with the port that the server has taken. */
export const givenSettings = (
  { settings }: Config,
  port: string,
): readonly { readonly name: string; readonly value: string }[] =>
  settings.flatMap(({ name, value }) =>
    value === null || secretSettings.some((secret) => secret === name)
      ? []
      : [{ name, value: name === 'PORT' ? port : value }],
  )

/** What a server uses of each secret setting. Only these may be in files, so only these can change while it runs. */
const secretsOf = ({ database, identityProvider, mail }: Config) =>
  ({
    DATABASE_URL: database,
    OIDC_CLIENT_SECRET: identityProvider?.clientSecret ?? null,
    SMTP_URL: mail,
  }) satisfies Readonly<Record<SecretSetting, unknown>>

/** The secret settings whose values differ. */
export const changedSecrets = (before: Config, after: Config): readonly SecretSetting[] => {
  const [one, other] = [secretsOf(before), secretsOf(after)]
  return secretSettings.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]))
}

const readServer = (read: Read, faults: string[]) => {
  const platform = readPlatform(read, faults)
  const config = {
    ...platform,
    host: read('HOST', '127.0.0.1', hostOf, 'host'),
    trustedProxies: read('TRUSTED_PROXIES', [], networksOf),
    mail: readMail(read, faults),
    /** The backups that the server makes every day; null: none. */
    backups: readBackups(read),
    rateLimits: readRateLimits(read),
    longestWaitMs: readLongestWait(read),
    identityProvider: readIdentityProvider(read, platform.signIn, faults),
    /** Where the metrics are served on a port of their own. Null: on the port of the API. */
    metricsListen: read('METRICS_LISTEN', null, addressAndPortOf),
    /** Whether PostgreSQL is meant to have a synchronous standby. Null: if the URL names several hosts. */
    expectsStandby: read<boolean | null>('EXPECT_STANDBY', null, onOrOff),
    logLevel: read('LOG_LEVEL', 'info', choiceOf(logLevels)),
    /** Which requests are logged: all, those answered with 4xx or 5xx, or none. */
    logRequests: read('LOG_REQUESTS', 'all', choiceOf(requestLogs)),
  }
  const { port, metricsListen } = config
  if (metricsListen !== null && metricsListen.port === port && port !== 0) {
    faults.push('METRICS_LISTEN must name another port than PORT.')
  }
  return config
}

/**
 * The settings of a server that is only written about. What is named must be right; everything else may be wrong, or in files that this
 * user cannot read, and is told as `doubts`. `given` has all settings that the environment has, as they were typed.
 * @throws ConfigError with all faults of what is named
 */
export const readDeployment = (flags: ConfigFlags, env: EnvironmentVariables, needed: readonly string[]) => {
  const faults: string[] = []
  const names: string[] = []
  const config = readServer(settingReader(flags, env, faults, names), faults)
  const subjects = new Set(needed.flatMap((name) => [name, fileSetting(name), flagOf(name)]))
  const isNeeded = (fault: string) => subjects.has(fault.split(' ')[0] ?? '')
  if (faults.some(isNeeded)) throw new ConfigError(faults.filter(isNeeded))
  const given = [...new Set(names)].toSorted().flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value.trim()] as const]
  })
  return { config, given, doubts: [...faults, ...warningsAbout(config), ...misspeltSettings(env, names)] }
}

/**
 * The settings of a command on the platform. It needs only those that it uses: the secrets of the mail server and of the identity
 * provider are often readable for the service alone. `kept` are those of the server that started last, for what is not set here.
 * @throws ConfigError with all faults at once
 */
export const readCommandConfig = (
  flags: ConfigFlags,
  own: EnvironmentVariables = process.env,
  kept: EnvironmentVariables = {},
) => {
  const env = { ...kept, ...own }
  return readSettings(flags, env, (read, faults) => ({
    ...readPlatform(read, faults),
    /** Whether the server sends mails: a command only writes them down. */
    sendsMails: mailSettings.some((name) => env[name] !== undefined),
    issuer: readIssuer(read),
  }))
}

/** Of a command that only needs to know where the data is. @throws ConfigError */
export const readDatabasePlace = (flags: ConfigFlags, env: EnvironmentVariables = process.env): DatabasePlace =>
  readSettings(flags, env, readPlace)

/** Of a command that sends a mail itself. @throws ConfigError */
export const readMailConfig = (env: EnvironmentVariables = process.env) =>
  readSettings({}, env, (read, faults) => ({ mail: readMail(read, faults), platformName: readPlatformName(read) }))

const hostOf = (text: string): string | Broken =>
  /^[A-Za-z0-9._-]{1,253}$/.test(text) || parseIpAddress(text) !== null
    ? text
    : new Broken('must be an IP address or a host name, without a port.')

/** Where the database is by default. */
export const defaultDatabasePath = './data/app-platform.db'

const defaultDatabase: DatabasePlace = { kind: 'sqlite', path: defaultDatabasePath }

const databaseOf = (text: string): DatabasePlace | Broken => {
  if (isPostgresUrl(text.trim())) {
    if (text !== text.trim()) return new Broken('begins or ends with a space.')
    const rule = brokenRuleOf(text)
    return rule === null ? { kind: 'postgres', url: text } : new Broken(rule)
  }
  const path = text.startsWith('file:') ? pathOfFileUrl(text) : text
  if (path === null || path === '' || path.includes('\0') || path === ':memory:' || path.endsWith('/')) {
    return new Broken('must be a file: URL without host, query and fragment, or the path of a file.')
  }
  // A settings file keeps quotes and spaces that a shell would remove; they would name another file.
  if (/^[\s"']|[\s"']$/.test(path)) return new Broken('begins or ends with a space or a quotation mark.')
  const fault = misleading(path)
  if (fault !== null) return new Broken(fault)
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) {
    return new Broken('must name an SQLite file or a PostgreSQL database; other databases are not supported.')
  }
  return { kind: 'sqlite', path }
}

const folderOf = (text: string): string | Broken => {
  const fault = misleading(text)
  if (fault !== null) return new Broken(fault)
  return /^\/[^\0]*[^\s"'\0]$/.test(text)
    ? text
    : new Broken('must be the absolute path of a folder, such as /var/lib/app-platform-backups.')
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

const networksOf = (text: string): readonly IpNetwork[] | Broken => {
  const networks = text.split(',').map((part) => parseIpNetwork(part.trim()))
  const valid = networks.filter((network) => network !== null)
  return valid.length === networks.length
    ? valid
    : new Broken(
        `must be a comma-separated list of IP addresses and networks such as 10.0.0.0/8. Entry ${networks.indexOf(null) + 1} is neither.`,
      )
}

const addressAndPortOf = (text: string): { readonly host: string; readonly port: number } | Broken => {
  const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const port = wholeNumber(0, 65_535)(digits)
  return typeof port === 'number' && parseIpAddress(bare) !== null
    ? { host: bare, port }
    : new Broken('must be an IP address and a port, such as 127.0.0.1:9464.')
}
