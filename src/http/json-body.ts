import { Elysia } from 'elysia'
import { readJson } from './strict-json.ts'

export const bodyLimits = { ordinary: 64 * 1024, versionUpload: 16 * 1024 * 1024 } as const

/**
 * Decodes the body strictly, after whatever has authenticated the caller before it in the chain, and before the schema
 * looks at it. Routes that use it say `parse: 'none'`, so that nothing decodes a body more leniently.
 */
export const jsonBody = (limitBytes: number = bodyLimits.ordinary) =>
  new Elysia().onTransform({ as: 'scoped' }, async (context) => {
    context.body = await readJson(context.request, limitBytes)
  })
