import { expect, test } from 'bun:test'
import { isRefreshTokenLive } from '../../src/domain/refresh-token.ts'
import { clockToleranceMs } from '../../src/domain/validity.ts'

const live = {
  createdAt: 1_000_000,
  expiresAt: 2_000_000,
  grant: { currentKey: 'k', revokedAt: null },
  appStatus: 'active',
  userStatus: 'active',
} as const

test('a refresh token lives from its creation until it expires', () => {
  expect(isRefreshTokenLive('k', live, 1_000_000)).toBe(true)
  expect(isRefreshTokenLive('k', live, 1_999_999)).toBe(true)
  expect(isRefreshTokenLive('k', live, 2_000_000)).toBe(false)
  expect(isRefreshTokenLive('k', live, 1_000_000 - clockToleranceMs - 1)).toBe(false)
})

test('it does not when it is spent, or its grant, app or user is inactive', () => {
  const now = 1_500_000
  expect(isRefreshTokenLive('spent', live, now)).toBe(false)
  expect(isRefreshTokenLive('k', { ...live, grant: { currentKey: 'k', revokedAt: 1 } }, now)).toBe(false)
  expect(isRefreshTokenLive('k', { ...live, appStatus: 'suspended' }, now)).toBe(false)
  expect(isRefreshTokenLive('k', { ...live, userStatus: 'disabled' }, now)).toBe(false)
})
