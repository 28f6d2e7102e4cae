import { type Lifetimes, maximumLifetimes } from '../domain/lifetimes.ts'
import {
  type AuditRetention,
  defaultAuditRetention,
  defaultQuotas,
  defaultRateLimits,
  type Quotas,
  type RateLimit,
  type RateLimits,
} from '../domain/limits.ts'
import { type Faults, type Find, readNumber, type Setting, wholeNumber } from './setting.ts'

/** How long each secret lives, in seconds. A setting may shorten a lifetime, never lengthen it. */
export const readLifetimes = (find: Find, faults: Faults): Lifetimes => {
  const lifetime = (variable: string, longest: number): number => {
    const setting = find(variable)
    if (setting === null) return longest
    const seconds = wholeNumber(setting.text, 1, longest)
    if (seconds !== null) return seconds
    faults.push(`${setting.name} must be whole seconds from 1 to ${longest}: it may shorten, not lengthen.`)
    return longest
  }
  return {
    code: lifetime('LIFETIME_CODE', maximumLifetimes.code),
    appToken: lifetime('LIFETIME_APP_TOKEN', maximumLifetimes.appToken),
    accessToken: lifetime('LIFETIME_ACCESS_TOKEN', maximumLifetimes.accessToken),
    refreshToken: lifetime('LIFETIME_REFRESH_TOKEN', maximumLifetimes.refreshToken),
    session: lifetime('LIFETIME_SESSION', maximumLifetimes.session),
    sessionIdle: lifetime('LIFETIME_SESSION_IDLE', maximumLifetimes.sessionIdle),
    grant: lifetime('LIFETIME_GRANT', maximumLifetimes.grant),
    installSessionCode: lifetime('LIFETIME_INSTALL_SESSION_CODE', maximumLifetimes.installSessionCode),
    embeddedSession: lifetime('LIFETIME_EMBEDDED_SESSION', maximumLifetimes.embeddedSession),
  }
}

/** The limit of each kind; null when all are off. */
export const readRateLimits = (find: Find, faults: Faults): RateLimits | null => {
  const limit = (variable: string, fallback: RateLimit) => readRateLimit(find(variable), fallback, faults)
  const limits: RateLimits = {
    token: limit('RATE_LIMIT_TOKEN', defaultRateLimits.token),
    failed: limit('RATE_LIMIT_FAILED', defaultRateLimits.failed),
    authorize: limit('RATE_LIMIT_AUTHORIZE', defaultRateLimits.authorize),
    read: limit('RATE_LIMIT_READ', defaultRateLimits.read),
    write: limit('RATE_LIMIT_WRITE', defaultRateLimits.write),
    sign_in: limit('RATE_LIMIT_SIGN_IN', defaultRateLimits.sign_in),
    address: limit('RATE_LIMIT_ADDRESS', defaultRateLimits.address),
  }
  const setting = find('RATE_LIMIT')
  if (setting === null || setting.text === 'on') return limits
  if (setting.text !== 'off') faults.push(`${setting.name} must be on or off.`)
  return null
}

const readRateLimit = (setting: Setting | null, fallback: RateLimit, faults: Faults): RateLimit => {
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
