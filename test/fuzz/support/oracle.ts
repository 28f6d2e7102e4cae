import type { Json } from '../../support/call.ts'
import { createPromises } from '../../support/promised-answers.ts'
import type { Draft } from './draft.ts'
import { canary } from './hostile-values.ts'
import type { WireAnswer } from './wire.ts'

/** A secret of the request: whether it was in a header, and whether it has ended or has a wrong character. */
export type SentSecret = {
  readonly marker: string
  readonly value: string
  readonly isHead: boolean
  readonly isDead: boolean
}

/** Why this is no answer that the server may give; null when it is one. */
export type Oracle = (draft: Draft, secrets: readonly SentSecret[], answer: WireAnswer | null) => string | null

const contractPath = '/api/app-platform'
const standardPaths = ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/check', '/oauth/userinfo']
const standardErrors = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'temporarily_unavailable',
  'invalid_token',
  'insufficient_scope',
])

export const createOracle = (document: Json): Oracle => {
  const promises = createPromises(document)
  const promiseFault = ({ method, path }: Draft, { status, text }: WireAnswer): string | null =>
    promises.knows(method, path) ? promises.faultOf(method, path, status, parse(text)) : null
  return (draft, secrets, answer) => {
    if (answer === null) return 'The connection was closed without an answer.'
    if (answer.status === 431 && headCharacters(draft) > bunsMostCharacters) return null // Bun's own answer, without a body
    return (
      commonFault(answer) ??
      contractFault(draft, answer) ??
      errorFault(draft, answer) ??
      authorityFault(draft, secrets, answer) ??
      leakFault(secrets, answer) ??
      (draft.isOnPath ? promiseFault(draft, answer) : null)
    )
  }
}

/** Bun refuses longer heads before the server sees them. */
const bunsMostCharacters = 128 * 1024

const headCharacters = ({ path, query, headers }: Draft): number =>
  [...query, ...headers].reduce((sum, [name, value]) => sum + name.length + value.length, path.length)

const commonFault = ({ status, headers }: WireAnswer): string | null => {
  if (status === 503 && headers.has('retry-after')) return null
  if (status >= 500) return `It failed with ${status}.`
  if (!/^req_[0-9a-f]{32}$/.test(headers.get('x-request-id') ?? '')) return 'It has no request ID.'
  if (headers.get('x-content-type-options') !== 'nosniff') return 'It may be sniffed.'
  if (status >= 400 && headers.get('cache-control') !== 'no-store') return 'An error may be stored.'
  return null
}

const isContract = (path: string): boolean => path === contractPath || path.startsWith(`${contractPath}/`)

const contractFault = ({ path, isOnPath }: Draft, { headers }: WireAnswer): string | null => {
  if (!isOnPath) return null
  if (path === '/api/session' && headers.get('cache-control') !== 'no-store') return 'A session may be stored.'
  if (!isContract(path)) return null
  if (headers.get('x-service-api-version') !== '2026-08') return 'It names no version.'
  return headers.get('cache-control') === 'no-store' ? null : 'It may be stored.'
}

const errorFault = (draft: Draft, { status, headers, text }: WireAnswer): string | null => {
  if (status < 400 || draft.method === 'HEAD') return null
  const type = headers.get('content-type')
  if (type === 'text/html; charset=utf-8')
    return draft.path.includes('/api/') && draft.isOnPath ? 'A program got a page.' : null
  if (type !== 'application/json') return `It is an error of type ${type}.`
  const body = parse(text)
  const requestId = headers.get('x-request-id')
  if (typeof body?.error === 'string')
    // A dot segment leads to the same place.
    return standardPaths.some((path) => draft.path.endsWith(path)) && standardErrors.has(body.error)
      ? null
      : 'It is no error of this path.'
  if (body?.error?.requestId !== requestId) return 'Header and body tell different request IDs.'
  const unknown = Object.keys(body.error).filter(
    (key) => !['code', 'message', 'requestId', 'param', 'details'].includes(key),
  )
  return unknown.length === 0 && Object.keys(body).length === 1 ? null : 'It is not the envelope.'
}

/** Operations that require a token. */
const guardedPaths = new Set(
  ['/me', '/versions', '/versions/rollback', '/oauth/authorize', '/oauth/me', '/resources'].map(
    (path) => `${contractPath}${path}`,
  ),
)

const authorityFault = (
  { method, path, isOnPath, headers }: Draft,
  secrets: readonly SentSecret[],
  { status }: WireAnswer,
): string | null => {
  if (status >= 400 || method === 'OPTIONS' || !isOnPath || !guardedPaths.has(path)) return null
  const dead = new Set(secrets.flatMap(({ marker, isDead }) => (isDead ? [`Bearer ${marker}`] : [])))
  const shown = headers.filter(([name]) => /^(?:authorization|cookie)$/i.test(name))
  return shown.every(([, value]) => dead.has(value)) ? 'It let somebody in who showed nothing that lives.' : null
}

const leakFault = (secrets: readonly SentSecret[], { status, headers, text }: WireAnswer): string | null => {
  if (status < 400) return null
  const all = `${JSON.stringify([...headers])}${text}`
  // A page repeats what was entered into its fields.
  const isPage = headers.get('content-type')?.startsWith('text/html') === true
  if (secrets.some(({ value, isHead }) => (isHead || !isPage) && all.includes(value))) return 'It repeats a secret.'
  return all.includes(canary) && headers.get('content-type') === 'application/json' ? 'It repeats a value.' : null
}

const parse = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse('null')
  }
}
