import { expect, test } from 'bun:test'
import { rejectionFault } from '../../src/domain/rejection.ts'

const item = { path: 'manifest.name', message: 'Missing.' }

test('a rejection has a message and may have items', () => {
  expect(rejectionFault({ message: 'Not yet.', items: [] })).toBeNull()
  expect(rejectionFault({ message: 'x'.repeat(2_000), items: [] })).toBeNull()
  expect(rejectionFault({ message: 'Not yet.', items: Array.from({ length: 100 }, () => item) })).toBeNull()
})

test('an empty, too long or broken text and too many items are refused', () => {
  expect(rejectionFault({ message: ' \n', items: [] })).toContain('empty')
  expect(rejectionFault({ message: 'x'.repeat(2_001), items: [] })).toContain('2000')
  expect(rejectionFault({ message: 'No.', items: [{ path: 'p', message: 'x'.repeat(2_001) }] })).toContain('2000')
  expect(rejectionFault({ message: 'No.', items: [{ path: '\ud800', message: 'm' }] })).toContain('broken')
  expect(rejectionFault({ message: 'No.', items: Array.from({ length: 101 }, () => item) })).toContain('100')
})
