/** The tables of webhooks, as `sqlite.ts` says of all. */
import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { environments } from '../../src/domain/app.ts'
import { attemptErrors, deliveryStates, disabledReasons, endpointStatuses } from '../../src/domain/webhook-delivery.ts'

/** A blob as SQLite gives it. drizzle's own makes a Buffer of each, an unnecessary copy. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })

/** Where apps get their events. `kinds` are names with one space between; `failingSince` is null while deliveries succeed. */
export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  /** Null: the builder's, which hears of every app. */
  appId: text('app_id'),
  environment: text({ enum: environments }).notNull(),
  url: text().notNull(),
  kinds: text().notNull(),
  status: text({ enum: endpointStatuses }).notNull(),
  reason: text({ enum: disabledReasons }),
  failingSince: integer('failing_since'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** The secrets that sign deliveries, stored unhashed. `expiresAt` is null unless a rotation has set the end of the grace period. */
export const webhookSecrets = sqliteTable('webhook_secrets', {
  id: text().primaryKey(),
  endpointId: text('endpoint_id').notNull(),
  secret: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
})

/** The outbox: events for endpoints, in the order of the commits. */
export const webhookEvents = sqliteTable('webhook_events', {
  position: integer().primaryKey(),
  id: text().notNull(),
  appId: text('app_id').notNull(),
  environment: text({ enum: environments }).notNull(),
  kind: text().notNull(),
  body: text().notNull(),
  createdAt: integer('created_at').notNull(),
})

/** An event on its way to an endpoint. `nextAttemptAt` is null unless it is pending. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    position: integer().notNull(),
    endpointId: text('endpoint_id').notNull(),
    state: text({ enum: deliveryStates }).notNull(),
    attempts: integer().notNull(),
    nextAttemptAt: integer('next_attempt_at'),
  },
  (table) => [primaryKey({ columns: [table.position, table.endpointId] })],
)

/**
 * One call of an endpoint: where to and with which headers, the status of the answer or what went wrong, its headers and its
 * first kilobyte. Headers are JSON objects.
 */
export const webhookAttempts = sqliteTable('webhook_attempts', {
  id: text().primaryKey(),
  endpointId: text('endpoint_id').notNull(),
  eventId: text('event_id').notNull(),
  kind: text().notNull(),
  at: integer().notNull(),
  durationMs: integer('duration_ms').notNull(),
  status: integer(),
  error: text({ enum: attemptErrors }),
  answer: text().notNull(),
  url: text(),
  sentHeaders: text('sent_headers'),
  answerHeaders: text('answer_headers'),
})
