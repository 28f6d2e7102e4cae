import { expect, test } from 'bun:test'
import { assert, jsonValue, property } from 'fast-check'
import { visibleJson, visibleText } from '../../src/domain/visible-text.ts'

test('what cannot be seen is written out', () => {
  expect(visibleJson('a\u202egpj.exe')).toBe('"a\\u202egpj.exe"')
  expect(visibleJson('\u200b\u00a0\u2028\u{e0041}\ufeff\u00ad\u3164')).toBe(
    '"\\u200b\\u00a0\\u2028\\udb40\\udc41\\ufeff\\u00ad\\u3164"',
  )
  expect(visibleJson({ ['key\u200d']: 1 })).toBe('{\n  "key\\u200d": 1\n}')
})

test('what can be seen stays as it is', () => {
  expect(visibleText('  \n  ')).toBe('  \n  ')
  expect(visibleText('a "b"\n\tc')).toBe('a "b"\n\\u0009c')
  expect(visibleJson('Grüße, 你好 😀 <script>&"')).toBe('"Grüße, 你好 😀 <script>&\\""')
  expect(visibleJson({ a: [1, null], b: {} })).toBe('{\n  "a": [\n    1,\n    null\n  ],\n  "b": {}\n}')
})

test('it is the same value still', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      expect(JSON.stringify(JSON.parse(visibleJson(value)))).toBe(JSON.stringify(value))
    }),
  )
})
