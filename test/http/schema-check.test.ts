import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { fieldRefusal, pathInSchema } from '../../src/http/schema-check.ts'

const schema = Type.Object({
  artifact: Type.Object({ filename: Type.String() }),
  choice: Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
  list: Type.Array(Type.Object({ name: Type.String() })),
  free: Type.Record(Type.String(), Type.String()),
  some: Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()]),
})

test.each([
  ['/artifact/filename', 'artifact.filename'],
  ['/choice/b', 'choice.b'],
  ['/list/12/name', 'list.12.name'],
  ['/free/canary', 'free'],
  ['/some/3/name', 'some.3.name'],
  ['/artifact/canary', 'artifact'],
  ['/list/canary/name', 'list'],
  ['/canary', null],
  ['/__proto__', null],
  ['/constructor', null],
  ['', null],
])('the path %p is told as %p', (pointer, path) => {
  expect(pathInSchema(schema, pointer)).toBe(path)
  expect(pathInSchema({ schema }, pointer)).toBe(path)
})

test('a missing branch has no schema', () => {
  for (const none of [null, undefined, 'a', { schema: null }]) expect(pathInSchema(none, '/a/b')).toBeNull()
  expect(pathInSchema({ properties: { a: null } }, '/a/b')).toBe('a')
})

test('a refusal names the field that the schema names, and no field where it names none', () => {
  expect(fieldRefusal(schema, '/artifact/canary').facts).toMatchObject({ param: 'artifact' })
  expect(fieldRefusal(schema, '/canary').facts).toEqual({})
})
