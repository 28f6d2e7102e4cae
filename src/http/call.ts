import type { Environment } from '../domain/app.ts'
import type { Trace } from '../operations/platform.ts'
import type { RateLimitState } from './rate-limit.ts'

declare global {
  interface Request {
    /** Set by the shell. Elysia hands handlers the request itself, so this is how the call reaches them; read it with `callOf`. */
    call?: Call
  }
}

/** What Bun's server offers for the connection of a request. */
export type HttpConnection = {
  /** How long it may be idle until the request has been answered, in seconds; 0: as long as it takes. */
  timeout(request: Request, seconds: number): void
}

/** IDs that the request's log line names, filled in as they become known. Never a value that a caller sent unchecked. */
type RequestNotes = {
  appId?: string
  clientId?: string
  userId?: string
  grantId?: string
  errorCode?: string
}

/** The Authorization header. A bearer token is not checked yet; `other` is any other scheme, or a malformed header. */
export type AuthorizationHeader =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'other'; readonly header: string }

/**
 * Everything known about one request. The shell makes it before anything else runs, handlers add to it, and the shell
 * reads it when the request is answered. It serves as the `Trace` of audit rows, so do not keep it beyond the request.
 */
export type Call = Trace & {
  readonly request: Request
  /** The key that limits count the address by: for IPv6 its /64. */
  readonly addressKey: string
  /** The path of the URL, undecoded. */
  readonly path: string
  /** The pattern of the route, or `unmatched`. */
  readonly route: string
  /** How large the body may be on this route. */
  readonly bodyLimitBytes: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** The trusted time at which work on the request began. What runs after a body has arrived reads the clock again. */
  now: number
  /** The caller's own X-Request-Id. It is only logged. */
  readonly clientRequestId: string | null
  readonly authorization: AuthorizationHeader
  readonly notes: RequestNotes
  /** The state that the answer's RateLimit headers show: that of the last limit asked, which is first the address limit. */
  rateLimit: RateLimitState | null
  /** The status of the answer, unless it is a refusal. */
  status: number
  /** Further headers of the answer; a list is sent as several lines. */
  headers: Record<string, string | readonly string[]> | null
  /** Cookies that the answer of a page sets in addition to its own. */
  cookies: readonly string[] | null
  /** The environment of an app that its page shows or its form is about, if it is chosen: what the answer leads to says it too. */
  environment: Environment | null
  /** The other origin whose page may read the answer (CORS). */
  openTo: string | null
  /** The file of an upload, if it is not in the body. */
  file: Uint8Array | null
  /** What it came over; null without a network. */
  connection: HttpConnection | null
  /** Frees what the request holds. Called once when it has been answered, also after a failure. */
  release: (() => void) | null
}

/** Throws for a request that did not come through the shell: nothing may be answered without its checks. */
export const callOf = ({ call }: Request): Call => {
  if (call === undefined) throw new Error('The request did not come through the server.')
  return call
}

export const clientRequestIdOf = ({ headers }: Request): string | null => {
  const id = headers.get('x-request-id')
  return id !== null && /^[\x21-\x7e]{1,128}$/.test(id) ? id : null
}

const noAuthorization: AuthorizationHeader = { kind: 'none' }

/** The scheme is compared without regard to case (RFC 9110 section 11.1). */
export const authorizationOf = ({ headers }: Request): AuthorizationHeader => {
  const header = headers.get('authorization')
  if (header === null || header === '') return noAuthorization // some clients send it empty
  return /^bearer /i.test(header)
    ? { kind: 'bearer', token: header.slice('bearer '.length).replace(/^ +/, '') }
    : { kind: 'other', header }
}
