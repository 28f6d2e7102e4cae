import { expect, test } from 'bun:test'
import { isUnended } from '../../src/domain/credential.ts'

const now = Date.UTC(2026, 7, 1)
const hour = 3_600_000

test('a secret lives until it is revoked', () => {
  expect(isUnended({ revokedAt: null, expiresAt: null }, now)).toBe(true)
  expect(isUnended({ revokedAt: now - 1, expiresAt: null }, now)).toBe(false)
  expect(isUnended({ revokedAt: now - 1, expiresAt: now + hour }, now)).toBe(false)
})

test('a rotated secret is live until the end of its grace period, exclusively', () => {
  expect(isUnended({ revokedAt: null, expiresAt: now + 1 }, now)).toBe(true)
  expect(isUnended({ revokedAt: null, expiresAt: now }, now)).toBe(false)
})

test('a grace period of more than 168 hours was set under a clock that was ahead, and does not count', () => {
  const longest = 168 * hour + 120_000 // two correct clocks may differ by two minutes
  expect(isUnended({ revokedAt: null, expiresAt: now + longest }, now)).toBe(true)
  expect(isUnended({ revokedAt: null, expiresAt: now + longest + 1 }, now)).toBe(false)
})
