import type { AnyElysia } from 'elysia'
import { defaultRateLimits, type RateLimits } from '../../../src/domain/limits.ts'
import { baseApp } from '../../../src/http/app.ts'
import { authorizationOf, type Call, clientRequestIdOf } from '../../../src/http/call.ts'
import type { Door } from '../../../src/http/door.ts'
import { pathOf } from '../../../src/http/paths.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { createUploadSlots } from '../../../src/http/upload-body.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Routes } from '../../../src/pages/change.tsx'
import { createMetrics } from '../../../src/runtime/metrics.ts'

/** A door of the platform with limits whose time stands still. */
export const doorOf = (platform: Platform, limits: Partial<RateLimits> = {}): Door => ({
  platform,
  serverKey: new Uint8Array(32),
  limiter: createRateLimiter({ limits: { ...defaultRateLimits, ...limits }, monotonicMs: () => 0, secret: 'a' }),
  log: createLog({ write: () => undefined, flush: () => undefined }),
  metrics: createMetrics(),
  servesMetrics: true,
  servesDemo: false,
  draining: () => false,
  isDrainingForProxy: () => false,
  signingIn: new Map(),
  delayed: new Map(),
  identityProvider: null,
  uploadSlots: createUploadSlots(),
  settings: [],
  runCommand: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
  sleep: async () => await Promise.resolve(),
})

/** An app with these routes, for this door. */
export const servedBy = (routes: Routes, door: Door): AnyElysia => {
  const app: AnyElysia = baseApp(door.log, () => null)
  routes(app, door)
  return app
}

/** The call that the shell would make of this request. */
export const callWith = (request: Request, known: Partial<Call> = {}): Call => {
  const call: Call = {
    request,
    requestId: 'req_0',
    address: 'local',
    addressKey: known.address ?? 'local',
    path: pathOf(request.url),
    route: '/',
    bodyLimitBytes: 1_000,
    startedAt: performance.now(),
    now: Date.now(),
    clientRequestId: clientRequestIdOf(request),
    authorization: authorizationOf(request),
    notes: {},
    rateLimit: null,
    status: 200,
    headers: null,
    cookies: null,
    environment: null,
    openTo: null,
    file: null,
    connection: null,
    release: null,
    ...known,
  }
  request.call = call
  return call
}

/** A call without a body or headers, from this address. */
export const callFrom = (address: string): Call => callWith(new Request('http://localhost/'), { address })
