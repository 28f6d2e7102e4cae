import { type PlatformError, refuse, tooLarge } from '../domain/errors.ts'
import type { AuthorizationHeader, Call } from './call.ts'

/** The size and media types that a route accepts. */
export type BodyRule = {
  readonly limitBytes: number
  readonly mediaTypes: readonly string[]
  /** A request without a body needs no media type. */
  readonly isOptional?: true
}

export const jsonBodies: BodyRule = { limitBytes: 64 * 1024, mediaTypes: ['application/json'] }
export const formBodies: BodyRule = { limitBytes: 64 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }
/** Uploads carry an artifact of up to 10 MiB as base64 (contract section 1). Of other bodies only an import is larger. */
export const largestBodyBytes = 16 * 1024 * 1024
export const uploadBodies: BodyRule = { ...jsonBodies, limitBytes: largestBodyBytes }
/** An import: one JSON object per line, read as it arrives. */
export const lineBodies: BodyRule = {
  limitBytes: 256 * 1024 * 1024,
  mediaTypes: ['application/x-ndjson', 'application/jsonl'],
}
const multipart = 'multipart/form-data'
/** Forms with a file. */
export const fileFormBodies: BodyRule = { limitBytes: largestBodyBytes, mediaTypes: [multipart] }

/** What monitors and load balancers ask. */
export const monitoredRoutes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

const hostSyntax = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * RFC 9110 section 7.2. Bun joins two Host headers with a comma and accepts anything else, including what makes the path of
 * the URL ambiguous and what only looks like a host: 1.2.3.4.5, [1:2], xn--, a port of 99999. The last good host is remembered,
 * since nearly all requests name the same one.
 */
export const createHostCheck = (): ((request: Request, route: string) => PlatformError | null) => {
  let lastGood: string | null = null
  return ({ headers }, route) => {
    const host = headers.get('host')
    if (host !== null && host === lastGood) return null
    // Load balancers check by HTTP/1.0 without a host (RFC 9110 section 7.2 wants one from HTTP/1.1 on, and Bun requires it there).
    if ((host === null || host === '') && monitoredRoutes.has(route)) return null
    if (host === null || !hostSyntax.test(host) || !URL.canParse(`http://${host}`)) return badHeader('Host')
    lastGood = host
    return null
  }
}

/**
 * Their queries are written by another program, and browsers carry them. They are read there, since the app or the person may have to
 * be told, whatever it wrote.
 */
const carriedQueries: ReadonlySet<string> = new Set(['/oauth/authorize', '/sign-in/oidc/callback'])

/**
 * Escapes in a path or query must make UTF-8 without NUL, as the texts of bodies must: PostgreSQL stores no NUL, and what is no
 * UTF-8 would become another text.
 */
export const checkAddress = (url: string, route: string): PlatformError | null => {
  if (!url.includes('%') || carriedQueries.has(route)) return null
  const broken = url.split(/[?&]/).find((part) => part.match(/(?:%[0-9a-f]{2})+/gi)?.every(isText) === false)
  if (broken === undefined) return null
  const name = /^[\w.-]{1,64}(?==)/.exec(broken)?.[0]
  return refuse('invalid_request', { message: 'The address has broken characters.', ...(name && { param: name }) })
}

const isText = (escapes: string): boolean => {
  try {
    return !decodeURIComponent(escapes).includes('\0')
  } catch {
    return false
  }
}

/**
 * Size, coding and media type, as far as the headers tell (413, 415). A body without a length is measured when it is read, and
 * none is unpacked. The content of a GET has no meaning (RFC 9110 section 9.3.1) and is never read.
 */
export const checkBody = (request: Request, rule: BodyRule): PlatformError | null => {
  if (request.method === 'GET' || request.method === 'HEAD') return null
  const length = request.headers.get('content-length')
  const carries = request.method === 'POST' || request.method === 'PUT' || request.method === 'PATCH'
  if (!carries && (length === null || length === '0') && !request.headers.has('transfer-encoding')) return null
  const isEmpty = (length === null || length === '0') && !request.headers.has('transfer-encoding')
  if (rule.isOptional === true && isEmpty) return null
  if (length !== null && !/^\d{1,15}$/.test(length)) return badHeader('Content-Length')
  if (length !== null && Number(length) > rule.limitBytes) return tooLarge(rule.limitBytes)
  const coding = request.headers.get('content-encoding')
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    return refuse('unsupported_media_type', { message: 'The body must not be compressed.' })
  }
  return checkMediaType(request.headers.get('content-type'), rule)
}

/** UTF-8 by its name or by its common label (Encoding Standard section 4.2). Empty parameters are allowed (RFC 9110 section 5.6.6). */
const utf8Charset = /^charset=(?:utf-?8|"utf-?8")$/

const checkMediaType = (type: string | null, rule: BodyRule): PlatformError | null => {
  if (type === null) return otherType(rule)
  if (rule.mediaTypes.includes(type)) return null
  // Its boundary is checked when it is read.
  if (rule.mediaTypes.includes(multipart) && type.toLowerCase().startsWith(`${multipart};`)) return null
  if (type.includes(',')) return badHeader('Content-Type')
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  const isUtf8 = parameters.every((parameter) => parameter === '' || utf8Charset.test(parameter))
  return rule.mediaTypes.includes(name) && isUtf8 ? null : otherType(rule)
}

const otherType = ({ mediaTypes }: BodyRule): PlatformError =>
  refuse('unsupported_media_type', { message: `The body must be ${mediaTypes.join(' or ')}, in UTF-8.` })

/** Headers with a single value that are read on calls that change something. */
const singleOnWrites = [
  ['idempotency-key', 'Idempotency-Key'],
  ['origin', 'Origin'],
  ['sec-fetch-site', 'Sec-Fetch-Site'],
] as const

/** Bun joins repeated headers with a comma; none of these may contain one. */
export const checkSingleHeaders = ({ authorization, request }: Call): PlatformError | null => {
  if (authorization.kind !== 'none' && valueOf(authorization).includes(',')) return badHeader('Authorization')
  if (request.method === 'GET' || request.method === 'HEAD') return null
  for (const [name, spelling] of singleOnWrites) {
    if (request.headers.get(name)?.includes(',') === true) return badHeader(spelling)
  }
  return null
}

const valueOf = (authorization: Exclude<AuthorizationHeader, { kind: 'none' }>): string =>
  authorization.kind === 'bearer' ? authorization.token : authorization.header

const badHeader = (name: string): PlatformError =>
  refuse('invalid_request', { message: `The ${name} header is missing, malformed or repeated.` })
