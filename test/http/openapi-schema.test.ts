import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { exampleOf, openApiSchema } from '../../src/http/openapi-schema.ts'

const told = (schema: object) => openApiSchema(JSON.parse(JSON.stringify(schema)), new Map())
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

describe('a schema in OpenAPI 3.1', () => {
  test('is taken over, with null and constants', () => {
    for (const schema of [
      { type: 'string', minLength: 1, pattern: '^a', description: 'An a.' },
      orNull(Type.Union([Type.String(), Type.Integer()])),
      orNull(Type.Literal('a')),
      Type.Literal('Bearer'),
    ])
      expect(told(schema)).toEqual(JSON.parse(JSON.stringify(schema)))
  })

  test('has an enum for a choice of texts', () => {
    const choice = Type.Union([Type.Literal('a'), Type.Literal('b')])
    expect(told(choice)).toEqual({ type: 'string', enum: ['a', 'b'] })
    expect(told(Type.Union([choice, Type.Null()]))).toEqual({
      anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }],
    })
  })

  test('has no examples of fields, which make one example of the whole', () => {
    const schema = Type.Object({ a: Type.Array(Type.String({ examples: ['x', 'y'] })) })
    expect(told(schema)).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'array', items: { type: 'string' } } },
    })
    expect(exampleOf(JSON.parse(JSON.stringify(schema)))).toEqual({ a: ['x'] })
  })

  test('with a title is a model that others refer to, and two schemas cannot have the same title', () => {
    const models = new Map()
    const thing = { type: 'object', title: 'Thing', properties: {} }
    const reference = { $ref: '#/components/schemas/Thing' }
    expect(openApiSchema(thing, models)).toEqual(reference)
    expect(openApiSchema({ anyOf: [thing, { type: 'null' }] }, models)).toEqual({
      anyOf: [reference, { type: 'null' }],
    })
    expect(Object.fromEntries(models)).toEqual({ Thing: { type: 'object', properties: {} } })
    expect(() => openApiSchema({ type: 'string', title: 'Thing' }, models)).toThrow('Two schemas are named Thing.')
  })

  test('leaves out what is not documented, and documents some fields otherwise than they are checked', () => {
    expect(
      told(
        Type.Object({
          hidden: Type.Optional(Type.Unknown({ documented: false })),
          limit: Type.Optional(Type.String({ documented: { type: 'integer', maximum: 100 } })),
        }),
      ),
    ).toEqual({ type: 'object', properties: { limit: { type: 'integer', maximum: 100 } } })
  })

  test('has no patterns for keys and no identifiers', () => {
    expect(told(Type.Record(Type.String(), Type.Number(), { $id: 'x' }))).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
    })
    expect(told(Type.Record(Type.String(), Type.Unknown()))).toEqual({ type: 'object', additionalProperties: true })
  })

  test('of a shared model keeps a description of its own beside the reference', () => {
    const models = new Map()
    const time = { type: 'string', title: 'Time', shared: 'A time.' }
    const reference = { $ref: '#/components/schemas/Time' }
    expect(openApiSchema({ ...time, description: 'When it began.' }, models)).toEqual({
      ...reference,
      description: 'When it began.',
    })
    expect(openApiSchema({ ...time, description: 'A time.' }, models)).toEqual(reference)
    expect(Object.fromEntries(models)).toEqual({ Time: { type: 'string', description: 'A time.' } })
  })
})
