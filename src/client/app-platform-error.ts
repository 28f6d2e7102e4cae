import type { ErrorCode } from '../domain/errors.ts'

/** What can go wrong without an error of the platform's own. */
export type ClientFault =
  /** No answer: no such host, nobody listening, a connection that broke. Whether the request was obeyed is not known. */
  | 'unreachable'
  /** No whole answer in time. Whether the request was obeyed is not known. */
  | 'timed_out'
  /** An answer that is not the platform's: a redirect, a page of a proxy, JSON that is none. */
  | 'unexpected_answer'
  /** Plain HTTP to another machine would show every secret on the way. */
  | 'insecure_url'
  /** The client was made without a scope to ask app tokens for. */
  | 'app_scope_missing'
  /** The browser came back with another state than it was sent away with (RFC 6749 section 10.12). */
  | 'state_mismatch'
  /** The browser came back from another server (RFC 9207 section 2.4). */
  | 'issuer_mismatch'
  /** The browser came back with neither a code nor an error, or with one of them twice. */
  | 'malformed_callback'

/** A later server may know more codes than this client; those that are known complete in an editor. */
export type AppPlatformErrorCode = ErrorCode | ClientFault | (string & Record<never, never>)

export type AppPlatformErrorFacts = {
  readonly status?: number
  readonly requestId?: string | null
  readonly param?: string | null
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly retryAfter?: number | null
  readonly cause?: unknown
}

/**
 * Every refusal and every failure of a call. No field of it, and nothing it prints as, holds a secret that was sent.
 */
export class AppPlatformError extends Error {
  override readonly name = 'AppPlatformError'
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** What to tell whoever runs the server; null when there was no answer. */
  readonly requestId: string | null
  /** The field at fault. */
  readonly param: string | null
  /** Facts for programs; which ones depends on the code. */
  readonly details: Readonly<Record<string, unknown>> | null
  /** Whole seconds after which to come back, when the server said. */
  readonly retryAfter: number | null

  constructor(
    readonly code: AppPlatformErrorCode,
    message: string,
    { status, requestId, param, details, retryAfter, cause }: AppPlatformErrorFacts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status ?? null
    this.requestId = requestId ?? null
    this.param = param ?? null
    this.details = details ?? null
    this.retryAfter = retryAfter ?? null
  }

  /** Whether the request may have been obeyed: it was sent, and nothing came back that says otherwise. */
  get mayBeDone(): boolean {
    if (this.status === null) return this.code === 'unreachable' || this.code === 'timed_out'
    return this.status < 300 || this.status >= 500
  }

  override toString(): string {
    const request = this.requestId === null ? '' : `, request ${this.requestId}`
    return `${this.name}: ${this.message} (${this.code}${request})`
  }
}
