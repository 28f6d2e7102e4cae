import type { SettingFact } from '../domain/deciding-settings.ts'
import type { Actor } from '../operations/audit/event.ts'
import type { Platform, Trace } from '../operations/platform.ts'
import type { IdentityProvider } from '../runtime/identity-provider.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { WaitingLine } from '../runtime/waiting-line.ts'
import type { RateLimiter } from './rate-limit.ts'

/** The app of an upload, the account that owns the app, and the network that the upload comes from. */
export type Uploader = { readonly app: string; readonly account: string; readonly network: string }

/**
 * Runs a command of operators for a service key, as it was typed, for a terminal of this width.
 * @throws right_missing for a command that no key may run, operator_protected, rate_limited
 */
export type RunCommand = (
  session: readonly [platform: Platform, trace: Trace, actor: Actor],
  words: readonly string[],
  width: number | null,
) => Promise<{ readonly exitCode: 0 | 1 | 2; readonly stdout: string; readonly stderr: string }>

/** What endpoints and pages need to run operations. */
export type Door = {
  readonly platform: Platform
  /** Signs what browsers keep for the server: 32 bytes that never leave it. */
  readonly serverKey: Uint8Array
  readonly limiter: RateLimiter
  readonly log: Log
  readonly metrics: Metrics
  /** Whether `/metrics` is served on this port; otherwise it has its own. */
  readonly servesMetrics: boolean
  /** Whether the pages stand for the backends of the demo's apps. */
  readonly servesDemo: boolean
  /** Whether the server has begun to stop. */
  readonly draining: () => boolean
  /** The same for a proxy in front: the server keeps serving until the proxy has been told. */
  readonly isDrainingForProxy: () => boolean
  /** Sign-ins being checked right now, per address. */
  readonly signingIn: Map<string, number>
  /** Delayed refusals of grants, per client and address. */
  readonly delayed: Map<string, number>
  /** Signs people in who have an account there; null without one. */
  readonly identityProvider: IdentityProvider | null
  readonly uploadSlots: WaitingLine<Uploader>
  readonly runCommand: RunCommand
  /** The settings of this server, by name. */
  readonly settings: readonly SettingFact[]
  readonly sleep: (milliseconds: number) => Promise<void>
}
