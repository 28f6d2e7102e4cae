import { describe, expect, test } from 'bun:test'
import {
  decideAttempt,
  failingForMs,
  maximumAttempts,
  outcomeInWords,
  restAskedFor,
} from '../../src/domain/webhook-delivery.ts'

const now = Date.UTC(2026, 7, 1)
const hour = 3_600_000
const attempt = (facts: Partial<Parameters<typeof decideAttempt>[0]>) =>
  decideAttempt({
    result: { status: 500, retryAfter: null },
    attempts: 0,
    isPing: false,
    failingSince: null,
    now,
    chance: 0,
    ...facts,
  })
const pauseOf = (facts: Partial<Parameters<typeof decideAttempt>[0]>): number =>
  (attempt(facts).delivery.nextAttemptAt ?? Number.NaN) - now
const answered = (status: number | null, retryAfter: string | null = null) => ({ result: { status, retryAfter } })

describe('an attempt', () => {
  test.each([200, 201, 202, 204, 299])(
    'is delivered with %i, and the endpoint no longer counts as failing',
    (status) => {
      expect(attempt({ ...answered(status), failingSince: now - 4 * hour })).toEqual({
        delivery: { state: 'delivered', nextAttemptAt: null },
        failingSince: null,
        disable: null,
      })
    },
  )

  test.each([null, 100, 199, 300, 301, 302, 307, 308, 400, 404, 429, 500, 503])(
    'is to be repeated after %p',
    (status) => {
      expect(attempt(answered(status))).toMatchObject({
        delivery: { state: 'pending' },
        failingSince: now,
        disable: null,
      })
    },
  )

  test('is made ten times in a little over three days, and then never again', () => {
    const pauses = Array.from({ length: maximumAttempts - 1 }, (_, attempts) => pauseOf({ attempts }))
    expect(pauses).toHaveLength(9)
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(pauses).toEqual(seconds.map((each) => each * 1_000))
    const total = pauses.reduce((sum, pause) => sum + pause, 0)
    expect(total).toBeGreaterThan(72 * hour)
    expect(total * 1.2).toBeLessThan(96 * hour)
    expect(attempt({ attempts: 9 }).delivery).toEqual({ state: 'failed', nextAttemptAt: null })
  })

  test('is delayed at random by at most a fifth of the pause', () => {
    for (let attempts = 0; attempts < 9; attempts += 1) {
      const least = pauseOf({ attempts })
      expect(pauseOf({ attempts, chance: 1 })).toBeCloseTo(least * 1.2, -1)
      expect(pauseOf({ attempts, chance: 0.5 })).toBeCloseTo(least * 1.1, -1)
    }
  })

  test('waits as long as the receiver asks, in seconds or until a date, but no longer than a day, and never less than planned', () => {
    expect(pauseOf(answered(429, '3600'))).toBe(hour)
    expect(pauseOf(answered(503, new Date(now + 2 * hour).toUTCString()))).toBe(2 * hour)
    expect(pauseOf(answered(429, '999999999'))).toBe(24 * hour)
    expect(pauseOf(answered(429, '9'.repeat(400)))).toBe(24 * hour)
    expect(pauseOf({ ...answered(429, '1'), attempts: 3 })).toBe(2 * hour)
    for (const odd of ['', '-5', 'soon', '1e9', '12.5', new Date(now - hour).toUTCString()]) {
      expect(pauseOf(answered(429, odd))).toBe(5_000)
    }
  })
})

describe('an endpoint', () => {
  test('is disabled by the first 410, at any attempt, but never by a ping', () => {
    expect(attempt(answered(410)).disable).toBe('gone')
    expect(attempt({ ...answered(410), attempts: 9 }).disable).toBe('gone')
    expect(attempt({ ...answered(410), isPing: true }).disable).toBeNull()
  })

  test('is disabled when it has accepted nothing for five days, and not earlier', () => {
    expect(attempt({ attempts: 1, failingSince: now - failingForMs }).disable).toBe('failing')
    expect(attempt({ attempts: 1, failingSince: now - failingForMs + 1 }).disable).toBeNull()
  })

  test('is not disabled by the first attempt of an event, however long ago it accepted the last one', () => {
    const first = attempt({ attempts: 0, failingSince: now - 12 * failingForMs })
    expect(first).toMatchObject({ delivery: { state: 'pending' }, disable: null })
  })

  test('gets nothing for as long as it asks, if it asks in a refusal', () => {
    expect(restAskedFor({ status: 429, retryAfter: '60' }, now)).toBe(now + 60_000)
    expect(restAskedFor({ status: 204, retryAfter: '60' }, now)).toBeNull()
    expect(restAskedFor({ status: 503, retryAfter: null }, now)).toBeNull()
  })

  test('keeps the time since which it fails', () => {
    expect(attempt({ failingSince: now - hour }).failingSince).toBe(now - hour)
  })

  test('is not disabled by a failed ping, which is not repeated', () => {
    expect(attempt({ isPing: true })).toEqual({
      delivery: { state: 'failed', nextAttemptAt: null },
      failingSince: null,
      disable: null,
    })
    const again = { isPing: true, attempts: 2, failingSince: now - 2 * failingForMs }
    expect([attempt({ ...again, attempts: 0 }).disable, attempt(again).disable]).toEqual([null, null])
  })
})

test('how an attempt ended is told with what a developer cannot guess: redirects count as refusals, and an answer is one in HTTP', () => {
  expect(outcomeInWords({ status: 308, error: null })).toBe('Answered 308: redirects are not followed')
  expect(outcomeInWords({ status: 304, error: null })).toBe('Answered 304')
  expect(outcomeInWords({ status: 202, error: 'timed_out' })).toBe('Delivered (202)')
  expect(outcomeInWords({ status: null, error: 'no_answer' })).toBe('The connection ended without an answer in HTTP')
})
