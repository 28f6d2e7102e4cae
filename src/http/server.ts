import { servedApiVersion } from '../domain/api-version.ts'
import { refuse } from '../domain/errors.ts'
import { maximumHeaderBytes } from '../domain/limits.ts'
import { isContractPath, pathOf } from './paths.ts'
import type { Shell } from './shell.ts'
import { standardErrorsOf } from './standard-refusal.ts'

type ListenOptions = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Null: `http://localhost` and the port that was taken. */
  readonly publicUrl: string | null
  /** How long `stop` waits for running requests; 10 seconds by default. */
  readonly drainMs?: number
  /** How long `stop` keeps serving a proxy that has not yet been told; 3 seconds by default. */
  readonly noticeMs?: number
}

export const defaultDrainMs = 10_000
const defaultNoticeMs = 3_000
/** How long a proxy may still send requests after it has been told. */
const settleMs = 250
/**
 * Bun closes a connection without an answer, at its next tick of four seconds, after this long: if it is idle between requests,
 * does not read its answer, has not sent its request completely, or waits for the answer to a request without a body. Only a
 * body that arrives at 16 KiB a second or more gets longer, and a large one until it has been read (`http/upload-body.ts`). A
 * request's head always gets ten seconds.
 */
export const idleSeconds = 30

/**
 * Takes the port, so that the program can be composed from plain values: the public URL may name a port that was free. Until `serve`
 * names another, the first shell answers. What Bun's parser refuses (a
 * malformed request line, more than 128 KiB or 200 headers, an HTTP/1.1 request without Host, a method it does not know)
 * never gets here and has no envelope: Bun closes such a connection itself, mostly with a bare status.
 * @throws what Bun throws when the port cannot be taken
 */
export const listen = (options: ListenOptions, first: Shell) => {
  let answer = first
  let draining = false
  let proxyAskedAt = Number.NEGATIVE_INFINITY
  const proxyTold = Promise.withResolvers<void>()
  let stopping: Promise<void> | null = null
  // The one way to tell Bun.serve; holds for the process. The executable file has it as an option, because node:http takes 12 ms to load.
  if (!Bun.isStandaloneExecutable)
    Object.assign(process.getBuiltinModule('node:http'), { maxHeaderSize: maximumHeaderBytes })
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: idleSeconds,
    development: false,
    reusePort: false, // by default, outside development, Bun lets a second server share the port and half of the calls
    // The shell checks sizes, since Bun's own 413 has no envelope. A refused body is never kept in memory.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, bun) => answer(request, bun.requestIP(request)?.address, bun),
    error: () => new Response(null, { status: 500 }),
  })
  const { drainMs = defaultDrainMs, noticeMs = Math.min(defaultNoticeMs, drainMs) } = options

  return {
    /** Where it listens. */
    url: listeningUrl(options.host, server.port ?? options.port),
    /** The origin that clients see. */
    publicUrl: options.publicUrl ?? `http://localhost:${server.port}`,
    /** From now on requests are answered by this. */
    serve: (shell: Shell): void => {
      answer = shell
    },
    /** True from the first moment of `stop`: not ready for more. */
    draining: () => draining,
    /** The same for a proxy that asks about every second: `stop` keeps serving until the proxy has been told. */
    isDrainingForProxy: () => {
      proxyAskedAt = performance.now()
      if (draining) proxyTold.resolve()
      return draining
    },
    /**
     * Accepts no more connections, lets running requests end, and aborts those that do not end in time. Bun closes connections
     * that it has not read a request from, even if one is on its way. That request would be lost, and a proxy must not send a POST
     * twice. So nothing is closed before the proxy has stopped sending.
     */
    stop: async (): Promise<void> => {
      draining = true
      stopping ??= (async () => {
        const beganAt = performance.now()
        const settled = proxyTold.promise.then(async () => await Bun.sleep(settleMs))
        if (beganAt - proxyAskedAt < noticeMs) await atMost(noticeMs, settled)
        await atMost(Math.max(0, beganAt + drainMs - performance.now()), server.stop())
        await server.stop(true)
      })()
      await stopping
    },
  }
}

/** Waits for the work, but not longer than this. */
const atMost = async (milliseconds: number, work: Promise<void>): Promise<void> => {
  const limit = Promise.withResolvers<void>()
  const timer = setTimeout(limit.resolve, milliseconds)
  await Promise.race([work, limit.promise])
  clearTimeout(timer)
}

/**
 * Answers while the server starts, or waits for what these conditions say: it is alive, and takes nothing else. The answers have the
 * form of the contract (section 1) and of the RFCs below `/oauth/`.
 */
export const startingShell =
  (newRequestId: () => string, conditions: readonly string[]): Shell =>
  (request) => {
    const path = pathOf(request.url)
    const requestId = newRequestId()
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(isContractPath(path) && { 'x-service-api-version': servedApiVersion.name }),
    }
    if (path === '/healthz') return new Response('{"status":"alive"}', { headers })
    const { code, message, status } = refuse('unavailable')
    const standard = standardErrorsOf(path)?.(code)
    const body =
      standard === undefined
        ? { error: { code, message, requestId, details: { conditions } } }
        : { error: standard.name, error_description: message }
    return new Response(JSON.stringify(body), {
      status,
      headers: { ...headers, 'retry-after': conditions.length > 0 ? '5' : '1' },
    })
  }

/** The URL of a server on this address, for clients on this machine. */
const listeningUrl = (host: string, port: number): string => {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

type MetricsServerOptions = {
  readonly host: string
  readonly port: number
  readonly contentType: string
  readonly render: () => Promise<string>
  readonly failed: (cause: unknown) => void
}

/** The port in METRICS_LISTEN cannot be taken; the cause says why. */
export class MetricsPortUnusable extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('The address in METRICS_LISTEN cannot be used.', options)
    this.name = 'MetricsPortUnusable'
  }
}

/**
 * Serves `/metrics`, and nothing else, on a port of its own. It does not keep the process alive.
 * @throws MetricsPortUnusable
 */
export const startMetricsServer = ({ host, port, contentType, render, failed }: MetricsServerOptions) => {
  const answer = async (request: Request): Promise<Response> => {
    if (pathOf(request.url) !== '/metrics') return new Response('Only /metrics is here.\n', { status: 404 })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response('Use GET.\n', { status: 405, headers: { allow: 'GET, HEAD' } })
    }
    return new Response(await render(), { headers: { 'content-type': contentType } })
  }
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false, // as above
      maxRequestBodySize: 1_024,
      fetch: answer,
      error: (cause) => {
        failed(cause)
        return new Response('The metrics could not be read.\n', { status: 500 })
      },
    })
    server.unref()
    return { url: listeningUrl(host, server.port ?? port), stop: async () => await server.stop(true) }
  } catch (cause) {
    throw new MetricsPortUnusable({ cause })
  }
}
