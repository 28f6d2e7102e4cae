import { createHash } from 'node:crypto'
import { refuse } from '../domain/errors.ts'
import type { RepeatableRequest } from '../operations/idempotency/once.ts'
import { canonicalJson } from './canonical-json.ts'

/**
 * The `Idempotency-Key` header: 1 to 255 printable ASCII characters without a comma; null without the header.
 * @throws invalid_request for a malformed one
 */
export const idempotencyKeyOf = (request: Request): string | null => {
  const key = request.headers.get('idempotency-key')
  if (key === null) return null
  if (!/^[\x21-\x2b\x2d-\x7e](?:[\x20-\x2b\x2d-\x7e]{0,253}[\x21-\x2b\x2d-\x7e])?$/.test(key)) {
    throw refuse('invalid_request', { param: 'Idempotency-Key' })
  }
  return key
}

/** The request as one that may be sent again, when it carries a key. Bodies are compared by what they say, not by how. */
export const repeatableRequest = (
  request: Request,
  key: string | null,
  principal: string,
  path: string,
  body: unknown,
): RepeatableRequest | null => {
  if (key === null) return null
  const bodyHash = createHash('sha256').update(canonicalJson(body)).digest()
  return { principal, method: request.method, path, key, bodyHash }
}

/**
 * What tells a retry of an exchange or refresh from reuse: the key and the body as one text; null without a key. The
 * client secret is left out, because a client that rotates its secret may retry with the other live one.
 */
export const retryIdentity = (request: Request, body: Readonly<Record<string, unknown>>): string | null => {
  const key = idempotencyKeyOf(request)
  return key === null ? null : canonicalJson([key, { ...body, clientSecret: undefined }])
}
