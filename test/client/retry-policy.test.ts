import { expect, test } from 'bun:test'
import { assert, double, nat, option, property } from 'fast-check'
import { defaultRetryPolicy, waitBeforeRepeat } from '../../src/client/retry.ts'

const fresh = { repeats: 0, elapsedMs: 0, retryAfterSeconds: null } as const

test('the wait is uniform up to a limit that doubles up to its cap', () => {
  const policy = { ...defaultRetryPolicy, repeats: 10 }
  const longest = (repeats: number) => waitBeforeRepeat(policy, { ...fresh, repeats }, 1)
  expect([0, 1, 2, 3, 4, 5, 9].map(longest)).toEqual([300, 600, 1200, 2400, 4800, 8000, 8000])
  expect(waitBeforeRepeat(policy, fresh, 0)).toBe(0)
  expect(waitBeforeRepeat(policy, fresh, 0.5)).toBe(150)
})

test('a pause that the server asks for is kept in full, with jitter added', () => {
  const asked = { ...fresh, retryAfterSeconds: 7 }
  expect(waitBeforeRepeat(defaultRetryPolicy, asked, 0)).toBe(7000)
  expect(waitBeforeRepeat(defaultRetryPolicy, asked, 1)).toBe(7300)
})

test('nothing is repeated after the last repeat or after the time limit', () => {
  assert(
    property(
      nat({ max: 9 }),
      nat({ max: 120_000 }),
      option(nat({ max: 120 })),
      double({ min: 0, max: 1, noNaN: true }),
      (repeats, elapsedMs, retryAfterSeconds, chance) => {
        const waitMs = waitBeforeRepeat(defaultRetryPolicy, { repeats, elapsedMs, retryAfterSeconds }, chance)
        if (waitMs === null) return
        expect(repeats).toBeLessThan(defaultRetryPolicy.repeats)
        expect(waitMs).toBeGreaterThanOrEqual((retryAfterSeconds ?? 0) * 1000)
        expect(elapsedMs + waitMs).toBeLessThanOrEqual(defaultRetryPolicy.giveUpAfterMs)
      },
    ),
  )
  expect(waitBeforeRepeat(defaultRetryPolicy, { ...fresh, retryAfterSeconds: 61 }, 0)).toBeNull()
})
