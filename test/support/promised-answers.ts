import Ajv, { type ValidateFunction } from 'ajv'
import type { Json } from './call.ts'

/** The error codes that an operation of an OpenAPI document names for a status. */
export const codesOf = (operation: Json, status: string): readonly string[] => operation['x-error-codes'][status] ?? []

/** What an operation says of a status: in words of its own, or in those of every other error, if it names codes for it. */
export const responseTo = (operation: Json, status: string): Json | undefined =>
  operation.responses[status] ?? (codesOf(operation, status).length > 0 ? operation.responses.default : undefined)

/** A schema that takes no field which it does not name, so that an answer with one more than agreed is noticed. */
const closed = (schema: Json): Json => {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(closed)
  const copy = Object.fromEntries(Object.entries<Json>(schema).map(([key, value]) => [key, closed(value)]))
  return copy.properties !== undefined && copy.type === 'object' && copy.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}

/**
 * Judges answers by an OpenAPI document without references: each has a status that its operation names, the body of the schema
 * without a field more, and a code that the operation names for this status.
 */
export const createPromises = (document: Json) => {
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true } })
  const checks = new Map<string, ValidateFunction>()
  /** How a value breaks a schema, which many operations share; null if it does not. */
  const misfit = (schema: Json, value: unknown): string | null => {
    const check = checks.getOrInsertComputed(JSON.stringify(schema), () => ajv.compile(schema))
    return check(value) ? null : ajv.errorsText(check.errors)
  }
  const templates = Object.keys(document.paths).map(
    (path) => [path, new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const,
  )

  /** How the answer differs from what is promised; null if it does not. */
  const faultOf = (method: string, path: string, status: number, body: Json): string | null => {
    const [template = ''] =
      templates.find(([own]) => own === path) ?? templates.find(([, form]) => form.test(path)) ?? []
    const operation = document.paths[template]?.[method.toLowerCase()]
    const response = operation === undefined ? undefined : responseTo(operation, String(status))
    if (response === undefined) return `The document knows no ${status} of it.`
    const code = body?.error?.code ?? body?.error
    if (status >= 400 && !codesOf(operation, String(status)).includes(code)) return `It names no ${status} ${code}.`
    const schema = response.content?.['application/json']?.schema
    if (schema === undefined) return null
    const fault = misfit(closed(schema), body)
    return fault === null ? null : `It is not as promised (${status} ${code}): ${fault}`
  }

  const knows = (method: string, path: string): boolean => document.paths[path]?.[method.toLowerCase()] !== undefined
  return { faultOf, knows, misfit }
}
