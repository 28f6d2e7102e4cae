import { accessQueries } from './access.ts'
import { appTokenQueries } from './app-tokens.ts'
import { appQueries } from './apps.ts'
import { artifactQueries } from './artifacts.ts'
import { auditQueries } from './audit.ts'
import { auditSearchQueries } from './audit-search.ts'
import { connectedAppQueries } from './connected-apps.ts'
import type { Connection } from './connection.ts'
import { credentialQueries } from './credentials.ts'
import { deletedAppQueries } from './deleted-apps.ts'
import { deviceQueries } from './devices.ts'
import { embeddingQueries } from './embedding.ts'
import { formTicketQueries } from './form-tickets.ts'
import { grantQueries } from './grants.ts'
import { healthQueries } from './health.ts'
import { idempotencyQueries } from './idempotency.ts'
import { installQueries } from './installs.ts'
import { redirectUriQueries } from './redirect-uris.ts'
import { resourceQueries } from './resources.ts'
import { rollbackQueries } from './rollbacks.ts'
import { serverKeyQueries } from './server-keys.ts'
import { sessionQueries } from './sessions.ts'
import { userQueries } from './users.ts'
import { versionQueries } from './versions.ts'
import { watermarkQueries } from './watermarks.ts'
import { webhookAttemptQueries } from './webhook-attempts.ts'
import { webhookEndpointQueries } from './webhook-endpoints.ts'
import { webhookEventQueries } from './webhook-events.ts'

export type { AccessOf, OpenGrant } from './access.ts'
export type { AppToken } from './app-tokens.ts'
export type { App, Client } from './apps.ts'
export type { AuditEvent, AuditFilter } from './audit.ts'
export type { AuditFinds, AuditQuestion, AuditStretch } from './audit-search.ts'
export type { Credential } from './credentials.ts'
export type { Device } from './devices.ts'
export type { EmbeddedSession, InstallSessionCode } from './embedding.ts'
export type { AuthorizationCode, Grant, TokenPair } from './grants.ts'
export type { LiveCount } from './health.ts'
export type { IdempotencyScope } from './idempotency.ts'
export type { Install } from './installs.ts'
export type { Resource } from './resources.ts'
export type { Rollback } from './rollbacks.ts'
export type { ServerKey } from './server-keys.ts'
export type { Session } from './sessions.ts'
export type { SearchWindow, User } from './users.ts'
export type { QueuePlace, Version, VersionContent, WaitingFor } from './versions.ts'
export type { WebhookAttempt } from './webhook-attempts.ts'
export type { WebhookEndpoint, WebhookSecret } from './webhook-endpoints.ts'
export type { WebhookDelivery, WebhookEvent } from './webhook-events.ts'

/** Every question and every write of the platform, over one connection. */
export const createQueries = (db: Connection) => ({
  access: accessQueries(db),
  appTokens: appTokenQueries(db),
  apps: appQueries(db),
  artifacts: artifactQueries(db),
  audit: auditQueries(db),
  auditSearch: auditSearchQueries(db),
  connectedApps: connectedAppQueries(db),
  credentials: credentialQueries(db),
  deletedApps: deletedAppQueries(db),
  devices: deviceQueries(db),
  embedding: embeddingQueries(db),
  formTickets: formTicketQueries(db),
  grants: grantQueries(db),
  health: healthQueries(db),
  idempotency: idempotencyQueries(db),
  installs: installQueries(db),
  redirectUris: redirectUriQueries(db),
  resources: resourceQueries(db),
  rollbacks: rollbackQueries(db),
  serverKeys: serverKeyQueries(db),
  sessions: sessionQueries(db),
  users: userQueries(db),
  versions: versionQueries(db),
  watermarks: watermarkQueries(db),
  webhookAttempts: webhookAttemptQueries(db),
  webhookEndpoints: webhookEndpointQueries(db),
  webhookEvents: webhookEventQueries(db),
})

export type Queries = ReturnType<typeof createQueries>
