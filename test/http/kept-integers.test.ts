import { describe, expect, test } from 'bun:test'
import { assert, jsonValue, property } from 'fast-check'
import { parseStrictBytes } from '../../src/http/strict-body.ts'
import { refusalOf } from '../operations/support/owner.ts'

const parse = (text: string) => parseStrictBytes(new TextEncoder().encode(text))
const codeOf = async (text: string) => await refusalOf(Promise.try(() => parse(text)))

describe('an upload is refused for an integer that would be returned with other digits', () => {
  test.each([
    '9007199254740993',
    '-9007199254740993',
    '{"manifest":{"build":12345678901234567890}}',
    '{"a":[1,{"b":[2,9007199254740993]}]}',
    '{"a":"x","b":9007199254740993 }',
    '{"a":"\\"","b":9007199254740993}',
    '[1.5,1e3,9007199254740993,-0.5]',
    '[\n9007199254740993\n]',
  ])('%p', async (text) => {
    expect(await codeOf(text)).toBe('invalid_request')
  })
})

describe('an upload is read', () => {
  test.each([
    '{"a":"9007199254740993","b\\\\":1}',
    '{"9007199254740993":1}',
    '["\\"9007199254740993"]',
    '[9007199254740992,-9007199254740991]',
    '[1e300,12345678901234567890.0,12345678901234567890e-3,0.30000000000000000001]',
    '[1234567890123456,1234567890123456]',
  ])('%p', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test('when it is what JSON.stringify writes', () => {
    assert(
      property(jsonValue(), (value) => {
        const text = JSON.stringify(value)
        if (!/__proto__|\\u0000|\\ud[89a-f]/.test(text)) expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })
})

test('invalid JSON is reported as such, whatever numbers it contains', async () => {
  expect(await codeOf('{"a":9007199254740993')).toBe('invalid_json')
  expect(await codeOf('[9007199254740993,1e400]')).toBe('invalid_json')
})
