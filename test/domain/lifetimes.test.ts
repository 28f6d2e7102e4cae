import { expect, test } from 'bun:test'
import { isValidAt, maximumLifetimes } from '../../src/domain/lifetimes.ts'

test('nothing lives longer than the contract says', () => {
  expect(maximumLifetimes).toEqual({
    code: 300,
    appToken: 3_600,
    accessToken: 3_600,
    refreshToken: 2_592_000,
    session: 43_200,
    sessionIdle: 7_200,
    grant: 31_536_000,
    installSessionCode: 60,
    embeddedSession: 600,
  })
})

const span = { createdAt: 1_000_000, expiresAt: 2_000_000 }

test('a row is valid from its creation until its end, exclusively', () => {
  expect(isValidAt(span, 1_000_000)).toBe(true)
  expect(isValidAt(span, 1_999_999)).toBe(true)
  expect(isValidAt(span, 2_000_000)).toBe(false)
})

test('clocks may differ by two minutes; a row from further ahead is not valid', () => {
  expect(isValidAt(span, 1_000_000 - 120_000)).toBe(true)
  expect(isValidAt(span, 1_000_000 - 120_001)).toBe(false)
})
