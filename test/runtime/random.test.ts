import { describe, expect, test } from 'bun:test'
import { timeKeyAt, timeOfKey } from '../../src/domain/time-key.ts'
import { createRandom } from '../../src/runtime/random.ts'

const noon = Date.UTC(2026, 7, 1, 12)

describe('random bytes', () => {
  test('have the requested length and never repeat', () => {
    const random = createRandom()
    const seen = new Set(Array.from({ length: 5_000 }, () => random.bytes(32).toHex()))
    expect(seen.size).toBe(5_000)
    expect(random.bytes(0)).toHaveLength(0)
    expect(random.bytes(16_384)).toHaveLength(16_384)
    expect(() => random.bytes(16_385)).toThrow(RangeError)
  })

  test('belong to their caller only', () => {
    const pools: Uint8Array[] = []
    const random = createRandom({
      fill: (pool) => {
        pools.push(pool)
        pool.fill(7)
      },
    })
    const first = random.bytes(32)
    expect(first).toEqual(new Uint8Array(32).fill(7))
    expect(pools[0]?.subarray(0, 33)).toEqual(new Uint8Array([...Array.from({ length: 32 }, () => 0), 7]))
    first.fill(9)
    expect(random.bytes(32)).toEqual(new Uint8Array(32).fill(7))
  })
})

describe('random digits', () => {
  test('have the requested length and never repeat', () => {
    const random = createRandom()
    const seen = new Set(Array.from({ length: 5_000 }, () => random.digits(43)))
    expect(seen.size).toBe(5_000)
    for (const text of seen) expect(text).toMatch(/^[0-9A-Za-z]{43}$/)
    expect(random.digits(8_192)).toHaveLength(8_192)
    expect(() => random.digits(8_193)).toThrow(RangeError)
  })

  test('are equally likely: every byte gives one of 62 digits or is skipped', () => {
    let next = 0
    const random = createRandom({ fill: (pool) => pool.forEach((_, index) => (pool[index] = next++ & 0xff)) })
    const counts = new Map<string, number>()
    for (const digit of random.digits(62 * 4 * 16)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    expect(counts.size).toBe(62)
    expect(new Set(counts.values())).toEqual(new Set([4 * 16]))
  })
})

describe('a time-ordered key', () => {
  test('is higher than all earlier ones, even if the clock stands still, steps back or jumps', () => {
    const random = createRandom()
    const times = [
      ...Array.from({ length: 1_000 }, () => noon),
      noon - 60_000,
      ...Array.from({ length: 300 }, () => noon + 1),
      noon + 3_600_000,
      noon + 5,
      ...Array.from({ length: 300 }, (_, index) => noon + 3_600_000 + (index % 3)),
    ]
    const keys = times.map((time) => random.timeKey(time))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.toSorted((a, b) => a - b)).toEqual(keys)
  })

  test('has the time at which it was made; beyond 128 in a millisecond, it has the next one', () => {
    const random = createRandom()
    const times = Array.from({ length: 3 * 128 }, () => timeOfKey(random.timeKey(noon)) - noon)
    expect(times).toEqual(Array.from({ length: 3 * 128 }, (_, index) => Math.floor(index / 128)))
  })

  test('of one node is never a key of another', () => {
    const times = Array.from({ length: 400 }, (_, index) => noon + (index >> 7))
    const keys = [0, 1, 31].flatMap((node) => {
      const random = createRandom({ node })
      return times.map((time) => random.timeKey(time))
    })
    expect(new Set(keys).size).toBe(3 * 400)
    expect(() => createRandom({ node: 32 }).timeKey(noon)).toThrow(RangeError)
  })

  test('of a new process is higher than the highest stored one, even within its millisecond', () => {
    const before = createRandom()
    const earlier = Array.from({ length: 200 }, () => before.timeKey(noon))
    const after = createRandom({ lastKey: earlier.at(-1) ?? timeKeyAt(0) })
    const later = Array.from({ length: 200 }, () => after.timeKey(noon))
    expect(Math.min(...later)).toBeGreaterThan(Math.max(...earlier))
    expect(timeOfKey(after.timeKey(noon + 60_000))).toBe(noon + 60_000)
  })
})

describe('a UUIDv7', () => {
  test('has the time, its version and its variant', () => {
    const uuid = createRandom().uuid(noon).toHex()
    expect(Number.parseInt(uuid.slice(0, 12), 16)).toBe(noon)
    expect(uuid).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  test('has the same form as bytes and as digits', () => {
    const uuid = createRandom().uuidHex(noon)
    expect(Number.parseInt(uuid.slice(0, 12), 16)).toBe(noon)
    expect(uuid).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  test('sorts after all earlier ones: within a millisecond, in either form, and after the clock was set back', () => {
    const random = createRandom()
    const times = [...Array.from({ length: 20_000 }, () => noon), noon + 1, noon - 60_000, noon + 2, noon]
    const made = times.map((time, index) => (index % 2 === 0 ? random.uuid(time).toHex() : random.uuidHex(time)))
    expect(made.toSorted()).toEqual(made)
    expect(new Set(made).size).toBe(made.length)
  })
})
