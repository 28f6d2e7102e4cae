/** The API: every endpoint for programs, in the order of the contract. Pages for people are in `src/pages`. */
import type { Endpoint } from './endpoint.ts'
import * as appTokens from './endpoints/app-tokens.ts'
import * as managedApps from './endpoints/management-apps.ts'
import * as managedResources from './endpoints/management-resources.ts'
import * as operating from './endpoints/management-operating.ts'
import * as managedUsers from './endpoints/management-users.ts'
import * as webhooks from './endpoints/webhooks.ts'
import * as signIn from './endpoints/management-sign-in.ts'
import * as directory from './endpoints/directory.ts'
import * as health from './endpoints/health.ts'
import * as oauth from './endpoints/oauth.ts'
import * as resources from './endpoints/resources.ts'
import * as sessions from './endpoints/sessions.ts'
import * as standard from './endpoints/standard.ts'
import * as tokenChecks from './endpoints/token-checks.ts'
import * as versions from './endpoints/versions.ts'

/** Every endpoint that a server answers. */
export const endpointsOf = ({ servesMetrics }: { readonly servesMetrics: boolean }): readonly Endpoint[] => [
  // The ten endpoints of the contract.
  appTokens.issueToken,
  appTokens.identifyApp,
  versions.listAppVersions,
  versions.uploadVersion,
  versions.rollBack,
  versions.deleteVersion,
  oauth.recordConsent,
  oauth.issueUserTokens,
  oauth.identifyUser,
  oauth.revoke,
  resources.listBuilderResources,
  // Which websites and stores an app serves.
  resources.listToldInstalls,
  resources.readToldInstall,
  // With the credentials and rules of the contract, for the command line of developers.
  webhooks.listWebhookEndpoints,
  webhooks.pingWebhookEndpoint,
  webhooks.listWebhookAttempts,
  webhooks.resendWebhookEvents,
  // Outside the contract: no version header (contract section 6).
  sessions.signInEndpoint,
  sessions.readSession,
  sessions.signOutEndpoint,
  sessions.startEmbeddedSession,
  // The RFC wire format of the OAuth endpoints.
  standard.standardServerMetadata,
  standard.standardResourceMetadata,
  standard.standardToken,
  standard.standardRevocation,
  standard.standardIntrospection,
  // For the builder's own API, and for OpenID Connect clients.
  tokenChecks.checkToken,
  tokenChecks.readUserInfo,
  tokenChecks.askUserInfo,
  // The management API.
  managedUsers.readUsers,
  managedUsers.importUserLines,
  managedUsers.putUser,
  managedUsers.readUser,
  managedUsers.eraseOneUser,
  managedUsers.readPersonalData,
  managedUsers.endAccessOfUser,
  managedResources.readResources,
  managedResources.putResource,
  managedResources.readOneResource,
  managedResources.deleteResource,
  managedResources.importResourceLines,
  managedApps.readApps,
  managedApps.transferOneApp,
  managedApps.deleteOneApp,
  managedResources.readInstalls,
  managedResources.approveInstall,
  managedResources.rejectInstall,
  managedResources.deactivateInstall,
  managedApps.readScopes,
  managedApps.putScope,
  managedApps.readScope,
  managedApps.deleteScope,
  managedApps.giveScopeToApp,
  managedApps.takeScopeFromApp,
  webhooks.readBuilderEndpoints,
  webhooks.pingBuilderEndpoint,
  webhooks.readBuilderAttempts,
  webhooks.resendBuilderEvents,
  operating.exportAudit,
  operating.runOneCommand,
  signIn.acceptSignIn,
  signIn.rejectSignIn,
  // For everybody.
  directory.readDirectory,
  // For monitors.
  health.isAlive,
  health.isReady,
  ...(servesMetrics ? [health.readMetrics] : []),
]
