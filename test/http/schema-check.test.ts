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

test('a valid value is returned as it is', () => {
  expect(check(valid)).toBe(valid)
})

test.each([
  [{ ...valid, artifact: { filename: 1 } }, 'artifact.filename', 'It must be text.'],
  [{ ...valid, artifact: {} }, 'artifact.filename', 'It is missing; it must be text.'],
  [{ ...valid, artifact: { filename: 'a', canary: 1 } }, 'artifact', 'It has a field that does not exist here.'],
  [{ ...valid, list: [{ name: 'a' }, { name: 2 }] }, 'list.1.name', 'It must be text.'],
  [{ ...valid, list: 'canary' }, 'list', 'It must be a list.'],
  [{ ...valid, free: { canary: 1 } }, 'free', 'It must be text.'],
  [{ ...valid, some: [{ name: 1 }] }, 'some', 'It must be a list or null.'],
  [{ ...valid, list: undefined }, 'list', 'It is missing; it must be a list.'],
])('the refusal of %j names the field %p, as far as the schema names it, and the rule', (value, param, message) => {
  expect(factsOf(value)).toEqual({ param, message })
})

test('the refusal of another value than an object names no field', () => {
  for (const value of [null, undefined, 'canary', [], 7]) {
    expect(JSON.stringify(factsOf(value))).not.toContain('canary')
  }
  expect(Object.keys(Object(factsOf('canary')))).toEqual(['message'])
})

test('a rule is told in words, with its bounds and its values', () => {
  const rules = Type.Object({
    size: Type.Integer({ minimum: 1, maximum: 5 }),
    most: Type.Integer({ maximum: 5 }),
    name: Type.String({ minLength: 1 }),
    hash: Type.String({ pattern: '^[0-9a-f]{2}$', description: 'Two hex digits.' }),
    some: Type.Array(Type.String(), { maxItems: 2 }),
    kind: Type.Union([Type.Literal('website'), Type.Literal('store')]),
    isOn: Type.Boolean(),
  })
  const right = { size: 1, most: 1, name: 'a', hash: '00', some: [], kind: 'store', isOn: true }
  const saidOf = (wrong: object): unknown => {
    try {
      return checkOf(rules)({ ...right, ...wrong })
    } catch (error) {
      return error instanceof PlatformError ? error.message : error
    }
  }
  expect(saidOf({ size: 9 })).toBe('It must be a whole number of 1 to 5.')
  expect(saidOf({ most: 9 })).toBe('It must be a whole number of at most 5.')
  expect(saidOf({ name: '' })).toBe('It must be text that is not empty.')
  expect(saidOf({ hash: 'canary' })).toBe('It must be text: Two hex digits.')
  expect(saidOf({ some: ['a', 'b', 'c'] })).toBe('It must be a list of at most 2 entries.')
  expect(saidOf({ kind: 'canary' })).toBe('It must be website or store.')
  expect(saidOf({ isOn: 'true' })).toBe('It must be true or false.')
})
