import type { Trace } from '../operations/platform.ts'
import type { RateLimitState } from './rate-limit.ts'

/** IDs that the line in the log names, filled in as they become known. Never a value that a caller sent unchecked. */
export type RequestNotes = {
  appId?: string
  clientId?: string
  userId?: string
  grantId?: string
  errorCode?: string
}

/** What the shell knows about one request. */
export type RequestContext = {
  readonly requestId: string
  /** The caller's own X-Request-Id: logged, nothing else. */
  readonly clientRequestId: string | null
  readonly address: string
  /** What limits count the address by: for IPv6 its /64. */
  readonly addressKey: string
  /** The pattern of the route, or `unmatched`. */
  readonly route: string
  /** How large the body may be on this route. */
  readonly bodyLimitBytes: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** An Authorization header with a bearer token came; whether it is any good, the route decides. */
  bearerPresented: boolean
  readonly notes: RequestNotes
  /** The state that the answer's RateLimit headers tell: that of the last limit asked. */
  rateLimit: RateLimitState | null
  /** Lets go of what the request holds; called once it is answered, however. */
  release: (() => void) | null
}

const contexts = new WeakMap<Request, RequestContext>()

export const rememberContext = (request: Request, context: RequestContext): void => {
  contexts.set(request, context)
}

/** Throws for a request that did not come through the shell: nothing may be answered around it. */
export const contextOf = (request: Request): RequestContext => {
  const context = contexts.get(request)
  if (context === undefined) throw new Error('The request did not come through the server.')
  return context
}

/** Where the call came from, for the audit. */
export const traceOf = ({ requestId, address }: RequestContext): Trace => ({ requestId, address })
