import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { assert, bigInt, jsonValue, maxSafeInteger, property } from 'fast-check'
import { isKeptInteger, isWellFormedText, visibleJson, visibleProse, visibleText } from '../../src/domain/text.ts'

test('text with a lone surrogate or NUL is not well-formed', () => {
  for (const text of ['\ud800', 'a\udc00', '\udc00\ud800', 'a\0', '\0']) expect(isWellFormedText(text)).toBeFalse()
})

test('well-formed text survives UTF-8 unchanged', () => {
  const anything = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))
  fc.assert(
    fc.property(fc.oneof(anything, fc.string({ unit: 'binary' })), (text) => {
      const survives = Buffer.from(text, 'utf8').toString('utf8') === text
      expect(isWellFormedText(text)).toBe(survives && !text.includes('\0'))
    }),
  )
})

test('invisible characters are written as escapes', () => {
  expect(visibleJson('a\u202egpj.exe')).toBe('"a\\u202egpj.exe"')
  expect(visibleJson('\u200b\u00a0\u2028\u{e0041}\ufeff\u00ad\u3164')).toBe(
    '"\\u200b\\u00a0\\u2028\\udb40\\udc41\\ufeff\\u00ad\\u3164"',
  )
  expect(visibleJson({ ['key\u200d']: 1 })).toBe('{\n  "key\\u200d": 1\n}')
})

/** Joiners of Persian and Hindi, a variant of a Japanese name, pictures of several characters, and a Hebrew point. */
const needed = ['می‌خواهید', 'क्‍ष', '葛\u{e0100}城', '❤️ 👨‍👩‍👧 👍🏽 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 😀\ufe0f']

test('what writing needs stays, also among what nobody needs', () => {
  for (const text of needed) {
    expect(visibleText(`${text}\u202e${text}\n`)).toBe(`${text}\\u202e${text}\n`)
    expect(visibleProse(text)).toBe(text.replace('😀\ufe0f', '😀'))
  }
  expect(visibleText('a\u200cb \u200d ❤\u200d❤ a\ufe0f')).toBe('a\\u200cb \\u200d ❤\\u200d❤ a\\ufe0f')
})

test('a tower of marks, which would cover other lines, is cut off by escapes', () => {
  const tower = `a${'\u0308'.repeat(8)}`
  for (const visible of [visibleText, visibleProse]) {
    expect(visible(`${tower} ok`)).toBe(`${tower} ok`)
    expect(visible(`${tower}${'\u0301'.repeat(400)} ok`)).toBe(`${tower}${'\\u0301'.repeat(400)} ok`)
  }
})

test('between people, each space is a space, tabs stay, marks without a meaning are left out, and what deceives is shown', () => {
  expect(visibleProse('Pourquoi\u00a0?\u202f!\u3000请\tx\r\ny\rz')).toBe('Pourquoi ? ! 请\tx\ny\nz')
  expect(visibleProse('שלום\u200f! co\u00adoperate')).toBe('שלום! cooperate')
  expect(visibleProse('می\u200c')).toBe('می')
  expect(visibleProse('a\u202egpj.exe \u2066\u{e0041}\u200b')).toBe('a\\u202egpj.exe \\u2066\\udb40\\udc41\\u200b')
})

test('visible characters stay unchanged', () => {
  expect(visibleText('  \n  ')).toBe('  \n  ')
  expect(visibleText('a "b"\n\tc')).toBe('a "b"\n\\u0009c')
  expect(visibleJson('Grüße, 你好 😀 <script>&"')).toBe('"Grüße, 你好 😀 <script>&\\""')
  expect(visibleJson({ a: [1, null], b: {} })).toBe('{\n  "a": [\n    1,\n    null\n  ],\n  "b": {}\n}')
})

test('JSON with escapes is still the same value', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      expect(JSON.stringify(JSON.parse(visibleJson(value)))).toBe(JSON.stringify(value))
    }),
  )
})

test.each(['0', '-0', '9007199254740991', '-9007199254740991', '9007199254740992', '9007199254740994'])(
  '%p keeps its digits',
  (literal) => expect(isKeptInteger(literal)).toBe(true),
)

test.each([
  '9007199254740993',
  '-9007199254740993',
  '10000000000000001',
  '12345678901234567890',
  '1000000000000000000000', // would be returned as 1e+21
  `1${'0'.repeat(400)}`,
])('%p would be returned with other digits', (literal) => expect(isKeptInteger(literal)).toBe(false))

test('every integer up to 2^53 keeps its digits, and a larger one only if JSON does', () => {
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
