import { type ApiVersion, overlapHeaders, servedApiVersion } from '../domain/api-version.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import type { IpNetwork } from '../domain/ip-address.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Random } from '../runtime/random.ts'
import type { RouteTally } from '../runtime/histogram.ts'
import { type BodyRule, checkApiVersion, checkBody, checkHost, checkSingleHeaders, jsonBodies } from './admission.ts'
import { createBurst } from './burst.ts'
import { Call } from './call.ts'
import { createClientAddressReader } from './client-address.ts'
import { setCrossOriginHeaders } from './cross-origin.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { pathOf } from './path-of.ts'
import { type RateLimiter, rateLimitField } from './rate-limit.ts'
import { createRouter, type ListedRoute, type RouteMatch } from './router.ts'
import { contractPath } from './routes/paths.ts'
import type { Turnstile } from './turnstile.ts'

/** As much of an Elysia app as the shell needs. */
export type RoutedApp = {
  readonly routes: readonly ListedRoute[]
  fetch(request: Request): Response | Promise<Response>
}

type ShellOptions = {
  readonly app: RoutedApp
  /** The origin that clients see. */
  readonly publicUrl: string
  /** Whether the server has begun to stop. */
  readonly draining: () => boolean
  readonly trustedProxies: readonly IpNetwork[]
  /** What a route takes as a body, where that is not JSON of at most 64 KiB. */
  readonly bodyRule?: (method: string, pattern: string) => BodyRule | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly limiter: RateLimiter
  readonly turnstile: Turnstile
  /** The version that is served, where it is not the program's own; with it come the headers of its overlap. */
  readonly apiVersion?: ApiVersion
  /** What a person sees where a page was asked for and refused; null where the caller is a program. */
  readonly refusalPage?: RefusalPage
}

/** Answers one request; `peer` is the address of the other end of the connection. */
export type Shell = (request: Request, peer: string | undefined) => Promise<Response>

type BoundRoute = { readonly pattern: string; readonly body: BodyRule; readonly tally: RouteTally }

/**
 * Knows every request and every answer, so that what must hold for all of them (contract section 1) is done in one place and
 * cannot be forgotten by a route.
 */
export const createShell = (options: ShellOptions): Shell => {
  const { app, publicUrl, draining, clock, random, log, metrics, limiter, turnstile } = options
  const burst = createBurst()
  const readAddress = createClientAddressReader(options.trustedProxies)
  const secure = publicUrl.startsWith('https:')
  const served = options.apiVersion ?? servedApiVersion
  const versionHeaders = Object.entries({
    'x-service-api-version': served.name,
    ...overlapHeaders(served, `${publicUrl}/docs`),
  })
  const unmatched: BoundRoute = { pattern: 'unmatched', body: jsonBodies, tally: metrics.route('any', 'unmatched') }
  const router = createRouter<BoundRoute>(app.routes, (method, pattern) => ({
    pattern,
    body: options.bodyRule?.(method, pattern) ?? jsonBodies,
    tally: metrics.route(method, pattern),
  }))

  const open = (request: Request, peer: string | undefined, route: BoundRoute, startedAt: number): Call => {
    const { address, limitKey } = readAddress(peer, () => request.headers.get('x-forwarded-for'))
    const now = clock.now()
    return new Call({
      request,
      requestId: `req_${random.uuidHex(now)}`,
      address,
      addressKey: limitKey,
      route: route.pattern,
      bodyLimitBytes: route.body.limitBytes,
      startedAt,
      now,
      // Taken first, so that refusals of every kind count; enforced after the checks that come before it in the contract.
      rateLimit: limiter.take('address', limitKey),
    })
  }

  const refuseWith = (refusal: PlatformError, call: Call): Response =>
    options.refusalPage?.(refusal, call) ?? errorResponse(refusal, call)

  const failed = (cause: unknown, call: Call): Response => {
    log.error('http.failed', { requestId: call.requestId, cause })
    return refuseWith(refuse('internal_error'), call)
  }

  const finish = (response: Response, call: Call, path: string, tally: RouteTally) => {
    call.release?.()
    setCrossOriginHeaders(call, response)
    setCommonHeaders(response, call, path, secure, versionHeaders)
    if (draining()) response.headers.set('connection', 'close')

    const durationMs = performance.now() - call.startedAt
    tally.answered(response.status, durationMs)
    if (!isRoutineCheck(call, response)) log.answered(call.request.method, response.status, durationMs, call)
    return response
  }

  // In one piece: each function more that waits is 2 % of a short answer.
  return async (request, peer) => {
    const startedAt = performance.now()
    const turn = burst.turn()
    const path = pathOf(request.url)
    const match = router.find(request.method, path)
    const route = match.kind === 'found' ? match.route : unmatched
    const call = open(request, peer, route, startedAt)
    const mayBegin = isWatched(call) || turnstile.enter()
    const refusal = mayBegin === true || (await mayBegin) ? admit(call, match, path) : tooBusy()
    let response: Response
    try {
      response = refusal === null ? await app.fetch(request) : refuseWith(refusal, call)
    } catch (cause) {
      response = failed(cause, call)
    }
    if (match.kind === 'method_not_allowed') response.headers.set('allow', match.allow)
    return await burst.leave(finish(response, call, path, route.tally), turn)
  }
}

/** Whoever watches the server must be able to, above all when it has too much to do. */
const watchedRoutes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])
/** A proxy asks every second whether the server is ready: a line for each yes would bury all others. */
const isRoutineCheck = ({ route }: Call, { status }: Response): boolean => route === '/readyz' && status === 200
const isWatched = ({ route }: Call): boolean => watchedRoutes.has(route)

const tooBusy = (): PlatformError => refuse('unavailable', { retryAfterSeconds: 1 })

/** The checks that need no route's knowledge, in the contract's order. */
const admit = (call: Call, match: RouteMatch<BoundRoute>, path: string): PlatformError | null => {
  if (match.kind === 'not_found') return refuse('route_not_found')
  if (match.kind === 'method_not_allowed') return refuse('method_not_allowed')
  const { request } = call
  return (
    checkHost(request) ??
    checkBody(request, match.route.body) ??
    // A browser asks whether it may call at all without the headers of the call.
    (isContract(path) && request.method !== 'OPTIONS' ? checkApiVersion(request) : null) ??
    checkSingleHeaders(call) ??
    checkRate(call)
  )
}

const checkRate = ({ rateLimit }: Call): PlatformError | null =>
  rateLimit === null || rateLimit.allowed ? null : refuse('rate_limited', { retryAfterSeconds: rateLimit.resetSeconds })

const isContract = (path: string): boolean =>
  path.startsWith(contractPath) && (path.length === contractPath.length || path[contractPath.length] === '/')

const setCommonHeaders = (
  response: Response,
  call: Call,
  path: string,
  secure: boolean,
  versionHeaders: readonly (readonly [name: string, value: string])[],
): void => {
  const { headers } = response
  headers.set('x-request-id', call.requestId)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'no-referrer')
  if (secure) headers.set('strict-transport-security', 'max-age=31536000')
  const contract = isContract(path)
  if (contract) for (const [name, value] of versionHeaders) headers.set(name, value)
  if (contract || response.status >= 400 || path === '/api/session') headers.set('cache-control', 'no-store')
  const state = call.rateLimit
  if (state === null || state.policyField === null) return
  headers.set('ratelimit-policy', state.policyField)
  headers.set('ratelimit', rateLimitField(state))
}
