import { expect, test } from 'bun:test'
import { installCountsInWords, lifetimeInWords } from '../../src/pages/words.ts'

test('a lifetime is shown in the largest exact unit', () => {
  expect([1, 59, 60, 61, 3_600, 5_400, 86_400, 90_000, 30 * 86_400].map(lifetimeInWords)).toEqual([
    '1 second',
    '59 seconds',
    '1 minute',
    '61 seconds',
    '1 hour',
    '90 minutes',
    '1 day',
    '25 hours',
    '30 days',
  ])
})

test('active and pending installs are counted, and ended ones are not', () => {
  const over = { approval: 'approved', state: 'inactive', count: 4 } as const
  const rejected = { approval: 'rejected', state: 'inactive', count: 8 } as const
  const active = { approval: 'approved', state: 'active', count: 2 } as const
  const pending = { approval: 'pending', state: 'inactive', count: 1 } as const
  expect(installCountsInWords([over, active, rejected, pending])).toBe('2 active, 1 waiting for approval')
  expect(installCountsInWords([over, active])).toBe('2 active, 0 waiting for approval')
  expect(installCountsInWords([pending])).toBe('0 active, 1 waiting for approval')
  expect(installCountsInWords([over, rejected])).toBe('None yet')
})
