import { KindGuard, type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { lazily } from '../domain/lazily.ts'

/** Gives the value, typed, or throws invalid_request with the path of the field at fault. */
export type Check<T> = (value: unknown) => T

/**
 * Holds a value to a schema. Elysia's own validation is not used for what callers send: it turns numbers and lists into
 * objects where the schema wants an object, and it writes a wrong value into its error, which fails for `{"toString":1}` and
 * is slow for megabytes.
 */
export const checkOf = <T extends TSchema>(schema: T): Check<Static<T>> => {
  const compiled = lazily(() => TypeCompiler.Compile(schema))
  return (value) => {
    if (compiled().Check(value)) return value
    throw fieldRefusal(schema, compiled().Errors(value).First()?.path ?? '')
  }
}

/** Names the field that a JSON pointer leads to, and never its value. */
export const fieldRefusal = (schema: TSchema, pointer: string): PlatformError => {
  const param = pathInSchema(schema, pointer)
  return param === ''
    ? refuse('invalid_request', { message: 'The parameters or the body lack what the API reference requires.' })
    : refuse('invalid_request', { param, message: fieldMessage })
}

const fieldMessage = 'A field is missing or has a wrong type or value.'

/**
 * A JSON pointer as a dotted path, as far as the schema names its segments. A key that the schema does not name was chosen by
 * the caller and is never repeated: the path ends before it.
 */
const pathInSchema = (schema: TSchema, pointer: string): string => {
  const named: string[] = []
  let inner: TSchema | undefined = schema
  for (const segment of pointer.split('/').slice(1)) {
    inner = childOf(inner, segment)
    if (inner === undefined) break
    named.push(segment)
  }
  return named.join('.')
}

const childOf = (schema: TSchema, segment: string): TSchema | undefined => {
  if (KindGuard.IsArray(schema)) return schema.items
  return KindGuard.IsObject(schema) && Object.hasOwn(schema.properties, segment)
    ? schema.properties[segment]
    : undefined
}
