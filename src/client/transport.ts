import type { Shape } from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { apiVersion, type RawAnswer, readAnswer, readText } from './read-answer.ts'
import { bodyOf, contentTypeOf } from './request-body.ts'
import { defaultRetryPolicy, type RetryPolicy, wait, waitBeforeRepeat } from './retry.ts'

export type TransportOptions = {
  /** The origin of the server, such as `https://apps.example.com`. */
  readonly url: string
  /** Allows plain HTTP to another machine, which exposes secrets on the network. */
  readonly insecureHttp?: boolean
  /** How long one try may take, including its answer. An upload gets five minutes. */
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  /** Called before each wait for a repeat. */
  readonly onRepeat?: (repeat: Repeat) => void
  /** Called after each successful answer, also of the requests that the client makes by itself. */
  readonly onAnswer?: OnAnswer
  /** The name of the program, such as `my-app/1.2`. In the User-Agent it precedes that of the library. */
  readonly userAgent?: string
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
}

export type Repeat = { readonly error: AppPlatformError; readonly waitMs: number }

/** What a successful answer had in addition to its body. */
export type AnswerFacts = {
  readonly status: number
  readonly headers: Headers
  /** Names the request in the server's log. */
  readonly requestId: string | null
}
export type OnAnswer = (answer: AnswerFacts) => void

/** Options of every call. */
export type CallOptions = {
  readonly signal?: AbortSignal
  /** How long one try may take. */
  readonly timeoutMs?: number
  /** Called when this call succeeds. */
  readonly onAnswer?: OnAnswer
}

export type PlatformRequest = CallOptions & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From the origin of the server. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON. */
  readonly body?: object
  /** Sent as a form, in the wire format of the RFCs. */
  readonly form?: Readonly<Record<string, string>>
  /** Opens a stream of newline-delimited JSON. */
  readonly lines?: () => ReadableStream<Uint8Array>
  readonly bearer?: string
  readonly idempotencyKey?: string
  /**
   * Whether sending it twice has the effect of sending it once. GET, PUT, DELETE and requests with an idempotency key always
   * are.
   */
  readonly idempotent?: boolean
  /** Its body cannot be sent a second time. */
  readonly isUnrepeatable?: boolean
  /** No repeat starts later than this, if that is earlier than the policy's limit. */
  readonly repeatWithinMs?: number
  /** Called with the bytes of the body that were sent so far and with their total. */
  readonly onUpload?: (sentBytes: number, totalBytes: number) => void
}

/** Where the endpoints of the contract begin. */
export const contractPath = '/api/app-platform'

/** Sends a request and returns its answer, which has that shape. */
export type Send = <T>(shape: Shape<T>, request: PlatformRequest) => Promise<T>

/**
 * Sends requests to the platform. Each try has a timeout. The retry policy repeats a failed try if that cannot do
 * anything twice: always after 429, where the server did nothing; after 5xx or no answer only if the request is
 * idempotent (spec section 7).
 * @throws AppPlatformError insecure_url, TypeError for a URL that is not an origin; the requests throw AppPlatformError,
 *   or the reason of their signal
 * @param agent the User-Agent; null for that of the browser
 */
export const createTransport = (
  options: TransportOptions,
  agent: string | null = [options.userAgent, libraryAgent].filter((name) => name !== undefined).join(' '),
): Send => {
  const origin = originOf(options)
  const policy = { ...defaultRetryPolicy, ...options.retry }
  const attempt = createAttempt(origin, agent, options)

  return async <T>(shape: Shape<T>, request: PlatformRequest): Promise<T> => {
    const startedAt = performance.now()
    let doubt: AppPlatformError | null = null
    for (let repeats = 0; ; repeats += 1) {
      try {
        const answer = await attempt(request)
        const value = readAnswer(answer, shape, secretsIn(request))
        const facts = { status: answer.status, headers: answer.headers, requestId: answer.headers.get('x-request-id') }
        options.onAnswer?.(facts)
        request.onAnswer?.(facts)
        return value
      } catch (error) {
        if (!(error instanceof AppPlatformError)) throw error
        // What a lost try may have removed is gone for its repeat.
        if (doubt !== null && request.method === 'DELETE' && error.status === 404) throw doubt
        if (error.mayBeDone) doubt ??= error
        if (!mayRepeat(request, error)) throw error
        const giveUpAfterMs = Math.min(policy.giveUpAfterMs, request.repeatWithinMs ?? Number.POSITIVE_INFINITY)
        const state = { repeats, elapsedMs: performance.now() - startedAt, retryAfterSeconds: error.retryAfter }
        const waitMs = waitBeforeRepeat({ ...policy, giveUpAfterMs }, state, Math.random())
        if (waitMs === null) throw error
        options.onRepeat?.({ error, waitMs })
        await wait(waitMs, request.signal)
      }
    }
  }
}

const mayRepeat = (request: PlatformRequest, { code, status }: AppPlatformError): boolean => {
  if (request.isUnrepeatable === true) return false
  if (status === 429) return true
  const isIdempotent = request.method !== 'POST' || request.idempotencyKey !== undefined || request.idempotent === true
  if (!isIdempotent) return false
  // The first try is still running; the repeat will get its outcome (contract section 5).
  if (code === 'idempotency_in_progress') return true
  return status === null ? code === 'unreachable' || code === 'timed_out' : status >= 500
}

const createAttempt =
  (origin: string, agent: string | null, { fetch = globalThis.fetch, timeoutMs = 30_000 }: TransportOptions) =>
  async (request: PlatformRequest): Promise<RawAnswer> => {
    request.signal?.throwIfAborted()
    const timeout = AbortSignal.timeout(request.timeoutMs ?? timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
    // What cannot be sent is the caller's fault: it is thrown as it is.
    const [url, headers, content] = [urlOf(origin, request), new Headers(headersOf(request, agent)), bodyOf(request)]
    try {
      // Redirects are not followed: they would forward the secrets of the request.
      const init = { method: request.method, headers, redirect: 'manual', signal } as const
      // Bun repeats a removal by itself on a connection that it has used before, and only its second answer would be seen.
      const once = request.method === 'DELETE' ? { keepalive: false } : {}
      const response = await fetch(url, { ...init, ...once, ...content, ...directly(origin) })
      const isContract = request.path.startsWith(contractPath)
      return { status: response.status, headers: response.headers, text: await readText(response), isContract }
    } catch (cause) {
      request.signal?.throwIfAborted()
      if (cause instanceof AppPlatformError) throw cause
      throw timeout.aborted
        ? new AppPlatformError('timed_out', 'The server did not answer in time.')
        : new AppPlatformError('unreachable', 'The server cannot be reached.', { cause })
    }
  }

/**
 * Bun sends even requests to this machine through the proxy of the environment, which could read every secret of plain
 * HTTP. The result is an untyped object because only Bun knows the field, and its types do not allow the value.
 */
const directly = (origin: string): object => (isLoopback(new URL(origin).hostname) ? { proxy: false } : {})

const urlOf = (origin: string, { path, query = {} }: PlatformRequest): URL => {
  const url = new URL(origin + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

const headersOf = (
  { bearer, idempotencyKey, ...content }: PlatformRequest,
  agent: string | null,
): Record<string, string> => ({
  Accept: 'application/json',
  'X-Service-Api-Version': apiVersion,
  ...(agent === null ? {} : { 'User-Agent': agent }),
  ...contentTypeOf(content),
  ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
  ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
})

const secretFields = new Set(['clientSecret', 'client_secret', 'code', 'codeVerifier', 'refreshToken', 'token'])

/** The platform's secrets are longer than 16 characters; a shorter text could be part of any word. */
const secretsIn = ({ bearer, body, form }: PlatformRequest): readonly string[] =>
  [
    bearer,
    ...Object.entries({ ...body, ...form }).map(([name, value]) => (secretFields.has(name) ? value : null)),
  ].filter((secret): secret is string => typeof secret === 'string' && secret.length >= 16)

const originOf = ({ url, insecureHttp }: TransportOptions): string => {
  const parsed = new URL(url)
  if (!/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(url)) throw new TypeError('The URL must be an origin, without a path.')
  if (parsed.protocol === 'https:' || insecureHttp === true || isLoopback(parsed.hostname)) return parsed.origin
  throw new AppPlatformError('insecure_url', 'Plain HTTP to another machine would expose every secret on the network.')
}

/** Whether a host is this very machine. Names below localhost are not: some resolvers ask the network for those. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)

/** The version of the package, which is that of the program. */
export const libraryVersion = '0.2.0'

/** The User-Agent of every request, except in a browser, which sends its own. */
export const libraryAgent = `app-platform-client/${libraryVersion}`
