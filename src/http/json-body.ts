import { Elysia } from 'elysia'
import { refuse } from '../domain/errors.ts'
import { jsonBodies, type BodyRule } from './admission.ts'
import { contextOf } from './request-context.ts'
import { contractPath } from './routes/paths.ts'
import { readJson } from './strict-json.ts'

/**
 * Decodes the body strictly, after whatever has authenticated the caller before it in the chain, and before the schema
 * looks at it. Elysia parses before everything else, so its parsing is answered with a stand-in that reads nothing: a
 * stranger's body is not even received. Elysia's normalisation makes an object of whatever stands where the schema wants
 * one, of a number or a list too; so the body and the `objects` among its fields are held to be objects here.
 */
export const jsonBody = (...objects: readonly string[]) =>
  new Elysia()
    .onParse({ as: 'scoped' }, () => ({}))
    .onTransform({ as: 'scoped' }, async (context) => {
      const body = await readJson(context.request, contextOf(context.request).bodyLimitBytes)
      context.body = heldToBeObject(body, objects)
    })

/** @throws invalid_request where it, or one of these fields that it has, is not an object */
export const heldToBeObject = (body: unknown, objects: readonly string[]): Readonly<Record<string, unknown>> => {
  if (!isObject(body)) throw refuse('invalid_request')
  const fault = objects.find((field) => body[field] !== undefined && !isObject(body[field]))
  if (fault !== undefined) throw refuse('invalid_request', { param: fault })
  return body
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Uploads carry an artifact of up to 10 MiB as base64 (contract section 1). Nothing else is as large. */
export const largestBodyBytes = 16 * 1024 * 1024
const versionUploads: BodyRule = { ...jsonBodies, limitBytes: largestBodyBytes }

/** What a route takes as a body where it is not the ordinary one. */
export const bodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && pattern === `${contractPath}/versions` ? versionUploads : undefined
