import { type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type PlatformError, refuse } from '../domain/errors.ts'

/** Gives the value, typed, or throws invalid_request with the path of the field at fault. */
export type Check<T> = (value: unknown) => T

/**
 * Holds a value to a schema. Elysia's own validation is not used for what callers send: it turns numbers and lists into
 * objects where the schema wants an object, and it writes a wrong value into its error, which fails for `{"toString":1}` and
 * is slow for megabytes.
 */
export const checkOf = <T extends TSchema>(schema: T): Check<Static<T>> => {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => {
    if (compiled.Check(value)) return value
    throw fieldRefusal(schema, compiled.Errors(value).First()?.path ?? '')
  }
}

/** Names the field, and never its value. `pointer` is a JSON pointer to it. */
export const fieldRefusal = (schema: unknown, pointer: string): PlatformError => {
  const param = pathInSchema(schema, pointer)
  return param === null ? refuse('invalid_request') : refuse('invalid_request', { param, message: fieldMessage })
}

const fieldMessage = 'A field is missing or has a wrong type or value.'

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/**
 * A JSON pointer as a dotted path, as far as the schema names its segments. A key that the schema does not name was chosen by
 * the caller and is never repeated: the path ends before it. Null if nothing is left.
 */
export const pathInSchema = (validator: unknown, pointer: string): string | null => {
  let schema = isRecord(validator) && isRecord(validator['schema']) ? validator['schema'] : validator
  const named: string[] = []
  for (const segment of pointer.split('/').slice(1)) {
    const next = childOf(schema, segment)
    if (next === undefined) break
    named.push(segment)
    schema = next
  }
  return named.length === 0 ? null : named.join('.')
}

const childOf = (schema: unknown, segment: string): unknown => {
  if (!isRecord(schema)) return undefined
  const { properties, items } = schema
  if (isRecord(properties) && Object.hasOwn(properties, segment)) return properties[segment]
  if (isRecord(items) && /^\d{1,6}$/.test(segment)) return items
  return [schema['anyOf'], schema['allOf']]
    .flat()
    .map((branch) => childOf(branch, segment))
    .find((found) => found !== undefined)
}
