import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { base62OfNumber, decodeBase62, encodeBase62, isBase62 } from '../../src/domain/base62.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe('base62', () => {
  test('the digits are 0-9, A-Z, a-z, most significant first, padded with 0', () => {
    expect(encodeBase62(Uint8Array.of(0), 3)).toBe('000')
    expect(encodeBase62(Uint8Array.of(61), 2)).toBe('0z')
    expect(encodeBase62(Uint8Array.of(62), 2)).toBe('10')
    expect(encodeBase62(Uint8Array.of(10, 36), 2)).toBe('fs')
  })

  test('a text stands for the same number as its bytes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), (length) => {
        fc.assert(
          fc.property(bytes(length), (value) => {
            const text = encodeBase62(value, 55)
            let number = 0n
            for (const digit of text) {
              const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
              number = number * 62n + BigInt(digits.indexOf(digit))
            }
            expect(number).toBe(BigInt(`0x0${Buffer.from(value).toString('hex')}`))
          }),
          { numRuns: 20 },
        )
      }),
    )
  })

  test('decoding the text returns the bytes, of any number', () => {
    const anyLength = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(anyLength, (value) => expect(decodeBase62(encodeBase62(value, 55), value.length)).toEqual(value)),
    )
    fc.assert(fc.property(bytes(16), (value) => expect(decodeBase62(encodeBase62(value, 22), 16)).toEqual(value)))
    fc.assert(fc.property(bytes(32), (value) => expect(decodeBase62(encodeBase62(value, 43), 32)).toEqual(value)))
  })

  test('texts sort as their bytes do', () => {
    fc.assert(
      fc.property(bytes(16), bytes(16), (a, b) => {
        const [first, second] = [encodeBase62(a, 22), encodeBase62(b, 22)]
        expect(Math.sign(Buffer.compare(a, b))).toBe(first < second ? -1 : first > second ? 1 : 0)
      }),
    )
  })

  test('a text whose number needs more bytes decodes to null', () => {
    expect(decodeBase62('48', 1)).toBeNull()
    expect(decodeBase62(encodeBase62(Uint8Array.of(1, 0, 0, 0), 6), 3)).toBeNull()
    expect(decodeBase62('1', 0)).toBeNull()
  })

  test('a number that needs more digits is refused, never cut', () => {
    expect(() => encodeBase62(Uint8Array.of(62), 1)).toThrow(RangeError)
    expect(() => encodeBase62(new Uint8Array(32).fill(255), 42)).toThrow(RangeError)
    expect(() => base62OfNumber(62, 1)).toThrow(RangeError)
  })

  test('a number and its four bytes have one text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (number) => {
        const value = Buffer.alloc(4)
        value.writeUInt32BE(number)
        expect(base62OfNumber(number, 6)).toBe(encodeBase62(value, 6))
      }),
    )
  })

  test('a text that does not fit the bytes is refused', () => {
    const highest = encodeBase62(new Uint8Array(16).fill(255), 22)
    expect(highest).toBe('7n42DGM5Tflk9n8mt7Fhc7')
    expect(decodeBase62('7n42DGM5Tflk9n8mt7Fhc8', 16)).toBeNull()
    expect(decodeBase62('z'.repeat(22), 16)).toBeNull()
  })

  test('a character that is not a digit is refused at any position', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (text) => {
        const isPlain = /^[0-9A-Za-z]*$/.test(text)
        expect(isBase62(text)).toBe(isPlain)
        if (!isPlain) expect(decodeBase62(text, 64)).toBeNull()
      }),
    )
    for (const digit of ['-', '_', '+', '/', '@', '[', '`', '{', ':', '\u0130', '\u0660', '\uff10']) {
      expect(isBase62(`0${digit}0`)).toBeFalse()
    }
  })

  test('a text can be checked from a position on', () => {
    expect(isBase62('apat_0z', 5)).toBeTrue()
    expect(isBase62('apat_0z', 4)).toBeFalse()
  })
})
