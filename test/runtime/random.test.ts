import { describe, expect, test } from 'bun:test'
import { createRandom } from '../../src/runtime/random.ts'

const noon = Date.UTC(2026, 7, 1, 12)

describe('chance', () => {
  test('comes in the length asked for, and never twice', () => {
    const random = createRandom()
    const seen = new Set(Array.from({ length: 5_000 }, () => random.bytes(32).toHex()))
    expect(seen.size).toBe(5_000)
    expect(random.bytes(0)).toHaveLength(0)
    expect(random.bytes(16_384)).toHaveLength(16_384)
    expect(() => random.bytes(16_385)).toThrow(RangeError)
  })

  test('what was handed out stays with the caller alone', () => {
    const pools: Uint8Array[] = []
    const random = createRandom((pool) => {
      pools.push(pool)
      pool.fill(7)
    })
    const first = random.bytes(32)
    expect(first).toEqual(new Uint8Array(32).fill(7))
    expect(pools[0]?.subarray(0, 33)).toEqual(new Uint8Array([...Array.from({ length: 32 }, () => 0), 7]))
    first.fill(9)
    expect(random.bytes(32)).toEqual(new Uint8Array(32).fill(7))
  })
})

describe('a UUIDv7', () => {
  test('carries the time, its version and its variant', () => {
    const uuid = createRandom().uuid(noon).toHex()
    expect(Number.parseInt(uuid.slice(0, 12), 16)).toBe(noon)
    expect(uuid).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  test('looks the same when it is asked for as digits', () => {
    const uuid = createRandom().uuidHex(noon)
    expect(Number.parseInt(uuid.slice(0, 12), 16)).toBe(noon)
    expect(uuid).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  test('sorts after all before it: within a millisecond, in either form, and after the clock was set back', () => {
    const random = createRandom()
    const times = [...Array.from({ length: 20_000 }, () => noon), noon + 1, noon - 60_000, noon + 2, noon]
    const made = times.map((time, index) => (index % 2 === 0 ? random.uuid(time).toHex() : random.uuidHex(time)))
    expect(made.toSorted()).toEqual(made)
    expect(new Set(made).size).toBe(made.length)
  })
})
