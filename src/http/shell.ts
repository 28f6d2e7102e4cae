import { type ApiVersion, apiVersionRefusal, overlapHeaders, servedApiVersion } from '../domain/api-version.ts'
import type { Awaitable } from '../domain/awaitable.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { IpNetwork } from '../domain/ip-address.ts'
import { remembered } from '../domain/remembered.ts'
import { whenNeeded } from '../runtime/when-needed.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Random } from '../runtime/random.ts'
import type { RouteTally } from '../runtime/histogram.ts'
import {
  checkAddress,
  checkBody,
  checkSingleHeaders,
  createHostCheck,
  jsonBodies,
  monitoredRoutes,
} from './admission.ts'
import type { RouteRule } from './api.ts'
import { createBurst } from './burst.ts'
import { authorizationOf, type Call, clientRequestIdOf, type HttpConnection } from './call.ts'
import { createClientAddressReader } from './client-address.ts'
import { keepWithinBudget } from './cookies.ts'
import { setCrossOriginHeaders } from './cross-origin.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { contractPath, isContractPath, pathOf, resourceMetadataPath } from './paths.ts'
import { type RateLimiter, rateLimitField } from './rate-limit.ts'
import { createRouter, type ListedRoute, type RouteMatch } from './router.ts'
import type { Turnstile } from './turnstile.ts'

/** What the shell needs of an Elysia app. */
type RoutedApp = {
  readonly routes: readonly ListedRoute[]
  fetch(request: Request): Response | Promise<Response>
}

/** An Elysia app, and what the shell does with its routes itself. */
type AppWithRules = {
  readonly app: RoutedApp
  /** Without a rule, a route takes JSON of at most 64 KiB and is answered by the app. */
  readonly ruleOf?: (method: string, pattern: string) => RouteRule | undefined
}

/** The pages for people. */
type Pages = AppWithRules & {
  /** What a person sees when a page is refused; null if the caller is a program. */
  readonly refusalPage: RefusalPage
}

type ShellOptions = AppWithRules & {
  /** Loads the pages. It is called with the first request that `app` has no route for, since many servers are asked by programs only. */
  readonly loadPages?: () => Promise<Pages>
  readonly publicUrl: string
  readonly draining: () => boolean
  readonly trustedProxies: readonly IpNetwork[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly limiter: RateLimiter
  readonly turnstile: Turnstile
  /** The version that is served, if it is not the program's own; with it come the headers of its overlap. */
  readonly apiVersion?: ApiVersion
  /** A refusal in the words of a standard; null if the route has none. */
  readonly standardRefusal?: RefusalPage
}

/** Answers one request; `peer` is the address of the other end of the connection. */
export type Shell = (
  request: Request,
  peer: string | undefined,
  connection?: HttpConnection | null,
) => Awaitable<Response>

type BoundRoute = RouteRule & {
  readonly pattern: string
  readonly app: RoutedApp
  readonly tally: RouteTally
  /** The headers that its answers under one limit share; null: without a limit. */
  readonly shared: (policyField: string | null) => Headers
}

/**
 * Everything that holds for all requests and answers (contract section 1) is done here, so that no route can forget it. An
 * answer that needs no waiting is given without a promise: each extra await costs about 2 % of a short answer (measured).
 */
export const createShell = (options: ShellOptions): Shell => {
  const { publicUrl, draining, clock, random, log, metrics, limiter, turnstile } = options
  const burst = createBurst()
  const checkHost = createHostCheck()
  const readAddress = createClientAddressReader(options.trustedProxies, () =>
    log.warn('proxy.address_unreadable', {
      reason:
        'A trusted proxy sent an X-Forwarded-For with an entry that is not an address: clients share the address of the last one that is.',
    }),
  )
  const responses = createResponses(publicUrl, options.apiVersion ?? servedApiVersion)
  const binder =
    ({ app, ruleOf }: AppWithRules) =>
    (method: string, pattern: string): BoundRoute => {
      const rule: RouteRule = ruleOf?.(method, pattern) ?? { body: jsonBodies, answer: null }
      const shared = responses.sharedHeaders(isContractPath(pattern), rule)
      return { ...rule, pattern, app, tally: metrics.route(method, pattern), shared }
    }
  const unmatched: BoundRoute = { ...binder(options)('any', 'unmatched'), body: jsonBodies }
  const router = createRouter<BoundRoute>()
  router.add(options.app.routes, binder(options))

  let pages: Pages | null = null
  const { loadPages } = options
  const addPages =
    loadPages &&
    whenNeeded(async () => {
      pages = await loadPages()
      router.add(pages.app.routes, binder(pages))
    })

  const open = (request: Request, peer: string | undefined, path: string, { pattern, body }: BoundRoute): Call => {
    const startedAt = performance.now()
    const now = clock.now()
    const { address, limitKey } = readAddress(peer, () => request.headers.get('x-forwarded-for'))
    const call: Call = {
      request,
      requestId: `req_${random.uuidHex(now)}`,
      address,
      addressKey: limitKey,
      path,
      route: pattern,
      bodyLimitBytes: body.limitBytes,
      startedAt,
      now,
      clientRequestId: clientRequestIdOf(request),
      authorization: authorizationOf(request),
      notes: {},
      // Taken first, so that refusals of every kind count; enforced after the checks that come before it in the contract.
      rateLimit: limiter.take('address', limitKey),
      status: 200,
      headers: null,
      cookies: null,
      environment: null,
      openTo: null,
      file: null,
      connection: null,
      release: null,
    }
    request.call = call
    return call
  }

  /** The checks that need no knowledge of the route, in the contract's order. */
  const admit = (call: Call, match: RouteMatch<BoundRoute>): PlatformError | null => {
    if (match.kind === 'not_found') return refuse('route_not_found')
    if (match.kind === 'method_not_allowed') return refuse('method_not_allowed')
    const { request, path, rateLimit } = call
    return (
      checkHost(request, match.route.pattern) ??
      checkAddress(request.url, match.route.pattern) ??
      checkBody(request, match.route.body) ??
      // A browser's preflight request comes without the headers of the call.
      (isContractPath(path) && request.method !== 'OPTIONS'
        ? apiVersionRefusal(request.headers.get('x-service-api-version'))
        : null) ??
      checkSingleHeaders(call) ??
      (rateLimit === null || rateLimit.allowed
        ? null
        : refuse('rate_limited', { retryAfterSeconds: rateLimit.resetSeconds }))
    )
  }

  const withoutSlash = ({ path, request: { method } }: Call): string | null => {
    const shorter = path.replace(/\/+$/, '')
    const isRead = (method === 'GET' || method === 'HEAD') && shorter !== path
    return isRead && router.find(method, shorter).kind === 'found' ? shorter : null
  }

  const refusalOf = (error: unknown, call: Call): Response => {
    const refusal = error instanceof PlatformError ? error : refuse('internal_error')
    if (refusal.code === 'internal_error') log.error('http.failed', { requestId: call.requestId, cause: error })
    const near = refusal.code === 'route_not_found' ? withoutSlash(call) : null
    return (
      options.standardRefusal?.(refusal, call) ??
      pages?.refusalPage(refusal, call, near) ??
      errorResponse(refusal, call)
    )
  }

  const responseOf = (value: unknown, call: Call, route: BoundRoute): Response => {
    try {
      return value instanceof Response ? responses.withHeaders(call, value) : jsonResponse(call, value, route)
    } catch (error) {
      return responses.withHeaders(call, refusalOf(error, call))
    }
  }

  /** A response, or the value that a hot route answers; or a promise of either. */
  const answer = (call: Call, match: RouteMatch<BoundRoute>): unknown => {
    const refusal = admit(call, match)
    if (refusal !== null) return withAllow(refusalOf(refusal, call), match)
    if (match.kind !== 'found') throw refuse('internal_error')
    const direct = call.request.method === 'HEAD' ? null : match.route.answer
    return direct === null ? match.route.app.fetch(call.request) : direct(call)
  }

  const finish = (call: Call, answered: unknown, route: BoundRoute, turn: number): Awaitable<Response> => {
    const response = responseOf(answered, call, route)
    call.release?.()
    if (draining()) response.headers.set('connection', 'close')
    const { status } = response
    const durationMs = performance.now() - call.startedAt
    route.tally.answered(status, durationMs)
    if (!isRoutineCheck(call, status)) log.answered(call.request.method, status, durationMs, call)
    return burst.leave(response, turn)
  }

  const begin = (call: Call, match: RouteMatch<BoundRoute>, route: BoundRoute, turn: number): Awaitable<Response> => {
    let answered: unknown
    try {
      answered = answer(call, match)
    } catch (error) {
      answered = refusalOf(error, call)
    }
    return answered instanceof Promise
      ? answered.then(
          (value: unknown) => finish(call, value, route, turn),
          (error: unknown) => finish(call, refusalOf(error, call), route, turn),
        )
      : finish(call, answered, route, turn)
  }

  const shell: Shell = (request, peer, connection = null) => {
    const path = pathOf(request.url)
    const match = router.find(request.method, path)
    if (match.kind !== 'found' && pages === null && addPages !== undefined) {
      return addPages().then(
        () => shell(request, peer, connection),
        (error: unknown) => {
          const call = open(request, peer, path, unmatched)
          return finish(call, refusalOf(error, call), unmatched, burst.turn())
        },
      )
    }
    const turn = burst.turn()
    const route = match.kind === 'found' ? match.route : unmatched
    const call = open(request, peer, path, route)
    call.connection = connection
    // Monitors must be served even when the server has too much to do.
    const mayBegin = monitoredRoutes.has(route.pattern) || turnstile.enter()
    if (mayBegin === true) return begin(call, match, route, turn)
    return mayBegin.then((isAdmitted) => {
      call.now = clock.now()
      return isAdmitted ? begin(call, match, route, turn) : finish(call, refusalOf(tooBusy(), call), route, turn)
    })
  }
  return shell
}

/** A proxy asks every second whether the server is ready: a line for each yes would bury all others. */
const isRoutineCheck = ({ route }: Call, status: number): boolean => route === '/readyz' && status === 200

const tooBusy = (): PlatformError => refuse('unavailable', { retryAfterSeconds: 1 })

const withAllow = (response: Response, match: RouteMatch<BoundRoute>): Response => {
  if (match.kind === 'method_not_allowed') response.headers.set('allow', match.allow)
  return response
}

const setHeaders = (headers: Headers, given: Readonly<Record<string, string | readonly string[]>>): void => {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') headers.set(name, value)
    else for (const line of value) headers.append(name, line)
  }
}

/** The response with this value of a hot endpoint. */
const jsonResponse = (call: Call, value: unknown, { shared, valueHeaders = [], isEmpty }: BoundRoute): Response => {
  const state = call.rateLimit
  const headers = shared(state === null ? null : state.policyField)
  headers.set('x-request-id', call.requestId)
  if (state !== null && state.policyField !== null) headers.set('ratelimit', rateLimitField(state))
  // Each of them, so that none keeps the value of the answer before.
  for (const name of valueHeaders) headers.set(name, String(call.headers?.[name] ?? ''))
  const made = new Response(isEmpty === true ? null : JSON.stringify(value), { status: call.status, headers })
  // Reading `headers` of a response has a price.
  if (call.headers !== null && valueHeaders.length === 0) setHeaders(made.headers, call.headers)
  if (call.openTo !== null) setCrossOriginHeaders(call, made.headers)
  return made
}

/** Makes responses with the headers that every answer has. */
const createResponses = (publicUrl: string, version: ApiVersion) => {
  const isSecure = publicUrl.startsWith('https:')
  const versionName = version.name
  const overlap = Object.entries(overlapHeaders(version, `${publicUrl}/docs`))

  /** Names the metadata that says where to get a token (RFC 9728 section 5.1). */
  const withResource = (challenge: string): string =>
    `${challenge}${challenge === 'Bearer' ? ' ' : ', '}resource_metadata="${publicUrl}${resourceMetadataPath}${contractPath}"`

  const withHeaders = (call: Call, made: Response): Response => {
    const { headers } = made
    setCrossOriginHeaders(call, headers)
    headers.set('x-request-id', call.requestId)
    headers.set('x-content-type-options', 'nosniff')
    for (const cookie of call.cookies ?? []) headers.append('set-cookie', cookie)
    if (headers.has('set-cookie')) keepWithinBudget(publicUrl, call.request, headers)
    if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'no-referrer')
    if (isSecure) headers.set('strict-transport-security', 'max-age=31536000')
    const isContract = isContractPath(call.path)
    if (isContract) {
      headers.set('x-service-api-version', versionName)
      for (const [name, value] of overlap) headers.set(name, value)
    }
    const challenge = isContract ? headers.get('www-authenticate') : null
    if (challenge?.startsWith('Bearer') === true) headers.set('www-authenticate', withResource(challenge))
    // Whatever does not say otherwise may be about a person or hold a secret: no cache keeps it.
    if (made.status >= 400 || !headers.has('cache-control')) headers.set('cache-control', 'no-store')
    const state = call.rateLimit
    if (state === null || state.policyField === null) return made
    headers.set('ratelimit-policy', state.policyField)
    headers.set('ratelimit', rateLimitField(state))
    return made
  }

  /**
   * The headers that answers of a route share, by their limit. `Response` copies the headers that it is given (Fetch standard,
   * section 5.5), so one object serves all answers and only what differs is set each time: 0.9 µs instead of 1.6 for a literal
   * (measured).
   */
  const sharedHeaders = (isContract: boolean, { headers: own = {}, isEmpty = false }: RouteRule) =>
    remembered(policies, (policyField: string | null): Headers => {
      const headers = new Headers({
        ...(isEmpty ? {} : { 'content-type': 'application/json;charset=utf-8' }),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        ...own,
      })
      if (isContract) {
        headers.set('x-service-api-version', versionName)
        for (const [name, text] of overlap) headers.set(name, text)
      }
      if (policyField !== null) headers.set('ratelimit-policy', policyField)
      if (isSecure) headers.set('strict-transport-security', 'max-age=31536000')
      return headers
    })

  return { withHeaders, sharedHeaders }
}

/** Limits are fewer. */
const policies = 32
