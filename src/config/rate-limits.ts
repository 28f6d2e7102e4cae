import { defaultRateLimits, type RateLimit, type RateLimitPolicy, type RateLimits } from '../domain/limits.ts'
import { type Faults, type Find, type Setting, wholeNumber } from './setting.ts'

const names = {
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
  const limit = (policy: RateLimitPolicy): RateLimit => readRateLimit(find(names[policy]), policy, faults)
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
