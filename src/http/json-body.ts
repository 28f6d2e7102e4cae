import { Elysia } from 'elysia'
import { jsonBodies, type BodyRule } from './admission.ts'
import { contextOf } from './request-context.ts'
import { contractPath } from './routes/paths.ts'
import { readJson } from './strict-json.ts'

/**
 * Decodes the body strictly, after whatever has authenticated the caller before it in the chain, and before the schema
 * looks at it. Elysia parses before everything else, so its parsing is answered with a stand-in that reads nothing: a
 * stranger's body is not even received.
 */
export const jsonBody = () =>
  new Elysia()
    .onParse({ as: 'scoped' }, () => ({}))
    .onTransform({ as: 'scoped' }, async (context) => {
      context.body = await readJson(context.request, contextOf(context.request).bodyLimitBytes)
    })

/** Uploads carry an artifact of up to 10 MiB as base64 (contract section 1). */
const versionUploads: BodyRule = { ...jsonBodies, limitBytes: 16 * 1024 * 1024 }

/** What a route takes as a body where it is not the ordinary one. */
export const bodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && pattern === `${contractPath}/versions` ? versionUploads : undefined
