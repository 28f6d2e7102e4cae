import { createHash } from 'node:crypto'
import { refuse } from '../domain/errors.ts'
import { isForeignId } from '../domain/identifier.ts'
import type { RepeatableRequest } from '../operations/once.ts'
import type { Call } from './call.ts'

/**
 * The `Idempotency-Key` header: 1 to 255 printable ASCII characters without a comma; null without the header.
 * @throws invalid_request for a malformed one
 */
export const idempotencyKeyOf = ({ request }: Call): string | null => {
  const key = request.headers.get('idempotency-key')
  if (key === null) return null
  if (!isForeignId('idempotency key', key)) {
    throw refuse('invalid_request', {
      param: 'Idempotency-Key',
      message: 'The key has 1 to 255 printable ASCII characters and no comma.',
    })
  }
  return key
}

/** What a repeat of the request must equal; null without a key. Equal JSON may be formatted differently. */
export const repeatableRequest = (
  { request, route }: Call,
  key: string | null,
  principal: string,
  body: unknown,
): RepeatableRequest | null => {
  if (key === null) return null
  const bodyHash = createHash('sha256').update(canonicalJson(body)).digest()
  return { principal, method: request.method, path: route, key, bodyHash }
}

/**
 * What a retry of an exchange or refresh must equal, or it is reuse: the endpoint, the key and the parameters; null without a
 * key. The client secret is left out, because a client that rotates its secret may retry with the other live one.
 */
export const retryIdentity = (call: Call, parameters: Readonly<Record<string, unknown>>): string | null => {
  const key = idempotencyKeyOf(call)
  return key === null ? null : canonicalJson([call.route, key, { ...parameters, clientSecret: undefined }])
}

/** One text for all spellings of the same JSON: neither spacing nor the order of keys matters, at any depth. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, inOrder)

const inOrder = (_: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
