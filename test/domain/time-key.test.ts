import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  digitsOfTimeKey,
  isTimeKey,
  nextTimeKey,
  timeKeyAt,
  timeKeyInDigits,
  timeKeyOfUuid,
  timeOfKey,
  uuidHexOfTimeKey,
} from '../../src/domain/time-key.ts'

const start = Date.UTC(2025, 0, 1)
const noon = Date.UTC(2026, 7, 1, 12)
const lastKey = Number.MAX_SAFE_INTEGER
const keyOf = fc.integer({ min: 0, max: lastKey }).filter(isTimeKey)

describe('a time-ordered key', () => {
  test('has 53 bits: 41 of milliseconds since 2025, 5 of the node and 7 of a counter', () => {
    const [first, second] = [timeKeyAt(start), timeKeyAt(start + 1)]
    expect([first, second].map(Number)).toEqual([0, 4_096])
    expect(Number(nextTimeKey(first, start + 1, 3))).toBe(4_096 + 3 * 128)
    expect(Number(timeKeyAt(8_640_000_000_000_000))).toBe(lastKey - 4_095)
    expect(Number(timeKeyAt(0))).toBe(0)
  })

  test('contains its time', () => {
    fc.assert(
      fc.property(fc.integer({ min: start, max: start + 2 ** 41 - 1 }), (at) => {
        expect(timeOfKey(timeKeyAt(at))).toBe(at)
        expect(timeOfKey(nextTimeKey(timeKeyAt(0), at, 31))).toBe(at)
      }),
    )
  })

  test('is never larger than the database can store exactly', () => {
    for (const last of [lastKey, lastKey - 1].filter(isTimeKey)) {
      expect(() => nextTimeKey(last, noon, 0)).toThrow(RangeError)
    }
    for (const number of [-1, 0.5, lastKey + 1, Number.NaN, Infinity]) expect(isTimeKey(number)).toBeFalse()
  })
})

describe('the digits of a key', () => {
  test('are 22, sort like the keys, and give the key back', () => {
    fc.assert(
      fc.property(keyOf, keyOf, (a, b) => {
        const [first, second] = [digitsOfTimeKey(a), digitsOfTimeKey(b)]
        expect(first).toMatch(/^0{13}[0-9A-Za-z]{9}$/)
        expect(Math.sign(a - b)).toBe(first < second ? -1 : first > second ? 1 : 0)
        expect(timeKeyInDigits(first)).toBe(a)
      }),
    )
  })

  test('that stand for more than 53 bits, or are not base62, give no key', () => {
    expect(timeKeyInDigits('0'.repeat(13) + 'z'.repeat(9))).toBeNull()
    expect(timeKeyInDigits(`${'0'.repeat(13)}00000000-`)).toBeNull()
    expect(timeKeyInDigits('z'.repeat(22))).toBeNull()
  })
})

describe('the UUID of a key', () => {
  test('is a UUIDv7 of its time, sorts like the keys, and gives the key back', () => {
    fc.assert(
      fc.property(keyOf, keyOf, (a, b) => {
        const [first, second] = [uuidHexOfTimeKey(a), uuidHexOfTimeKey(b)]
        expect(first).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}80{15}$/)
        expect(Number.parseInt(first.slice(0, 12), 16)).toBe(timeOfKey(a))
        expect(Math.sign(a - b)).toBe(first < second ? -1 : first > second ? 1 : 0)
        expect(timeKeyOfUuid(Uint8Array.fromHex(first))).toBe(a)
      }),
    )
  })

  test('has the given tail, except for the variant', () => {
    const uuid = uuidHexOfTimeKey(timeKeyAt(noon), new Uint8Array(8).fill(0xff))
    expect(uuid).toMatch(/^[0-9a-f]{12}7000bf{15}$/)
  })
})
