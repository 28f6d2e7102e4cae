import { type Lifetimes, maximumLifetimes, refreshRetry } from '../domain/lifetimes.ts'
import {
  type AuditRetention,
  defaultAuditRetention,
  defaultQuotas,
  defaultRateLimits,
  type Quotas,
  type RateLimit,
  type RateLimits,
} from '../domain/limits.ts'
import { Broken, onOrOff, type Read, wholeNumber } from './setting.ts'

/** How long each secret lives, in seconds. A setting may shorten a lifetime, never lengthen it, except for the time to repeat a refresh. */
export const readLifetimes = (read: Read): Lifetimes => {
  const lifetime = (variable: string, longest: number) => {
    const rule = `must be whole seconds from 1 to ${longest}: it may shorten, not lengthen.`
    return read(variable, longest, wholeNumber(1, longest, rule))
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
    refreshRetry: read('LIFETIME_REFRESH_RETRY', refreshRetry.default, wholeNumber(0, refreshRetry.maximum)),
  }
}

/** The limit of each kind; null when all are off. */
export const readRateLimits = (read: Read): RateLimits | null => {
  const limit = (variable: string, fallback: RateLimit) => read(variable, fallback, rateLimitLike(fallback))
  const limits: RateLimits = {
    token: limit('RATE_LIMIT_TOKEN', defaultRateLimits.token),
    failed: limit('RATE_LIMIT_FAILED', defaultRateLimits.failed),
    authorize: limit('RATE_LIMIT_AUTHORIZE', defaultRateLimits.authorize),
    read: limit('RATE_LIMIT_READ', defaultRateLimits.read),
    write: limit('RATE_LIMIT_WRITE', defaultRateLimits.write),
    daily: limit('RATE_LIMIT_DAILY', defaultRateLimits.daily),
    management: limit('RATE_LIMIT_MANAGEMENT', defaultRateLimits.management),
    sign_in: limit('RATE_LIMIT_SIGN_IN', defaultRateLimits.sign_in),
    code: limit('RATE_LIMIT_CODE', defaultRateLimits.code),
    address: limit('RATE_LIMIT_ADDRESS', defaultRateLimits.address),
  }
  return read('RATE_LIMIT', true, onOrOff) ? limits : null
}

const rateLimitLike =
  (example: RateLimit) =>
  (text: string): RateLimit | Broken => {
    const [count, seconds, ...more] = text.split('/')
    const limit = { count: wholeNumber(1, 1_000_000)(count ?? ''), seconds: wholeNumber(1, 86_400)(seconds ?? '') }
    return typeof limit.count === 'number' && typeof limit.seconds === 'number' && more.length === 0
      ? { count: limit.count, seconds: limit.seconds }
      : new Broken(`must be count/seconds such as ${example.count}/${example.seconds}: 1 to 1000000 in 1 to 86400.`)
  }

/** How long requests may wait for their turn when there are too many, in milliseconds; null: they never wait. */
export const readLongestWait = (read: Read): number | null => {
  const milliseconds = wholeNumber(1, 60_000, 'must be off or whole milliseconds from 1 to 60000.')
  return read<number | null>('LONGEST_WAIT_MS', 2_000, (text) => (text === 'off' ? null : milliseconds(text)))
}

/** Bytes and versions per app, and apps per account. */
export const readQuotas = (read: Read): Quotas => ({
  artifactBytes: read('QUOTA_ARTIFACT_BYTES', defaultQuotas.artifactBytes, wholeNumber(1, 999_999_999_999)),
  versions: read('QUOTA_VERSIONS', defaultQuotas.versions, wholeNumber(1, 1_000_000)),
  apps: read('QUOTA_APPS', defaultQuotas.apps, wholeNumber(0, 1_000_000)),
})

const days = wholeNumber(1, 36_500)

/** Days that audit events are kept. */
export const readAuditRetention = (read: Read): AuditRetention => ({
  days: read('AUDIT_RETENTION_DAYS', defaultAuditRetention.days, days),
  anonymousDays: read('AUDIT_RETENTION_ANONYMOUS_DAYS', defaultAuditRetention.anonymousDays, days),
})
