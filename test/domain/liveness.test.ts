import { expect, test } from 'bun:test'
import { isAppTokenLive } from '../../src/domain/app-token.ts'
import { isSessionLive } from '../../src/domain/session.ts'
import { isUserAccessTokenLive } from '../../src/domain/user-access-token.ts'

const now = 1_500_000
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
  grantCurrentKey: 'k',
  grantRevokedAt: null,
  appStatus: 'active',
  userStatus: 'active',
} as const

test('a session, an app token and a user access token work while all that they stand on does', () => {
  expect(isSessionLive(session, now, 1_000)).toBe(true)
  expect(isAppTokenLive(appToken, now)).toBe(true)
  expect(isUserAccessTokenLive('k', accessToken, now)).toBe(true)
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
  { grantCurrentKey: 'next' },
  { grantRevokedAt: now },
  { appStatus: 'suspended' },
  { userStatus: 'disabled' },
] as const)('a user access token does not work with %p', (change) => {
  expect(isUserAccessTokenLive('k', { ...accessToken, ...change }, now)).toBe(false)
})
