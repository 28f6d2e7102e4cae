import { defaultRateLimits, type RateLimits } from '../../../src/domain/limits.ts'
import type { Door } from '../../../src/http/door.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import type { RequestContext } from '../../../src/http/request-context.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { createMetrics } from '../../../src/runtime/metrics.ts'

/** A door of the platform with limits whose time stands still. */
export const doorOf = (platform: Platform, limits: Partial<RateLimits> = {}): Door => ({
  platform,
  serverKey: new Uint8Array(32),
  limiter: createRateLimiter({ limits: { ...defaultRateLimits, ...limits }, monotonicMs: () => 0, secret: 'a' }),
  log: createLog({ write: () => undefined, flush: () => undefined }),
  metrics: createMetrics(),
  servesMetrics: true,
  draining: () => false,
  isDrainingForProxy: () => false,
  signingIn: new Map(),
  delayed: new Map(),
  sleep: async () => await Promise.resolve(),
})

/** What the shell knows about a request from this address. */
export const contextFrom = (address: string): RequestContext => ({
  requestId: 'req_0',
  clientRequestId: null,
  address,
  addressKey: address,
  route: '/',
  bodyLimitBytes: 1_000,
  startedAt: performance.now(),
  bearerPresented: false,
  notes: {},
  rateLimit: null,
  release: null,
})
