/** The requests and answers of the contract. The types are derived from the schemas that the server checks with. */
import type { Static } from '@sinclair/typebox'
import type * as events from '../http/contract/events.ts'
import type * as management from '../http/contract/management.ts'
import type * as oauth from '../http/contract/oauth.ts'
import type * as resources from '../http/contract/resources.ts'
import type * as sessions from '../http/contract/sessions.ts'
import type * as standard from '../http/contract/standard.ts'
import type * as versions from '../http/contract/versions.ts'
import type * as webhooks from '../http/contract/webhooks.ts'

export type AppTokenRequest = Static<typeof oauth.appTokenRequest>
export type AppTokenAnswer = Static<typeof oauth.appTokenResponse>
export type AppIdentity = Static<typeof oauth.appIdentity>

export type Version = Static<typeof versions.versionRecord>
export type VersionPage = Static<typeof versions.versionList>
/** The fields of an upload, without those that the server refuses. */
export type VersionUpload = Omit<Static<typeof versions.versionUpload>, (typeof versions.forbiddenUploadFields)[number]>
export type RollbackRequest = Static<typeof versions.rollbackRequest>
export type Rollback = Static<typeof versions.rollbackResponse>

/** What each kind of event says: IDs and states. */
export type WebhookData = Static<typeof events.eventData>

export type WebhookEndpointPage = Static<typeof webhooks.webhookEndpointList>
export type WebhookEndpoint = WebhookEndpointPage['data'][number]
export type BuilderWebhookEndpointPage = Static<typeof webhooks.builderEndpointList>
export type WebhookPing = Static<typeof webhooks.pingResult>
export type WebhookAttemptPage = Static<typeof webhooks.attemptList>
export type WebhookAttempt = WebhookAttemptPage['data'][number]
/** Exactly one of the three. */
export type WebhookResend = Static<typeof webhooks.resendRequest>
export type WebhookResent = Static<typeof webhooks.resendResult>

export type AuthorizeRequest = Static<typeof oauth.authorizeRequest>
export type Authorization = Static<typeof oauth.authorizeResponse>
export type TokenRequest = Static<typeof oauth.tokenRequest>
export type TokenAnswer = Static<typeof oauth.tokenResponse>
export type UserIdentity = Static<typeof oauth.userIdentity>
export type RevokeRequest = Static<typeof oauth.revokeRequest>
export type Revoked = Static<typeof oauth.revokeResponse>

export type ResourcePage = Static<typeof resources.resourceList>
export type Resource = ResourcePage['data'][number]
export type InstallPage = Static<typeof resources.installList>
export type Install = InstallPage['data'][number]

export type Paging = { readonly limit?: number; readonly cursor?: string }
export type VersionQuery = Paging & Pick<Static<typeof versions.versionListQuery>, 'status'>
export type ResourceQuery = Paging & { readonly kind: ResourcePage['kind'] } & Pick<
    Static<typeof resources.resourceListQuery>,
    'status' | 'installed'
  >
/** `resourceId` is the builder's own ID of a website or store. */
export type AppInstallQuery = Paging & Pick<Static<typeof resources.installQuery>, 'kind' | 'state' | 'resourceId'>

/** What the platform says of a token (RFC 7662). The facts about app, user and installs are for service keys only. */
export type Introspection = Static<typeof standard.introspectionAnswer>

export type EmbeddedAnswer = Static<typeof sessions.embeddedSessionResponse>
export type EmbeddedIdentity = Static<typeof oauth.embeddedIdentity>

export type UserStatement = Static<typeof management.userStatement>
export type UserLine = Static<typeof management.userLine>
export type ImportedUsers = Static<typeof management.importedUsers>
export type ManagedUser = Static<typeof management.managedUser>
export type UserQuery = Paging & { readonly email?: string; readonly status?: ManagedUser['status'] }
export type EndedAccess = Static<typeof management.endedAccess>
export type ErasedUser = Static<typeof management.erasedUser>
export type PersonalData = Static<typeof management.personalData>
export type ResourceStatement = Static<typeof management.resourceStatement>
export type ResourceLine = Static<typeof management.resourceLine>
export type ManagedResource = Static<typeof management.managedResource>
export type ManagedResourceQuery = Paging & {
  readonly ownerExternalId?: string
  readonly slug?: string
  readonly status?: ManagedResource['status']
}
export type RemovedResource = Static<typeof management.removedResource>
export type ImportedResources = Static<typeof management.importedResources>
export type ManagedInstall = Static<typeof management.managedInstall>
export type InstallQuery = Paging & {
  readonly approval?: ManagedInstall['approval']
  readonly state?: ManagedInstall['state']
  readonly app?: string
  readonly userExternalId?: string
}
export type ManagedApp = Static<typeof management.managedApp>
export type ScopeStatement = Static<typeof management.scopeStatement>
export type ManagedScope = Static<typeof management.managedScope>
export type RetiredScope = Static<typeof management.retiredScope>
export type GivenScopes = Static<typeof management.givenScopes>
export type CommandRequest = Static<typeof management.commandRequest>
export type CommandResult = Static<typeof management.commandResult>
export type AuditPage = Static<typeof management.auditEventList>
export type AuditEvent = AuditPage['data'][number]

/** A page of a list; `nextCursor` is null on the last one. */
export type Page<Item> = { readonly data: readonly Item[]; readonly nextCursor: string | null }
