import { expect, test } from 'bun:test'
import { isCredentialLive } from '../../src/domain/credential.ts'

const now = Date.UTC(2026, 7, 1)
const hour = 3_600_000

test('a secret lives until it is revoked', () => {
  expect(isCredentialLive({ revokedAt: null, expiresAt: null }, now)).toBe(true)
  expect(isCredentialLive({ revokedAt: now - 1, expiresAt: null }, now)).toBe(false)
  expect(isCredentialLive({ revokedAt: now - 1, expiresAt: now + hour }, now)).toBe(false)
})

test('a rotated secret lives until its grace is over, which is no longer part of it', () => {
  expect(isCredentialLive({ revokedAt: null, expiresAt: now + 1 }, now)).toBe(true)
  expect(isCredentialLive({ revokedAt: null, expiresAt: now }, now)).toBe(false)
})

test('a grace of more than 168 hours was set under a clock that was ahead, and is none', () => {
  const longest = 168 * hour + 120_000 // two honest clocks may differ by two minutes
  expect(isCredentialLive({ revokedAt: null, expiresAt: now + longest }, now)).toBe(true)
  expect(isCredentialLive({ revokedAt: null, expiresAt: now + longest + 1 }, now)).toBe(false)
})
