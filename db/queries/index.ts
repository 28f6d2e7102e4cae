import { accessQueries, connectedAppQueries } from './access.ts'
import { appTokenQueries } from './app-tokens.ts'
import { appQueries, deletedAppQueries, redirectUriQueries } from './apps.ts'
import { artifactQueries } from './artifacts.ts'
import { auditQueries } from './audit.ts'
import { countedQueries } from './counted.ts'
import { countQueries } from './counts.ts'
import type { DrizzleConnection } from './connection.ts'
import { auditReadingQueries } from './audit-reading.ts'
import { builderInstallQueries } from './builder-installs.ts'
import { credentialQueries } from './credentials.ts'
import { dashboardQueries } from './dashboards.ts'
import { deviceQueries, userQueries } from './users.ts'
import { embeddingQueries } from './embedding.ts'
import { appInvitationQueries, appMemberQueries } from './app-members.ts'
import { expiringQueries } from './expiring.ts'
import { passkeyQueries, recoveryCodeQueries, totpKeyQueries } from './factors.ts'
import { personalQueries } from './personal.ts'
import { passwordLinkQueries } from './password-links.ts'
import { mailQueries } from './mails.ts'
import { formTicketQueries, idempotencyQueries } from './once.ts'
import { grantQueries } from './grants.ts'
import { identityQueries } from './identities.ts'
import { installQueries } from './installs.ts'
import { keyQueries } from './keys.ts'
import { nameQueries } from './names.ts'
import { resourceQueries } from './resources.ts'
import { liveChangeQueries, rollbackQueries, versionQueries } from './versions.ts'
import { healthQueries, serverKeyQueries, watermarkQueries } from './server.ts'
import { serviceKeyQueries } from './service-keys.ts'
import { sessionQueries } from './sessions.ts'
import { signInRequestQueries } from './sign-in-requests.ts'
import { stagedResourceQueries } from './staged-resources.ts'
import { webhookAttemptQueries, webhookEventQueries } from './webhook-events.ts'
import { webhookEndpointQueries } from './webhook-endpoints.ts'

export type { AccessOf, OpenGrant } from './access.ts'
export type { AppToken } from './app-tokens.ts'
export type { App, AppOrder, AppQuestion, Client } from './apps.ts'
export type { AuditEvent, AuditFinds, AuditListing, AuditQuestion, AuditStretch } from './audit.ts'
export type { CountsOf, HourlyCount } from './counts.ts'
export type { ExpiringKind, PlainKind } from './expiring.ts'
export type { Credential } from './credentials.ts'
export type { Identity } from './identities.ts'
export type { Device, User, UserOrder, UserQuestion } from './users.ts'
export type { Passkey, RecoveryCode, TotpKey } from './factors.ts'
export type { Mail } from './mails.ts'
export type { AppInvitation, AppMember } from './app-members.ts'
export type { PasswordLink } from './password-links.ts'
export type { Counted, Place, SearchWindow, TimeOrder } from './places.ts'
export type { EmbeddedSession, InstallSessionCode } from './embedding.ts'
export type { AuthorizationCode, Grant, TokenPair } from './grants.ts'
export type { IdempotencyScope } from './once.ts'
export type { AppInstallFilter, InstallFilter, InstallStatus, StateCounts } from './install-filter.ts'
export type { Install } from './installs.ts'
export type { Resource } from './resources.ts'
export type { StagedLines, StagedResource } from './staged-resources.ts'
export type { QueuePlace, Rollback, Version, VersionContent, VersionQuestion, WaitingFor } from './versions.ts'
export type { LiveCount, ServerKey } from './server.ts'
export type { ServiceKey } from './service-keys.ts'
export type { Session } from './sessions.ts'
export type { AttemptQuestion, WebhookAttempt, WebhookDelivery, WebhookEvent } from './webhook-events.ts'
export type { WebhookEndpoint, WebhookSecret } from './webhook-endpoints.ts'

/** Every question and every write of the platform, over one connection. */
export const createQueries = (db: DrizzleConnection) => ({
  access: accessQueries(db),
  appTokens: appTokenQueries(db),
  apps: appQueries(db),
  artifacts: artifactQueries(db),
  audit: auditQueries(db),
  auditReading: auditReadingQueries(db),
  builderInstalls: builderInstallQueries(db),
  connectedApps: connectedAppQueries(db),
  counted: countedQueries(db),
  counts: countQueries(db),
  credentials: credentialQueries(db),
  dashboards: dashboardQueries(db),
  deletedApps: deletedAppQueries(db),
  devices: deviceQueries(db),
  embedding: embeddingQueries(db),
  expiring: expiringQueries(db),
  formTickets: formTicketQueries(db),
  grants: grantQueries(db),
  health: healthQueries(db),
  idempotency: idempotencyQueries(db),
  identities: identityQueries(db),
  installs: installQueries(db),
  keys: keyQueries(db),
  liveChanges: liveChangeQueries(db),
  mails: mailQueries(db),
  names: nameQueries(db),
  appMembers: appMemberQueries(db),
  appInvitations: appInvitationQueries(db),
  passwordLinks: passwordLinkQueries(db),
  personal: personalQueries(db),
  recoveryCodes: recoveryCodeQueries(db),
  redirectUris: redirectUriQueries(db),
  resources: resourceQueries(db),
  rollbacks: rollbackQueries(db),
  serverKeys: serverKeyQueries(db),
  serviceKeys: serviceKeyQueries(db),
  sessions: sessionQueries(db),
  signInRequests: signInRequestQueries(db),
  stagedResources: stagedResourceQueries(db),
  totpKeys: totpKeyQueries(db),
  passkeys: passkeyQueries(db),
  users: userQueries(db),
  versions: versionQueries(db),
  watermarks: watermarkQueries(db),
  webhookAttempts: webhookAttemptQueries(db),
  webhookEndpoints: webhookEndpointQueries(db),
  webhookEvents: webhookEventQueries(db),
})

export type Queries = ReturnType<typeof createQueries>
