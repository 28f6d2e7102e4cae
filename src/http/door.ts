import type { Platform } from '../operations/platform.ts'
import type { RateLimiter } from './rate-limit.ts'

/** What a route needs to let a request through to an operation. */
export type Door = { readonly platform: Platform; readonly limiter: RateLimiter }
