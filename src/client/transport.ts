import type { Shape } from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { apiVersion, type RawAnswer, readAnswer, readText } from './read-answer.ts'
import { defaultRetryPolicy, type RetryPolicy, wait, waitBeforeRepeat } from './retry.ts'

const base = '/api/app-platform'

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
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
}

export type Repeat = { readonly error: AppPlatformError; readonly waitMs: number }

/** Options of every call. */
export type CallOptions = {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

export type PlatformRequest = CallOptions & {
  readonly method: 'GET' | 'POST'
  /** Below the contract's base. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  readonly bearer?: string
  readonly idempotencyKey?: string
  /** Whether sending it twice has the effect of sending it once. GETs and requests with an idempotency key always are. */
  readonly idempotent?: boolean
  /** No repeat starts later than this, if that is earlier than the policy's limit. */
  readonly repeatWithinMs?: number
  /** Called with the bytes of the body that were sent so far and with their total. */
  readonly onUpload?: (sentBytes: number, totalBytes: number) => void
}

/** Sends a request and returns its answer, which has that shape. */
export type Send = <T>(shape: Shape<T>, request: PlatformRequest) => Promise<T>

/**
 * Sends requests of the contract. Each try has a timeout. The retry policy repeats a failed try if that cannot do
 * anything twice: always after 429, where the server did nothing; after 5xx or no answer only if the request is
 * idempotent (spec section 7).
 * @throws AppPlatformError insecure_url, TypeError for a URL that is not an origin; the requests throw AppPlatformError,
 *   or the reason of their signal
 */
export const createTransport = (options: TransportOptions): Send => {
  const origin = originOf(options)
  const policy = { ...defaultRetryPolicy, ...options.retry }
  const attempt = createAttempt(origin, options)

  return async <T>(shape: Shape<T>, request: PlatformRequest): Promise<T> => {
    const startedAt = performance.now()
    for (let repeats = 0; ; repeats += 1) {
      try {
        return readAnswer(await attempt(request), shape, secretsIn(request))
      } catch (error) {
        if (!(error instanceof AppPlatformError) || !mayRepeat(request, error)) throw error
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
  if (status === 429) return true
  const isIdempotent = request.method === 'GET' || request.idempotencyKey !== undefined || request.idempotent === true
  if (!isIdempotent) return false
  // The first try is still running; the repeat will get its outcome (contract section 5).
  if (code === 'idempotency_in_progress') return true
  return status === null ? code === 'unreachable' || code === 'timed_out' : status >= 500
}

const createAttempt =
  (origin: string, { fetch = globalThis.fetch, timeoutMs = 30_000 }: TransportOptions) =>
  async (request: PlatformRequest): Promise<RawAnswer> => {
    request.signal?.throwIfAborted()
    const timeout = AbortSignal.timeout(request.timeoutMs ?? timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
    try {
      // Redirects are not followed: they would forward the secrets of the request.
      const init = { method: request.method, headers: headersOf(request), redirect: 'manual', signal } as const
      const response = await fetch(urlOf(origin, request), { ...init, ...bodyOf(request), ...directly(origin) })
      return { status: response.status, headers: response.headers, text: await readText(response) }
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
  const url = new URL(origin + base + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

const headersOf = ({ body, bearer, idempotencyKey }: PlatformRequest): Record<string, string> => ({
  Accept: 'application/json',
  'X-Service-Api-Version': apiVersion,
  ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
  ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
})

const bodyOf = ({ body, onUpload }: PlatformRequest): RequestInit => {
  if (body === undefined) return {}
  const text = JSON.stringify(body)
  return onUpload === undefined ? { body: text } : uploadStream(text, onUpload)
}

const secretFields = new Set(['clientSecret', 'code', 'codeVerifier', 'refreshToken', 'token'])

/** The platform's secrets are longer than 16 characters; a shorter text could be part of any word. */
const secretsIn = ({ bearer, body = {} }: PlatformRequest): readonly string[] =>
  [bearer, ...Object.entries(body).map(([name, value]) => (secretFields.has(name) ? value : undefined))].filter(
    (secret) => typeof secret === 'string' && secret.length >= 16,
  )

const originOf = ({ url, insecureHttp }: TransportOptions): string => {
  const parsed = new URL(url)
  if (!/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(url)) throw new TypeError('The URL must be an origin, without a path.')
  if (parsed.protocol === 'https:' || insecureHttp === true || isLoopback(parsed.hostname)) return parsed.origin
  throw new AppPlatformError('insecure_url', 'Plain HTTP to another machine would expose every secret on the network.')
}

const pieceBytes = 64 * 1024

/** A body that is sent piece by piece, so that its progress can be reported. */
const uploadStream = (
  text: string,
  onUpload: (sentBytes: number, totalBytes: number) => void,
): RequestInit & { readonly duplex: 'half' } => {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = bytes.subarray(sent, sent + pieceBytes)
        sent += piece.length
        onUpload(sent, bytes.length)
        if (piece.length > 0) controller.enqueue(piece)
        if (sent === bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, duplex: 'half' } // without duplex, Node refuses a body that is a stream
}

/** Whether a host is this very machine. Names below localhost are not: some resolvers ask the network for those. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
