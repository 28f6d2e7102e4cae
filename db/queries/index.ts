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

const groups = {
  access: accessQueries,
  appTokens: appTokenQueries,
  apps: appQueries,
  artifacts: artifactQueries,
  audit: auditQueries,
  auditReading: auditReadingQueries,
  builderInstalls: builderInstallQueries,
  connectedApps: connectedAppQueries,
  counted: countedQueries,
  counts: countQueries,
  credentials: credentialQueries,
  dashboards: dashboardQueries,
  deletedApps: deletedAppQueries,
  devices: deviceQueries,
  directory: directoryQueries,
  embedding: embeddingQueries,
  expiring: expiringQueries,
  formTickets: formTicketQueries,
  grants: grantQueries,
  health: healthQueries,
  idempotency: idempotencyQueries,
  identities: identityQueries,
  installs: installQueries,
  keys: keyQueries,
  liveChanges: liveChangeQueries,
  mails: mailQueries,
  mutedMails: mutedMailQueries,
  names: nameQueries,
  appMembers: appMemberQueries,
  appInvitations: appInvitationQueries,
  passwordLinks: passwordLinkQueries,
  personal: personalQueries,
  recoveryCodes: recoveryCodeQueries,
  redirectUris: redirectUriQueries,
  resources: resourceQueries,
  reviewMessages: reviewMessageQueries,
  rollbacks: rollbackQueries,
  scopes: scopeQueries,
  serverKeys: serverKeyQueries,
  serverSettings: serverSettingQueries,
  serviceKeys: serviceKeyQueries,
  sessions: sessionQueries,
  signInRequests: signInRequestQueries,
  stagedResources: stagedResourceQueries,
  totpKeys: totpKeyQueries,
  passkeys: passkeyQueries,
  users: userQueries,
  versions: versionQueries,
  watermarks: watermarkQueries,
  webhookAttempts: webhookAttemptQueries,
  webhookEndpoints: webhookEndpointQueries,
  webhookEvents: webhookEventQueries,
}

/** Every question and every write of the platform. */
export type Queries = { readonly [Name in keyof typeof groups]: ReturnType<(typeof groups)[Name]> }

/**
 * The queries over one connection. Each group is prepared at its first use, and is a plain property from then on: of all of them, a
 * start or a command needs a few.
 */
export const createQueries = (db: DrizzleConnection): Queries => {
  const queries = {}
  for (const [name, prepare] of Object.entries(groups)) {
    const property = { enumerable: true, configurable: true }
    Object.defineProperty(queries, name, {
      ...property,
      get: () => {
        const value = prepare(db)
        Object.defineProperty(queries, name, { ...property, value })
        return value
      },
    })
  }
  return queries as Queries // each name has what its own function makes
}
