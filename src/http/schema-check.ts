import { KindGuard, type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { lazily } from '../domain/remembered.ts'

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
    throw fieldRefusal(schema, compiled().Errors(value).First())
  }
}

/** Names the field at fault and the rule that its schema has for it, and never its value. */
export const fieldRefusal = (schema: TSchema, fault: ValueError | undefined): PlatformError => {
  const param = fault === undefined ? '' : pathInSchema(schema, fault.path)
  if (fault === undefined || param === '') {
    return refuse('invalid_request', { message: 'The parameters or the body must be an object of named fields.' })
  }
  if (fault.type === ValueErrorType.ObjectAdditionalProperties) {
    return refuse('invalid_request', { param, message: 'It has a field that does not exist here.' })
  }
  const rule = ruleOf(fault.schema)
  const isMissing = fault.value === undefined
  return refuse('invalid_request', {
    param,
    message: isMissing ? `It is missing; it must be ${rule}.` : `It must be ${rule}.`,
  })
}

/** What the schema wants, as the end of a sentence. It has only words of the schema, none of a caller. */
const ruleOf = (schema: TSchema): string => {
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map(ruleOf).join(' or ')
  if (KindGuard.IsLiteral(schema)) return String(schema.const)
  if (KindGuard.IsNull(schema)) return 'null'
  if (KindGuard.IsBoolean(schema)) return 'true or false'
  if (KindGuard.IsArray(schema)) return `a list${boundsOf(schema.minItems, schema.maxItems, 'entries')}`
  if (KindGuard.IsString(schema)) {
    // A pattern is for programs. What the field is, in words, says the same to a person.
    const form = schema.pattern === undefined ? '' : `: ${schema.description?.replace(/\.$/, '') ?? schema.pattern}`
    return `text${boundsOf(schema.minLength, schema.maxLength, 'characters')}${form}`
  }
  if (KindGuard.IsInteger(schema)) return `a whole number${boundsOf(schema.minimum, schema.maximum, '')}`
  return KindGuard.IsObject(schema) || KindGuard.IsRecord(schema) ? 'an object' : 'as the API reference says'
}

const boundsOf = (least: number | undefined, most: number | undefined, unit: string): string => {
  if (least === undefined && most === undefined) return ''
  if (least === 1 && most === undefined) return ' that is not empty'
  const bounds =
    most === undefined ? `at least ${least}` : least === undefined ? `at most ${most}` : `${least} to ${most}`
  return [' of', bounds, ...(unit === '' ? [] : [unit])].join(' ')
}

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
