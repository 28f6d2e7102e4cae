import type { ErrorCode } from '../domain/errors.ts'

/** Failures for which the platform has no error code. */
export type ClientFault =
  /** No answer: unknown host, refused or broken connection. The request may have been carried out. */
  | 'unreachable'
  /** No complete answer in time. The request may have been carried out. */
  | 'timed_out'
  /** An answer that is not the platform's: a redirect, a proxy's page, malformed JSON. */
  | 'unexpected_answer'
  /** Plain HTTP to another machine would expose every secret on the network. */
  | 'insecure_url'
  /** The client was created without `appScope`. */
  | 'app_scope_missing'
  /** The callback's state is not the one that was sent (RFC 6749 section 10.12). */
  | 'state_mismatch'
  /** The callback comes from another server (RFC 9207 section 2.4). */
  | 'issuer_mismatch'
  /** The callback has neither a code nor an error, or one of them twice. */
  | 'malformed_callback'
  /** A webhook that the platform did not sign, or signed too long ago. */
  | 'invalid_signature'
  /** The page was not opened in a frame of the builder. */
  | 'code_missing'
  /** The page of the builder gives no more codes. */
  | 'session_ended'

/** Any string, since a later server may know more codes. The known ones are listed so that editors complete them. */
export type AppPlatformErrorCode = ErrorCode | ClientFault | (string & Record<never, never>)

type AppPlatformErrorFacts = {
  readonly status?: number
  readonly requestId?: string | null
  readonly param?: string | null
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly retryAfter?: number | null
  readonly cause?: unknown
}

/**
 * Every refusal and every failure of a call. No field, and no way of printing it, contains a secret that was sent.
 */
export class AppPlatformError extends Error {
  override readonly name = 'AppPlatformError'
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** Names the request in the server's log; null when there was no answer. */
  readonly requestId: string | null
  /** The field at fault. */
  readonly param: string | null
  /** Facts for programs; the code decides which. */
  readonly details: Readonly<Record<string, unknown>> | null
  /** Whole seconds to wait before a repeat; null when the server named none. */
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

  /** Whether the request may have been carried out: it was sent, and no answer denies it. */
  get mayBeDone(): boolean {
    if (this.status === null) return this.code === 'unreachable' || this.code === 'timed_out'
    return this.status < 300 || this.status >= 500
  }

  override toString(): string {
    const request = this.requestId === null ? '' : `, request ${this.requestId}`
    return `${this.name}: ${this.message} (${this.code}${request})`
  }
}
