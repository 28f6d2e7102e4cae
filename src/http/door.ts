import type { Platform } from '../operations/platform.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { UploadSlots } from './upload-body.ts'

/** What a route needs to let a request through to an operation. */
export type Door = {
  readonly platform: Platform
  /** Signs what browsers are given to bring back: 32 bytes that never leave the server. */
  readonly serverKey: Uint8Array
  readonly limiter: RateLimiter
  readonly log: Log
  readonly metrics: Metrics
  /** Whether `/metrics` is served beside the API; otherwise it has a port of its own. */
  readonly servesMetrics: boolean
  /** Whether the server has begun to stop. */
  readonly draining: () => boolean
  /** The same, for a proxy in front of it: the server goes on until the proxy has been told. */
  readonly isDrainingForProxy: () => boolean
  /** How many sign-ins of each address are being checked right now. */
  readonly signingIn: Map<string, number>
  /** How many refusals of grants wait right now, per client and address. */
  readonly delayed: Map<string, number>
  readonly uploadSlots: UploadSlots
  readonly sleep: (milliseconds: number) => Promise<void>
}
