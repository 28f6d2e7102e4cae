import { expect, test } from 'bun:test'
import { isAppTokenLive, isRefreshTokenLive, isUserAccessTokenLive } from '../../src/domain/token.ts'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import { isSessionLive } from '../../src/domain/session.ts'
import { clockToleranceMs } from '../../src/domain/lifetimes.ts'

const now = 1_500_000
const [key, next] = [timeKeyAt(0), timeKeyAt(Date.UTC(2026, 0))]
const span = { createdAt: 1_000_000, expiresAt: 2_000_000 }
const session = { ...span, endedAt: null, lastUsedAt: null, userStatus: 'active' } as const
const appToken = {
  ...span,
  revokedAt: null,
  credentialRevokedAt: null,
  credentialExpiresAt: null,
  appStatus: 'active',
} as const
const accessToken = {
  ...span,
  grantCurrentKey: key,
  grantRevokedAt: null,
  appStatus: 'active',
  userStatus: 'active',
} as const

test('a session, an app token and a user access token work while all that they stand on does', () => {
  expect(isSessionLive(session, now, 1_000)).toBe(true)
  expect(isAppTokenLive(appToken, now)).toBe(true)
  expect(isUserAccessTokenLive(key, accessToken, now)).toBe(true)
})

test.each([
  { createdAt: now + 120_001 },
  { expiresAt: now },
  { endedAt: now },
  { userStatus: 'disabled' },
  { createdAt: now - 1_000_000 },
  { lastUsedAt: now - 1_000_000 },
] as const)('a session does not work with %p', (change) => {
  expect(isSessionLive({ ...session, ...change }, now, 1_000)).toBe(false)
})

test.each([
  { createdAt: now + 120_001 },
  { expiresAt: now },
  { revokedAt: now },
  { credentialRevokedAt: now },
  { credentialExpiresAt: now },
  { appStatus: 'suspended' },
] as const)('an app token does not work with %p', (change) => {
  expect(isAppTokenLive({ ...appToken, ...change }, now)).toBe(false)
})

test.each([
  { createdAt: now + 120_001 },
  { expiresAt: now },
  { grantCurrentKey: next },
  { grantRevokedAt: now },
  { appStatus: 'suspended' },
  { userStatus: 'disabled' },
] as const)('a user access token does not work with %p', (change) => {
  expect(isUserAccessTokenLive(key, { ...accessToken, ...change }, now)).toBe(false)
})

const live = {
  createdAt: 1_000_000,
  expiresAt: 2_000_000,
  grant: { currentKey: key, revokedAt: null },
  appStatus: 'active',
  userStatus: 'active',
} as const

test('a refresh token lives from its creation until it expires', () => {
  expect(isRefreshTokenLive(key, live, 1_000_000)).toBe(true)
  expect(isRefreshTokenLive(key, live, 1_999_999)).toBe(true)
  expect(isRefreshTokenLive(key, live, 2_000_000)).toBe(false)
  expect(isRefreshTokenLive(key, live, 1_000_000 - clockToleranceMs - 1)).toBe(false)
})

test('it does not when it is spent, or its grant, app or user is inactive', () => {
  const now = 1_500_000
  expect(isRefreshTokenLive(next, live, now)).toBe(false)
  expect(isRefreshTokenLive(key, { ...live, grant: { currentKey: key, revokedAt: 1 } }, now)).toBe(false)
  expect(isRefreshTokenLive(key, { ...live, appStatus: 'suspended' }, now)).toBe(false)
  expect(isRefreshTokenLive(key, { ...live, userStatus: 'disabled' }, now)).toBe(false)
})
