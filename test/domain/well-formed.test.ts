import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { isWellFormedText } from '../../src/domain/well-formed.ts'

test('text with a lone surrogate or NUL is not well-formed', () => {
  for (const text of ['\ud800', 'a\udc00', '\udc00\ud800', 'a\0', '\0']) expect(isWellFormedText(text)).toBeFalse()
})

test('well-formed text comes back from UTF-8 unchanged', () => {
  const anything = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))
  fc.assert(
    fc.property(fc.oneof(anything, fc.string({ unit: 'binary' })), (text) => {
      const survives = Buffer.from(text, 'utf8').toString('utf8') === text
      expect(isWellFormedText(text)).toBe(survives && !text.includes('\0'))
    }),
  )
})
