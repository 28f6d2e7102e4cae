import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { jsonBodies, type BodyRule } from './admission.ts'
import { bodyCheck } from './checked-body.ts'
import { callOf } from './call.ts'
import { contractPath } from './routes/paths.ts'
import { readJson } from './strict-json.ts'

/**
 * Decodes the body strictly and holds it to the schema, after whatever has authenticated the caller before it in the chain.
 * Elysia parses before everything else, so its parsing is answered with a stand-in that reads nothing: a stranger's body is
 * not even received.
 */
export const jsonBody = (schema: TSchema) => {
  const check = bodyCheck(schema)
  return new Elysia()
    .onParse({ as: 'scoped' }, () => ({}))
    .onTransform({ as: 'scoped' }, async (context) => {
      context.body = check(await readJson(context.request, callOf(context.request).bodyLimitBytes))
    })
}

/** Uploads carry an artifact of up to 10 MiB as base64 (contract section 1). Nothing else is as large. */
export const largestBodyBytes = 16 * 1024 * 1024
const versionUploads: BodyRule = { ...jsonBodies, limitBytes: largestBodyBytes }

/** What a route takes as a body where it is not the ordinary one. */
export const bodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && pattern === `${contractPath}/versions` ? versionUploads : undefined
