import { describe, expect, test } from 'bun:test'
import { defaultRateLimits } from '../../src/domain/limits.ts'
import { createRateLimiter, rateLimitField } from '../../src/http/rate-limit.ts'

/** A limiter whose time the test sets; by default with three reads a minute. */
const limited = (count = 3, seconds = 60) => {
  const time = { ms: 123_456.7 }
  const limiter = createRateLimiter({
    limits: { ...defaultRateLimits, read: { count, seconds }, failed: { count, seconds } },
    monotonicMs: () => time.ms,
    secret: 'a',
  })
  const take = (key = 'ada') => limiter.take('read', key)
  const takeAllowed = (attempts: number, key = 'ada') => {
    let count = 0
    for (let attempt = 0; attempt < attempts; attempt += 1) if (take(key).allowed) count += 1
    return count
  }
  return { time, limiter, take, takeAllowed }
}

describe('a limit', () => {
  test('allows as many calls as its policy states, and then refuses', () => {
    expect(limited().takeAllowed(10)).toBe(3)
  })

  test('counts down the remaining calls, and states when the whole quota is available again', () => {
    const { take } = limited()
    expect(take()).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 20 })
    expect(take()).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 40 })
    expect(take()).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 60 })
  })

  test('states the time to wait when it refuses, and allows one call after that time', () => {
    const { time, take, takeAllowed } = limited()
    takeAllowed(3)
    const refused = take()
    expect(refused).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 20 })
    time.ms += 19_999
    expect(take()).toMatchObject({ allowed: false, resetSeconds: 1 })
    time.ms += 1
    expect(takeAllowed(5)).toBe(1)
  })

  test('does not count the calls that it refuses', () => {
    const { time, takeAllowed } = limited()
    takeAllowed(1_000)
    time.ms += 60_000
    expect(takeAllowed(10)).toBe(3)
  })

  test('counts each key and each policy separately', () => {
    const { limiter, takeAllowed } = limited()
    takeAllowed(10, 'ada')
    expect(takeAllowed(10, 'bob')).toBe(3)
    expect(limiter.take('failed', 'ada').allowed).toBe(true)
  })

  test.each([
    [1, 86_400],
    [7, 60],
    [1_000_000, 1],
    [6_000, 60],
  ])(
    'of %p in %p seconds allows no more in any such window, except for what has become available again',
    (count, seconds) => {
      const { time, takeAllowed } = limited(count, seconds)
      expect(takeAllowed(count + 5)).toBe(count)
      time.ms += seconds * 1000
      expect(takeAllowed(count + 5)).toBe(count)
    },
  )

  test('can be read without taking a call', () => {
    const { limiter, takeAllowed } = limited()
    for (let asked = 0; asked < 10; asked += 1)
      expect(limiter.peek('read', 'ada')).toMatchObject({ allowed: true, remaining: 3 })
    takeAllowed(2)
    expect(limiter.peek('read', 'ada')).toMatchObject({ allowed: true, remaining: 1 })
    takeAllowed(1)
    expect(limiter.peek('read', 'ada')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 20 })
  })

  test('returns what was given back, and no more', () => {
    const { limiter, takeAllowed } = limited()
    takeAllowed(3)
    limiter.giveBack('read', 'ada')
    expect(takeAllowed(3)).toBe(1)
    for (let given = 0; given < 10; given += 1) limiter.giveBack('read', 'ada')
    limiter.giveBack('read', 'nobody')
    expect(takeAllowed(10)).toBe(3)
  })

  test('is shown in the RateLimit headers', () => {
    const state = limited().take()
    expect(state.policyField).toBe('"read";q=3;w=60')
    expect(rateLimitField(state)).toBe('"read";r=2;t=20')
  })

  test('allows everything and shows no header if it is off', () => {
    const limiter = createRateLimiter({ limits: null, monotonicMs: () => 0, secret: 'a' })
    for (let asked = 0; asked < 100_000; asked += 1) limiter.take('sign_in', 'ada')
    expect(limiter.take('sign_in', 'ada')).toMatchObject({ allowed: true, policyField: null })
    expect(limiter.peek('sign_in', 'ada').allowed).toBe(true)
  })
})

describe('a flood of keys', () => {
  test('resets no other key: a key that was refused before is refused after it', () => {
    const { take, takeAllowed } = limited()
    const spent = Array.from({ length: 100 }, (_, index) => `attacker-${index}`)
    for (const key of spent) takeAllowed(3, key)
    for (let key = 0; key < 100_000; key += 1) take(`flood-${key}`)
    expect(spent.filter((key) => take(key).allowed)).toEqual([])
  })

  test('resets no other key, even if each of its own keys is spent as well', () => {
    const { take, takeAllowed } = limited()
    const spent = Array.from({ length: 100 }, (_, index) => `attacker-${index}`)
    for (const key of spent) takeAllowed(3, key)
    for (let key = 0; key < 100_000; key += 1) takeAllowed(3, `flood-${key}`)
    expect(spent.filter((key) => take(key).allowed)).toEqual([])
  })

  test('that gives back what it never took frees no key', () => {
    const { limiter, take, takeAllowed } = limited()
    const spent = Array.from({ length: 40_000 }, (_, index) => `attacker-${index}`)
    for (const key of spent) takeAllowed(3, key)
    for (let key = 0; key < 40_000; key += 1) limiter.giveBack('read', `flood-${key}`)
    expect(spent.filter((key) => take(key).allowed)).toEqual([])
  })

  test('that fits into memory has no effect on other keys', () => {
    const { take, takeAllowed } = limited()
    for (let key = 0; key < 3_000; key += 1) take(`flood-${key}`)
    const others = Array.from({ length: 200 }, (_, index) => takeAllowed(10, `other-${index}`))
    expect(others.every((allowed) => allowed === 3)).toBe(true)
  })

  test('has room for about 32,000 keys; beyond that, new keys start with the debt of another one', () => {
    const { take, takeAllowed } = limited(1)
    let flooded = 0
    const freeAfter = (keys: number) => {
      for (; flooded < keys; flooded += 1) take(`flood-${flooded}`)
      return Array.from({ length: 100 }, (_, index) => takeAllowed(1, `other-${keys}-${index}`)).filter(Boolean).length
    }
    expect(freeAfter(20_000)).toBeGreaterThan(80)
    expect(freeAfter(50_000)).toBeLessThan(50)
  })

  test('is forgotten when its window has ended', () => {
    const { time, take, takeAllowed } = limited()
    for (let key = 0; key < 100_000; key += 1) take(`flood-${key}`)
    time.ms += 60_000
    expect(takeAllowed(10, 'newcomer')).toBe(3)
  })
})
