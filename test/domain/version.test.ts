import { expect, test } from 'bun:test'
import { isProductionRollbackTarget, versionStatuses, versionSteps } from '../../src/domain/version.ts'

test('a version can have each status that a step starts from or leads to, and superseded, in the order of its life', () => {
  expect<readonly string[]>(versionStatuses).toEqual([
    'draft',
    'submitted',
    'approved',
    'active',
    'superseded',
    'rejected',
  ])
  const named = Object.values(versionSteps).flatMap(({ from, to }) => [from, to])
  expect(new Set<string>([...named, 'superseded'])).toEqual(new Set(versionStatuses))
})

test('users get back to a version that they had before, and to no other', () => {
  expect(versionStatuses.filter(isProductionRollbackTarget)).toEqual(['superseded'])
})
