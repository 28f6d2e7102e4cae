import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { PlatformError } from '../../src/domain/errors.ts'
import { checkOf } from '../../src/http/schema-check.ts'

const check = checkOf(
  Type.Object({
    artifact: Type.Object({ filename: Type.String() }, { additionalProperties: false }),
    list: Type.Array(Type.Object({ name: Type.String() })),
    free: Type.Record(Type.String(), Type.String()),
    some: Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()]),
  }),
)
const valid = { artifact: { filename: 'a' }, list: [{ name: 'a' }], free: { a: 'a' }, some: null }

const factsOf = (value: unknown) => {
  try {
    check(value)
    return 'valid'
  } catch (error) {
    return error instanceof PlatformError && error.code === 'invalid_request' ? error.facts : error
  }
}
const message = 'A field is missing or has a wrong type or value.'

test('a valid value is returned as it is', () => {
  expect(check(valid)).toBe(valid)
})

test.each([
  [{ ...valid, artifact: { filename: 1 } }, 'artifact.filename'],
  [{ ...valid, artifact: {} }, 'artifact.filename'],
  [{ ...valid, artifact: { filename: 'a', canary: 1 } }, 'artifact'],
  [{ ...valid, list: [{ name: 'a' }, { name: 2 }] }, 'list.1.name'],
  [{ ...valid, list: 'canary' }, 'list'],
  [{ ...valid, free: { canary: 1 } }, 'free'],
  [{ ...valid, some: [{ name: 1 }] }, 'some'],
  [{ ...valid, list: undefined }, 'list'],
])('the refusal of %j names the field %p, as far as the schema names it', (value, param) => {
  expect(factsOf(value)).toEqual({ param, message })
})

test('the refusal of another value than an object names no field', () => {
  for (const value of [null, undefined, 'canary', [], 7]) {
    expect(JSON.stringify(factsOf(value))).not.toContain('canary')
  }
  expect(Object.keys(Object(factsOf('canary')))).toEqual(['message'])
})
