import { pages } from '../../../src/pages/pages.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { defaultRateLimits } from '../../../src/domain/rate-limits.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { createMetrics } from '../../../src/runtime/metrics.ts'

type PageRoute = { readonly method: string; readonly pattern: string }

/** Every route that the program has for people, but for the files that pages are made of. Nobody is let in through this one. */
export const pageTable = (platform: Platform): readonly PageRoute[] => {
  const limiter = createRateLimiter({ limits: defaultRateLimits, monotonicMs: () => 0, secret: '' })
  const metrics = createMetrics(() => platform.database.statistics())
  const log = createLog({ write: () => undefined, flush: () => undefined })
  const door = { platform, limiter, metrics, log, draining: () => false, signingIn: new Map<string, number>() }
  return pages(door)
    .routes.map(({ method, path }) => ({ method, pattern: path }))
    .filter(({ pattern }) => !pattern.startsWith('/assets/'))
}
