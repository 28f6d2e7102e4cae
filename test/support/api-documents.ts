import { call, type Json } from './call.ts'
import { withoutReferences } from './without-references.ts'

/** The documents of the API: for apps, and for the builder. */
export const documentPaths = ['/openapi.json', '/openapi-builder.json'] as const

/** Every operation that a server describes, without references. */
export const readWholeApi = async (url: string): Promise<{ readonly paths: Json }> => {
  const documents = await Promise.all(documentPaths.map(async (path) => (await call(url, 'GET', `~${path}`)).body))
  return { paths: Object.assign({}, ...documents.map((document) => withoutReferences(document).paths)) }
}
