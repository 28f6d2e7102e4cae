import { expect, test } from 'bun:test'
import { createLimitMarks } from '../../src/http/rate-limit.ts'

test('a key always has the same mark, whether or not it is remembered', () => {
  const markOf = createLimitMarks('secret')
  const first = markOf('app_1')
  for (let key = 1; key < 4096; key += 1) markOf(`other-${key}`)
  expect(markOf('app_1')).toBe(first)
  markOf('one too many')

  // Computed again: only a limited number of keys are remembered.
  expect(markOf('app_1')).not.toBe(first)
  expect(markOf('app_1')).toEqual(first)
  expect(markOf('app_2')).not.toEqual(first)
})

test('the place of a key cannot be computed without the secret', () => {
  expect(createLimitMarks('one')('app_1')).not.toEqual(createLimitMarks('two')('app_1'))
})
