import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { refuse } from '../domain/errors.ts'
import { fieldRefusal } from './field-refusal.ts'

/**
 * Holds bodies to a schema before Elysia does: its normalisation makes an object of whatever stands where the schema wants one,
 * of a number or a list too; and to tell of a wrong value it writes it into a text, which fails for `{"toString":1}` and takes its
 * time for megabytes. Gives the body; throws invalid_request, naming the field.
 */
export const bodyCheck = (schema: TSchema): ((body: unknown) => unknown) => {
  const compiled = TypeCompiler.Compile(schema)
  return (body) => {
    if (compiled.Check(body)) return body
    const path = compiled.Errors(body).First()?.path ?? ''
    throw path === '' ? refuse('invalid_request') : fieldRefusal(schema, path)
  }
}
