import { type AuditRetention, defaultAuditRetention, defaultQuotas, type Quotas } from '../domain/limits.ts'
import { parseIpAddress } from '../domain/ip-address.ts'
import { type Faults, type Find, wholeNumber } from './setting.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export const requestLogs = ['all', 'errors', 'none'] as const
/** Which requests are logged: all, those answered with 4xx or 5xx, or none. */
export type RequestLog = (typeof requestLogs)[number]
export type ListenAddress = { readonly host: string; readonly port: number }

export const defaultPlatformName = 'App Platform'

/** The name that people see; 1 to 60 characters on one line. */
export const readPlatformName = (find: Find, faults: Faults): string => {
  const setting = find('PLATFORM_NAME')
  if (setting === null) return defaultPlatformName
  const name = setting.text.trim()
  if (name.length > 60 || /\p{C}/u.test(name)) faults.push(`${setting.name} must be 1 to 60 visible characters.`)
  return name
}

/** Bytes per app and apps per account. */
export const readQuotas = (find: Find, faults: Faults): Quotas => ({
  artifactBytes: readNumber(find, faults, 'QUOTA_ARTIFACT_BYTES', defaultQuotas.artifactBytes, 1, 999_999_999_999),
  apps: readNumber(find, faults, 'QUOTA_APPS', defaultQuotas.apps, 1, 1_000_000),
})

/** Days that audit events are kept. */
export const readAuditRetention = (find: Find, faults: Faults): AuditRetention => ({
  days: readNumber(find, faults, 'AUDIT_RETENTION_DAYS', defaultAuditRetention.days, 1, 36_500),
  anonymousDays: readNumber(
    find,
    faults,
    'AUDIT_RETENTION_ANONYMOUS_DAYS',
    defaultAuditRetention.anonymousDays,
    1,
    36_500,
  ),
})

/** Where metrics are served on a port of their own; null: beside the API. */
export const readMetricsListen = (find: Find, faults: Faults): ListenAddress | null => {
  const setting = find('METRICS_LISTEN')
  if (setting === null) return null
  const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(setting.text) ?? []
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const port = wholeNumber(digits, 0, 65_535)
  if (port !== null && parseIpAddress(bare) !== null) return { host: bare, port }
  faults.push(`${setting.name} must be an IP address and a port, such as 127.0.0.1:9090.`)
  return null
}

export const readLogLevel = (find: Find, faults: Faults): LogLevel =>
  readChoice(find, faults, 'LOG_LEVEL', logLevels, 'info')
export const readRequestLog = (find: Find, faults: Faults): RequestLog =>
  readChoice(find, faults, 'LOG_REQUESTS', requestLogs, 'all')

const readChoice = <T extends string>(
  find: Find,
  faults: Faults,
  variable: string,
  choices: readonly T[],
  fallback: T,
): T => {
  const setting = find(variable)
  if (setting === null) return fallback
  const chosen = choices.find((choice) => choice === setting.text)
  if (chosen === undefined) faults.push(`${setting.name} must be one of ${choices.join(', ')}.`)
  return chosen ?? fallback
}

const readNumber = (
  find: Find,
  faults: Faults,
  variable: string,
  fallback: number,
  least: number,
  most: number,
): number => {
  const setting = find(variable)
  if (setting === null) return fallback
  const value = /^\d{1,12}$/.test(setting.text) ? Number(setting.text) : Number.NaN
  if (value >= least && value <= most) return value
  faults.push(`${setting.name} must be a whole number from ${least} to ${most}.`)
  return fallback
}
