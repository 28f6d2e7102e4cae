import { asc, lt } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { dayMs } from '../../src/domain/count.ts'
import { deviceLifetimeSeconds } from '../../src/domain/device.ts'
import { keyOfUuidTime, recordIdOfTime, type RecordPrefix } from '../../src/domain/identifier.ts'
import { maximumLifetimes } from '../../src/domain/lifetimes.ts'
import { mailHistoryMs } from '../../src/domain/mail.ts'
import { invitationSeconds } from '../../src/domain/member.ts'
import { passwordLinkSeconds } from '../../src/domain/password-link.ts'
import { signInRequestSeconds } from '../../src/domain/sign-in-request.ts'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import { webhookHistoryMs } from '../../src/domain/webhook-delivery.ts'
import * as tables from '../tables/sqlite.ts'
import { removeSome } from './changes.ts'
import type { DrizzleConnection } from './connection.ts'

/** Rows that go by age: once `by` is below what `at` makes of the time that is `keptMs` ago. */
type Expiring = {
  readonly by: SQLiteColumn
  readonly at: (ms: number) => string | number
  readonly keptMs: number
  /** Whether all of them go as soon as nobody knows what has ended: they could have been used since. */
  readonly goesInDoubt?: true
}

const asTime = (ms: number): number => ms
const asId = (prefix: RecordPrefix) => (ms: number) => recordIdOfTime(prefix, ms)
const sessionMs = maximumLifetimes.session * 1000
const goesInDoubt = true

/**
 * Every table whose rows go by age. The keys begin with the time at which the row was made, so the oldest rows are the first
 * ones. What has an expiry in a column and is not here: client secrets and service keys, which stay as a record.
 */
export const expiring = {
  app_tokens: { by: tables.appTokens.key, at: timeKeyAt, keptMs: maximumLifetimes.appToken * 1000 },
  sessions: { by: tables.sessions.key, at: keyOfUuidTime, keptMs: sessionMs },
  devices: { by: tables.devices.id, at: keyOfUuidTime, keptMs: deviceLifetimeSeconds * 1000, goesInDoubt },
  // A ticket is bound to a session and ends with it, and with the server's keys.
  form_tickets: { by: tables.formTickets.key, at: keyOfUuidTime, keptMs: sessionMs, goesInDoubt },
  sign_in_requests: {
    by: tables.signInRequests.key,
    at: keyOfUuidTime,
    keptMs: signInRequestSeconds * 1000,
    goesInDoubt,
  },
  password_links: { by: tables.passwordLinks.id, at: asId('lnk_'), keptMs: passwordLinkSeconds * 1000, goesInDoubt },
  mails: { by: tables.mails.id, at: asId('eml_'), keptMs: mailHistoryMs, goesInDoubt },
  app_invitations: { by: tables.appInvitations.id, at: asId('inv_'), keptMs: invitationSeconds * 1000, goesInDoubt },
  staged_resources: { by: tables.stagedResources.importKey, at: keyOfUuidTime, keptMs: dayMs },
  // Both stay as long as their session could be open, so that a page that comes late gets a precise error.
  install_session_codes: { by: tables.installSessionCodes.key, at: keyOfUuidTime, keptMs: sessionMs },
  embedded_sessions: { by: tables.embeddedSessions.key, at: keyOfUuidTime, keptMs: sessionMs },
  // With their codes and token pairs.
  grants: { by: tables.grants.expiresAt, at: asTime, keptMs: 0 },
  idempotency_keys: { by: tables.idempotencyKeys.expiresAt, at: asTime, keptMs: 0 },
  webhook_attempts: { by: tables.webhookAttempts.id, at: asId('att_'), keptMs: webhookHistoryMs },
  // With their deliveries.
  webhook_events: { by: tables.webhookEvents.id, at: asId('evt_'), keptMs: webhookHistoryMs },
  webhook_secrets: { by: tables.webhookSecrets.expiresAt, at: asTime, keptMs: 0 },
} as const satisfies Readonly<Record<string, Expiring>>

export type ExpiringKind = keyof typeof expiring
/** What takes nothing else along and leaves no trace. */
export type PlainKind = Exclude<ExpiringKind, 'app_tokens' | 'grants' | 'webhook_events'>

/** Tables of which nothing is kept by a restore, a recovery and a reset of the clock. */
export const goneInDoubt = Object.entries<Expiring>(expiring).flatMap(([table, each]) =>
  each.goesInDoubt ? [table] : [],
)

/** Tables whose keys are those of UUIDs. A key of the future would keep its row for as long as the clock was ahead. */
export const keyedByUuid = Object.entries<Expiring>(expiring).flatMap(([table, { by, at }]) =>
  at === keyOfUuidTime ? [{ table, column: by.name }] : [],
)

export const expiringQueries = (db: DrizzleConnection) => ({
  /** Removes up to `limit` rows of this table that may go at this time, the oldest first, and returns how many. */
  remove: async (kind: PlainKind, before: number, limit: number): Promise<number> => {
    const { by, at, keptMs }: Expiring = expiring[kind]
    return await removeSome(db, by.table, lt(by, at(before - keptMs)), limit, asc(by))
  },
})
