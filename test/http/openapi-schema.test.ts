import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { openApiSchema } from '../../src/http/openapi-document.ts'

const told = (schema: object) => openApiSchema(JSON.parse(JSON.stringify(schema)))
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

describe('a schema in OpenAPI 3.0', () => {
  test('has `nullable` instead of the type null', () => {
    expect(told(orNull(Type.String()))).toEqual({ type: 'string', nullable: true })
    expect(told(orNull(Type.Union([Type.String(), Type.Integer()])))).toEqual({
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      nullable: true,
    })
  })

  test('has an enum instead of const, for one value or several', () => {
    expect(told(Type.Literal('Bearer'))).toEqual({ type: 'string', enum: ['Bearer'] })
    expect(told(Type.Union([Type.Literal('a'), Type.Literal('b')]))).toEqual({ type: 'string', enum: ['a', 'b'] })
    expect(told(orNull(Type.Literal('a')))).toMatchObject({ type: 'string', nullable: true })
  })

  test('has one example in each field', () => {
    expect(told(Type.Object({ a: Type.Array(Type.String({ examples: ['x', 'y'] })) }))).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'array', items: { type: 'string', example: 'x' } } },
    })
  })

  test('has no patterns for keys and no identifiers', () => {
    expect(told(Type.Record(Type.String(), Type.Number(), { $id: 'x' }))).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
    })
    expect(told(Type.Record(Type.String(), Type.Unknown()))).toEqual({ type: 'object', additionalProperties: true })
  })

  test('keeps the keywords that both dialects have', () => {
    const schema = { type: 'string', minLength: 1, pattern: '^a', description: 'An a.' }
    expect(told(schema)).toEqual(schema)
  })
})
