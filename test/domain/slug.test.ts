import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { isSlug } from '../../src/domain/slug.ts'

test('a slug has 1 to 63 of a-z, 0-9 and inner hyphens', () => {
  for (const text of ['a', '0', 'ab', 'my-shop', 'a--b', 'a'.repeat(63), `a${'-'.repeat(61)}b`]) {
    expect([text, isSlug(text)]).toEqual([text, true])
  }
})

test('anything else is not a slug', () => {
  for (const text of ['', '-', '-a', 'a-', 'A', 'a_b', 'a b', 'a.b', 'a\n', '\u00e4', 'a'.repeat(64), '../a']) {
    expect([text, isSlug(text)]).toEqual([text, false])
  }
})

test('a slug needs no escaping in a URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      if (isSlug(text)) expect(encodeURIComponent(text)).toBe(text)
    }),
    { numRuns: 2000 },
  )
})
