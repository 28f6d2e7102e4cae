import { type Lifetimes, maximumLifetimes } from '../domain/lifetimes.ts'
import {
  type AuditRetention,
  defaultAuditRetention,
  defaultQuotas,
  defaultRateLimits,
  type Quotas,
  type RateLimit,
  type RateLimitPolicy,
  type RateLimits,
} from '../domain/limits.ts'
import { type Faults, type Find, readNumber, type Setting, wholeNumber } from './setting.ts'

const lifetimeNames = {
  code: 'LIFETIME_CODE',
  appToken: 'LIFETIME_APP_TOKEN',
  accessToken: 'LIFETIME_ACCESS_TOKEN',
  refreshToken: 'LIFETIME_REFRESH_TOKEN',
  session: 'LIFETIME_SESSION',
  sessionIdle: 'LIFETIME_SESSION_IDLE',
  grant: 'LIFETIME_GRANT',
  installSessionCode: 'LIFETIME_INSTALL_SESSION_CODE',
  embeddedSession: 'LIFETIME_EMBEDDED_SESSION',
} as const satisfies Record<keyof Lifetimes, string>

/** How long each secret lives, in seconds. A setting may shorten a lifetime, never lengthen it. */
export const readLifetimes = (find: Find, faults: Faults): Lifetimes => {
  const lifetime = (kind: keyof Lifetimes): number => {
    const longest = maximumLifetimes[kind]
    const setting = find(lifetimeNames[kind])
    if (setting === null) return longest
    const seconds = wholeNumber(setting.text, 1, longest)
    if (seconds !== null) return seconds
    faults.push(`${setting.name} must be whole seconds from 1 to ${longest}: it may shorten, not lengthen.`)
    return longest
  }
  return {
    code: lifetime('code'),
    appToken: lifetime('appToken'),
    accessToken: lifetime('accessToken'),
    refreshToken: lifetime('refreshToken'),
    session: lifetime('session'),
    sessionIdle: lifetime('sessionIdle'),
    grant: lifetime('grant'),
    installSessionCode: lifetime('installSessionCode'),
    embeddedSession: lifetime('embeddedSession'),
  }
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

/** The limit of each kind; null when all are off. */
export const readRateLimits = (find: Find, faults: Faults): RateLimits | null => {
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
  const example = `${fallback.count}/${fallback.seconds}`
  faults.push(`${setting.name} must be count/seconds such as ${example}: 1 to 1000000 in 1 to 86400.`)
  return fallback
}

/** How long requests may wait for their turn when there are too many, in milliseconds; null: they never wait. */
export const readLongestWait = (find: Find, faults: Faults): number | null => {
  const setting = find('LONGEST_WAIT_MS')
  if (setting === null) return 2_000
  if (setting.text === 'off') return null
  const milliseconds = wholeNumber(setting.text, 1, 60_000)
  if (milliseconds === null) faults.push(`${setting.name} must be off or whole milliseconds from 1 to 60000.`)
  return milliseconds
}

/** Bytes per app and apps per account. */
export const readQuotas = (find: Find, faults: Faults): Quotas => {
  const quota = (variable: string, fallback: number, most: number) =>
    readNumber(find(variable), faults, { fallback, least: 1, most })
  return {
    artifactBytes: quota('QUOTA_ARTIFACT_BYTES', defaultQuotas.artifactBytes, 999_999_999_999),
    apps: quota('QUOTA_APPS', defaultQuotas.apps, 1_000_000),
  }
}

/** Days that audit events are kept. */
export const readAuditRetention = (find: Find, faults: Faults): AuditRetention => {
  const days = (variable: string, fallback: number) =>
    readNumber(find(variable), faults, { fallback, least: 1, most: 36_500 })
  return {
    days: days('AUDIT_RETENTION_DAYS', defaultAuditRetention.days),
    anonymousDays: days('AUDIT_RETENTION_ANONYMOUS_DAYS', defaultAuditRetention.anonymousDays),
  }
}
