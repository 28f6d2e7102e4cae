/** The API: every endpoint for programs, in the order of the contract. Pages for people are in `src/pages`. */
import type { Endpoint } from './endpoint.ts'
import { identifyApp, issueToken } from './endpoints/app-tokens.ts'
import { deleteOneApp, readApps, transferOneApp } from './endpoints/management-apps.ts'
import { approveInstall, deactivateInstall, readInstalls, rejectInstall } from './endpoints/management-installs.ts'
import {
  deleteResource,
  importResourceLines,
  putResource,
  readOneResource,
  readResources,
} from './endpoints/management-resources.ts'
import { exportAudit, runOneCommand } from './endpoints/management-operating.ts'
import {
  endAccessOfUser,
  eraseOneUser,
  importUserLines,
  putUser,
  readPersonalData,
  readUser,
  readUsers,
} from './endpoints/management-users.ts'
import {
  deleteScope,
  giveScopeToApp,
  putScope,
  readScope,
  readScopes,
  takeScopeFromApp,
} from './endpoints/management-scopes.ts'
import {
  pingBuilderEndpoint,
  readBuilderAttempts,
  readBuilderEndpoints,
  resendBuilderEvents,
} from './endpoints/management-webhooks.ts'
import { acceptSignIn, rejectSignIn } from './endpoints/management-sign-in.ts'
import { readDirectory } from './endpoints/directory.ts'
import { isAlive, isReady, readMetrics } from './endpoints/health.ts'
import { identifyUser, issueUserTokens, recordConsent, revoke } from './endpoints/oauth.ts'
import { listBuilderResources, listToldInstalls, readToldInstall } from './endpoints/resources.ts'
import { signOutEndpoint, readSession, signInEndpoint, startEmbeddedSession } from './endpoints/sessions.ts'
import {
  standardIntrospection,
  standardResourceMetadata,
  standardRevocation,
  standardServerMetadata,
  standardToken,
} from './endpoints/standard.ts'
import { askUserInfo, checkToken, readUserInfo } from './endpoints/token-checks.ts'
import { deleteVersion, listAppVersions, rollBack, uploadVersion } from './endpoints/versions.ts'
import {
  listWebhookAttempts,
  listWebhookEndpoints,
  pingWebhookEndpoint,
  resendWebhookEvents,
} from './endpoints/webhooks.ts'

/** Every endpoint that a server answers. */
export const endpointsOf = ({ servesMetrics }: { readonly servesMetrics: boolean }): readonly Endpoint[] => [
  // The ten endpoints of the contract.
  issueToken,
  identifyApp,
  listAppVersions,
  uploadVersion,
  rollBack,
  deleteVersion,
  recordConsent,
  issueUserTokens,
  identifyUser,
  revoke,
  listBuilderResources,
  // Which websites and stores an app serves.
  listToldInstalls,
  readToldInstall,
  // With the credentials and rules of the contract, for the command line of developers.
  listWebhookEndpoints,
  pingWebhookEndpoint,
  listWebhookAttempts,
  resendWebhookEvents,
  // Outside the contract: no version header (contract section 6).
  signInEndpoint,
  readSession,
  signOutEndpoint,
  startEmbeddedSession,
  // The RFC wire format of the OAuth endpoints.
  standardServerMetadata,
  standardResourceMetadata,
  standardToken,
  standardRevocation,
  standardIntrospection,
  // For the builder's own API, and for OpenID Connect clients.
  checkToken,
  readUserInfo,
  askUserInfo,
  // The management API.
  readUsers,
  importUserLines,
  putUser,
  readUser,
  eraseOneUser,
  readPersonalData,
  endAccessOfUser,
  readResources,
  putResource,
  readOneResource,
  deleteResource,
  importResourceLines,
  readApps,
  transferOneApp,
  deleteOneApp,
  readInstalls,
  approveInstall,
  rejectInstall,
  deactivateInstall,
  readScopes,
  putScope,
  readScope,
  deleteScope,
  giveScopeToApp,
  takeScopeFromApp,
  readBuilderEndpoints,
  pingBuilderEndpoint,
  readBuilderAttempts,
  resendBuilderEvents,
  exportAudit,
  runOneCommand,
  acceptSignIn,
  rejectSignIn,
  // For everybody.
  readDirectory,
  // For monitors.
  isAlive,
  isReady,
  ...(servesMetrics ? [readMetrics] : []),
]
