import { expect, test } from 'bun:test'
import { assert, bigInt, maxSafeInteger, property } from 'fast-check'
import { isKeptInteger } from '../../src/domain/kept-integer.ts'

test.each(['0', '-0', '9007199254740991', '-9007199254740991', '9007199254740992', '9007199254740994'])(
  '%p comes back as it was sent',
  (literal) => expect(isKeptInteger(literal)).toBe(true),
)

test.each([
  '9007199254740993',
  '-9007199254740993',
  '10000000000000001',
  '12345678901234567890',
  '1000000000000000000000', // would come back as 1e+21
  `1${'0'.repeat(400)}`,
])('%p would come back with other digits', (literal) => expect(isKeptInteger(literal)).toBe(false))

test('every integer of up to 2^53 is kept, and of all others those that JSON gives back alike', () => {
  assert(property(maxSafeInteger(), (value) => isKeptInteger(String(value))))
  assert(
    property(bigInt(-(2n ** 70n), 2n ** 70n), (value) => {
      const literal = String(value)
      return isKeptInteger(literal) === (JSON.stringify(JSON.parse(literal)) === literal)
    }),
  )
})

test('a number with a point or an exponent is meant as a double', () => {
  for (const literal of ['1.5', '0.1000000000000000055', '1e300', '12345678901234567890.0', '12345678901234567890e1']) {
    expect(isKeptInteger(literal)).toBe(true)
  }
})
