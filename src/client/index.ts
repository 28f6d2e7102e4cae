/** The client library: for the backends of apps and of the builder, on Bun and on Node 20. */
export { AppPlatformError, type AppPlatformErrorCode, type ClientFault } from './app-platform-error.ts'
export {
  type AuthorizationOptions,
  challengeOf,
  createPkce,
  type Pkce,
  readCallback,
  type StartedAuthorization,
} from './authorization.ts'
export type * from './contract-types.ts'
export { libraryVersion } from './transport.ts'
export { artifactOf, type Endpoints } from './endpoints.ts'
export {
  createManagementClient,
  type ImportLines,
  type ImportOptions,
  type ManagementClient,
  type ManagementClientOptions,
} from './management-client.ts'
export { createPlatformClient, type PlatformClient, type PlatformClientOptions } from './platform-client.ts'
export type { RetryPolicy } from './retry.ts'
export type { AppToken, OnTokens, UserTokenSet } from './tokens.ts'
export type { AnswerFacts, CallOptions, OnAnswer, Repeat } from './transport.ts'
export type { UserSession } from './platform-client.ts'
export {
  type EmbeddedSession,
  type EmbeddedSessionOptions,
  type FrameWindow,
  openEmbeddedSession,
} from './embedded-session.ts'
export { verifyWebhook, type WebhookDelivery, type WebhookEvent } from './webhook.ts'
