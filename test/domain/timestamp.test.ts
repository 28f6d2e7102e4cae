import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { parseTimestamp } from '../../src/domain/timestamp.ts'

test('a time that the platform writes is read as the same moment', () => {
  const moments = fc.integer({ min: 0, max: Date.UTC(9999, 0) })
  fc.assert(fc.property(moments, (epochMs) => parseTimestamp(new Date(epochMs).toISOString()) === epochMs))
})

test('an offset is counted, a fraction beyond milliseconds is cut off', () => {
  expect(parseTimestamp('2026-01-01T00:30:00+01:00')).toBe(Date.UTC(2025, 11, 31, 23, 30))
  expect(parseTimestamp('2026-01-01t00:00:00.123999z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 123))
  expect(parseTimestamp('2026-01-01T00:00:00.5Z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 500))
  expect(parseTimestamp('2026-01-01T00:00:00.000999999Z')).toBe(Date.UTC(2026, 0))
  expect(parseTimestamp('2024-02-29T00:00:00Z')).toBe(Date.UTC(2024, 1, 29))
})

test('days that do not exist, times without an offset and other forms are refused', () => {
  for (const text of [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-1-1T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-99T00:00:00Z',
    '2026-99-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.0000000000Z',
    '2026-01-01T00:00:00Z ',
    ' 2026-01-01T00:00:00Z',
    'now',
    '1790000000',
  ]) {
    expect({ text, read: parseTimestamp(text) }).toEqual({ text, read: null })
  }
})

test('a time that its offset moves out of the years 0000 to 9999 is refused', () => {
  expect(parseTimestamp('9999-12-31T23:59:59.999Z')).toBe(Date.UTC(9999, 11, 31, 23, 59, 59, 999))
  expect(parseTimestamp('9999-12-31T23:59:59.999-00:01')).toBeNull()
  expect(new Date(parseTimestamp('0000-01-01T00:00:00Z') ?? NaN).toISOString()).toBe('0000-01-01T00:00:00.000Z')
  expect(parseTimestamp('0000-01-01T00:00:00+00:01')).toBeNull()
})
