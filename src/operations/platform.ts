import type { Database } from '../../db/database.ts'
import type { DecidingSettings } from '../domain/deciding-settings.ts'
import { recordId } from '../domain/identifier.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Mailer } from '../runtime/mailer.ts'
import type { TokenKind } from '../runtime/metrics.ts'
import type { Passwords } from '../runtime/passwords.ts'
import type { DescriptorUse } from '../runtime/process-figures.ts'
import type { Random } from '../runtime/random.ts'
import type { WebhookSender } from '../runtime/webhook-sender.ts'
import type { RefusalLog } from './audit/refusal-log.ts'
import type { DailyBackups } from './backups/daily-backups.ts'

/** Counts what happens to secrets, by kind. */
type TokenObserver = {
  issued(kind: TokenKind): void
  refused(kind: TokenKind): void
  reused(kind: TokenKind): void
}
/** Everything that an operation needs from outside: the store, the clock, randomness, and the settings it decides by. */
export type Platform = DecidingSettings & {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly passwords: Passwords
  /** The issuer (RFC 9207), without a trailing slash. */
  readonly publicUrl: string
  /** Calls the webhook endpoints of apps. */
  readonly webhooks: WebhookSender
  /** Sends mails; null if no mail server is set, and then no mail is written. */
  readonly mailer: Pick<Mailer, 'trouble' | 'givenUp'> | null
  /** The backups that this server makes every day; null if it makes none by itself. */
  readonly dailyBackups: DailyBackups | null
  readonly observe: TokenObserver
  /** Decides which refusals get an audit event of their own. */
  readonly refusals: RefusalLog
  /** Idempotent requests and uses of links that are running. A crash loses them together with their effect. */
  readonly running: Set<string>
  readonly node: OwnNode
}

/** What is known of this server alone. */
export type OwnNode = {
  /** Whether PostgreSQL is meant to have a synchronous standby; null: if the URL names several hosts. */
  readonly expectsStandby: boolean | null
  /** Whether the last run here did not end properly. */
  readonly startedUncleanly: () => boolean
  /** How many files and connections it has open, and may have; null where the system does not say. */
  readonly descriptors: () => DescriptorUse | null
}

/** Of a command, which is no server. */
export const noNode: OwnNode = { expectsStandby: null, startedUncleanly: () => false, descriptors: () => null }

/** The part of the platform that health and metrics need. */
export type Observed = Pick<Platform, 'database' | 'clock' | 'mailer' | 'dailyBackups' | 'node'>

/** Where a call came from. Every audit row has it. */
export type Trace = { readonly requestId: string; readonly address: string }

/** The trace of work that the server starts itself: a new request ID, and `local` as the address. */
export const localTrace = ({ random, clock }: Pick<Platform, 'random' | 'clock'>): Trace => ({
  requestId: recordId('req_', random.uuid(clock.now())),
  address: 'local',
})
