import { expect, test } from 'bun:test'
import { isAppTokenLive, isUserTokenLive } from '../../src/domain/token.ts'
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
  scopes: 'orders:read site:read',
  lostScopes: null,
} as const
const userToken = {
  ...span,
  grantCurrentKey: key,
  grantRevokedAt: null,
  appStatus: 'active',
  userStatus: 'active',
  scopes: 'orders:read site:read',
  lostScopes: null,
} as const

test('a session, an app token and a user token work while everything that they depend on is live', () => {
  expect(isSessionLive(session, now, 1_000)).toBe(true)
  expect(isAppTokenLive(appToken, now)).toBe(true)
  expect(isUserTokenLive(key, userToken, now)).toBe(true)
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
  { lostScopes: 'site:read orders:read' },
] as const)('an app token does not work with %p', (change) => {
  expect(isAppTokenLive({ ...appToken, ...change }, now)).toBe(false)
})

test.each([
  { createdAt: now + 120_001 },
  { expiresAt: now },
  { grantCurrentKey: next },
  { grantRevokedAt: now },
  { appStatus: 'suspended' },
  { lostScopes: 'site:read orders:read' },
  { userStatus: 'disabled' },
] as const)('an access or refresh token of a user does not work with %p', (change) => {
  expect(isUserTokenLive(key, { ...userToken, ...change }, now)).toBe(false)
})

test('a token that has lost some of its scopes works with the others', () => {
  expect(isAppTokenLive({ ...appToken, lostScopes: 'orders:read' }, now)).toBe(true)
  expect(isUserTokenLive(key, { ...userToken, lostScopes: 'orders:read old:read' }, now)).toBe(true)
})

const isLiveAt = (nowMs: number) => isUserTokenLive(key, userToken, nowMs)

test('a user token works from its creation, as far as clocks may differ, until it expires', () => {
  expect([1_000_000, 1_999_999, 2_000_000, 1_000_000 - clockToleranceMs - 1].map(isLiveAt)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
