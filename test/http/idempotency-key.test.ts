import { expect, test } from 'bun:test'
import { canonicalJson } from '../../src/http/idempotency-key.ts'

test('neither spacing nor the order of keys matters, at any depth', () => {
  const one = JSON.parse('{"b": {"y": [ {"d": 1, "c": 2} ], "x": null}, "a": "t", "10": 0, "9": 0}')
  const other = JSON.parse('{"9":0,"10":0,"a":"t","b":{"x":null,"y":[{"c":2,"d":1}]}}')
  expect(canonicalJson(one)).toBe(canonicalJson(other))
  expect(JSON.parse(canonicalJson(one))).toEqual(other)
})

test('the order of a list, a value, its type, and a field more or less matter', () => {
  const texts = [
    '{"a":[1,2]}',
    '{"a":[2,1]}',
    '{"a":[1,"2"]}',
    '{"a":[1,2],"b":null}',
    '{"a":{"0":1,"1":2}}',
    '{"a":[1,2,null]}',
    '{}',
    '[]',
    'null',
  ]
  expect(new Set(texts.map((text) => canonicalJson(JSON.parse(text)))).size).toBe(texts.length)
})
