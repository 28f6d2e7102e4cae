import { describe, expect, test } from 'bun:test'
import { createClock } from '../../src/runtime/clock.ts'

const minute = 60_000
const hour = 60 * minute
const year = 365 * 24 * hour
const noon = Date.UTC(2026, 7, 1, 12)

/** A machine whose two clocks the test sets. */
const machine = (highWater: number | null = null, wallAtStart = noon) => {
  const time = { wall: wallAtStart, monotonic: 5_000 }
  const clock = createClock({ wall: () => time.wall, monotonic: () => time.monotonic }, highWater)
  return {
    clock,
    /** Time passes on both clocks. */
    pass: (milliseconds: number) => {
      time.wall += milliseconds
      time.monotonic += milliseconds
    },
    /** The machine's clock is set. */
    turn: (milliseconds: number) => {
      time.wall += milliseconds
    },
  }
}

describe('the clock', () => {
  test("follows the machine's clock while that is correct", () => {
    const { clock, pass } = machine()
    for (let step = 0; step < 100; step += 1) {
      pass(minute)
      expect(clock.now()).toBe(noon + (step + 1) * minute)
      expect(clock.purgeBefore()).toBe(clock.now())
    }
  })

  test('does not go back when the machine is set back, so that nothing is revived', () => {
    const { clock, pass, turn } = machine()
    pass(hour)
    turn(-30 * minute)
    expect(clock.now()).toBe(noon + hour)
    pass(minute)
    expect(clock.now()).toBe(noon + hour + minute)
    expect(clock.purgeBefore()).toBe(noon + 31 * minute)
  })

  test("follows a jump of the machine's clock for granting, and not for deleting", () => {
    const { clock, pass, turn } = machine()
    pass(minute)
    expect(clock.now()).toBe(noon + minute)
    turn(year)
    expect(clock.now()).toBe(noon + minute + year)
    expect(clock.purgeBefore()).toBe(noon + minute)
    turn(-year)
    expect(clock.now()).toBe(noon + minute)
    expect(clock.purgeBefore()).toBe(noon + minute)
  })

  test('follows a jump ahead after it has lasted for an hour', () => {
    const { clock, pass, turn } = machine()
    turn(year)
    for (let passed = 0; passed < 59; passed += 1) {
      clock.now()
      pass(minute)
    }
    expect(clock.highWater()).toBeLessThan(noon + 2 * hour)
    pass(2 * minute)
    clock.now()
    expect(clock.highWater()).toBe(noon + year + 61 * minute)
    expect(clock.purgeBefore()).toBe(noon + year + 61 * minute)
  })

  test('follows only by the smallest difference of that hour', () => {
    const { clock, pass, turn } = machine()
    turn(hour)
    clock.now()
    pass(30 * minute)
    turn(year)
    clock.now()
    pass(31 * minute)
    clock.now()
    expect(clock.highWater()).toBeLessThan(noon + 3 * hour)
    expect(clock.highWater()).toBeGreaterThan(noon + hour + 60 * minute)
  })

  test('starts a new hour if the jump was taken back', () => {
    const { clock, pass, turn } = machine()
    turn(year)
    clock.now()
    pass(59 * minute)
    turn(-year)
    clock.now()
    turn(year)
    clock.now()
    pass(59 * minute)
    clock.now()
    expect(clock.highWater()).toBeLessThan(noon + 3 * hour)
  })

  test('cannot be moved ahead in small steps faster than a correct clock is adjusted', () => {
    const { clock, pass, turn } = machine()
    for (let step = 0; step < 30 * 60; step += 1) {
      pass(1_000)
      turn(1_000)
      clock.now()
    }
    expect(clock.highWater()).toBeLessThan(noon + 30 * minute + 5_000)
  })

  test('follows a clock that is slowly corrected ahead', () => {
    const { clock, pass, turn } = machine()
    for (let step = 0; step < 1_000; step += 1) {
      pass(1_000)
      turn(0.5)
      expect(clock.purgeBefore()).toBe(clock.now())
    }
  })

  test('is never behind the trusted time before a restart', () => {
    const { clock } = machine(noon + hour)
    expect(clock.now()).toBe(noon + hour)
    expect(clock.purgeBefore()).toBe(noon)
  })

  test('deletes nothing for an hour after a restart under a clock far ahead', () => {
    const { clock, pass } = machine(noon, noon + year)
    expect(clock.now()).toBe(noon + year)
    expect(clock.purgeBefore()).toBe(noon)
    pass(59 * minute)
    expect(clock.purgeBefore()).toBeLessThan(noon + hour)
  })

  test("returns the machine's clock for other machines, also while the trusted time is later", () => {
    const { clock, pass } = machine(noon + hour)
    pass(minute)
    expect([clock.now(), clock.wall()]).toEqual([noon + hour + minute, noon + minute])
  })

  test('returns whole milliseconds', () => {
    const { clock, pass } = machine()
    pass(0.7)
    expect([clock.now(), clock.purgeBefore(), clock.highWater(), clock.wall()].every(Number.isInteger)).toBe(true)
  })
})
