import { expect, test } from 'bun:test'
import { isValidAt } from '../../src/domain/validity.ts'

const span = { createdAt: 1_000_000, expiresAt: 2_000_000 }

test('a thing is alive from its creation until its end, which is no longer part of it', () => {
  expect(isValidAt(span, 1_000_000)).toBe(true)
  expect(isValidAt(span, 1_999_999)).toBe(true)
  expect(isValidAt(span, 2_000_000)).toBe(false)
})

test('clocks may differ by two minutes; what was made further ahead than that is not alive', () => {
  expect(isValidAt(span, 1_000_000 - 120_000)).toBe(true)
  expect(isValidAt(span, 1_000_000 - 120_001)).toBe(false)
})
