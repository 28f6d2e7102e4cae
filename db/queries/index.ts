import { accessQueries, connectedAppQueries } from './access.ts'
import { appTokenQueries, credentialQueries, serviceKeyQueries } from './secrets.ts'
import { appQueries, deletedAppQueries, redirectUriQueries, appInvitationQueries, appMemberQueries } from './apps.ts'
import { artifactQueries, liveChangeQueries, rollbackQueries, versionQueries } from './versions.ts'
import { auditQueries, auditReadingQueries } from './audit.ts'
import { countedQueries, countQueries, dashboardQueries } from './counts.ts'
import type { DrizzleConnection } from './connection.ts'
import { directoryQueries } from './directory.ts'
import { builderInstallQueries } from './builder-installs.ts'
import { installQueries } from './installs.ts'
import {
  deviceQueries,
  userQueries,
  passkeyQueries,
  recoveryCodeQueries,
  totpKeyQueries,
  passwordLinkQueries,
  identityQueries,
  signInRequestQueries,
} from './users.ts'
import { embeddingQueries, sessionQueries } from './sessions.ts'
import { expiringQueries, personalQueries } from './lists.ts'
import { mailQueries, mutedMailQueries } from './mails.ts'
import {
  formTicketQueries,
  idempotencyQueries,
  healthQueries,
  serverKeyQueries,
  serverSettingQueries,
  watermarkQueries,
} from './server.ts'
import { grantQueries } from './grants.ts'
import { keyQueries } from './rows.ts'
import { nameQueries } from './names.ts'
import { resourceQueries, stagedResourceQueries } from './resources.ts'
import { reviewMessageQueries } from './reviews.ts'
import { scopeQueries } from './scopes.ts'
import { webhookAttemptQueries, webhookEventQueries, webhookEndpointQueries } from './webhooks.ts'

export type * from './access.ts'
export type * from './apps.ts'
export type * from './audit.ts'
export type * from './counts.ts'
export type * from './grants.ts'
export type * from './installs.ts'
export type * from './lists.ts'
export type * from './mails.ts'
export type * from './places.ts'
export type * from './resources.ts'
export type * from './scopes.ts'
export type * from './secrets.ts'
export type * from './server.ts'
export type * from './sessions.ts'
export type * from './users.ts'
export type * from './versions.ts'
export type * from './webhooks.ts'

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
  directory: directoryQueries(db),
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
  mutedMails: mutedMailQueries(db),
  names: nameQueries(db),
  appMembers: appMemberQueries(db),
  appInvitations: appInvitationQueries(db),
  passwordLinks: passwordLinkQueries(db),
  personal: personalQueries(db),
  recoveryCodes: recoveryCodeQueries(db),
  redirectUris: redirectUriQueries(db),
  resources: resourceQueries(db),
  reviewMessages: reviewMessageQueries(db),
  rollbacks: rollbackQueries(db),
  scopes: scopeQueries(db),
  serverKeys: serverKeyQueries(db),
  serverSettings: serverSettingQueries(db),
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
