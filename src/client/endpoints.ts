import {
  isAppIdentity,
  isAppTokenAnswer,
  isAuthorization,
  isResourcePage,
  isRevoked,
  isRollback,
  isTokenAnswer,
  isUserIdentity,
  isVersion,
  isVersionPage,
} from './answer-shapes.ts'
import type {
  AppTokenRequest,
  AuthorizeRequest,
  ResourceQuery,
  RevokeRequest,
  RollbackRequest,
  TokenRequest,
  VersionQuery,
  VersionUpload,
} from './contract-types.ts'
import type { CallOptions, PlatformRequest, Send } from './transport.ts'

export type BearerOptions = CallOptions & { readonly bearer: string }
/** A call that may be sent again when it carries a key; without one it is sent once. */
export type RepeatableOptions = CallOptions & { readonly idempotencyKey?: string }
export type UploadOptions = RepeatableOptions & Pick<PlatformRequest, 'onUpload'>

/** Uploads of 10 MiB over slow lines take their time. */
const uploadTimeoutMs = 300_000

/**
 * The server knows a repeated exchange or refresh for 60 s by its key, and takes it for theft after that (contract
 * section 3). The last repeat starts early enough to arrive in time.
 */
const repeatWithinMs = 45_000

/** The ten endpoints of the contract, one function each; all of them throw what the transport throws. */
export const createEndpoints = (send: Send) => ({
  /** `POST /token`. Idempotent, for a token that got lost on the way is held by nobody and ends within the hour. */
  issueAppToken: async (body: AppTokenRequest, options: CallOptions = {}) =>
    await send(isAppTokenAnswer, { ...options, method: 'POST', path: '/token', body, idempotent: true }),

  /** `GET /me`, with an app token. */
  identifyApp: async (options: BearerOptions) => await send(isAppIdentity, { ...options, method: 'GET', path: '/me' }),

  /** `GET /versions`, with an app token of development credentials, as the next two. */
  listVersions: async (query: VersionQuery, options: BearerOptions) =>
    await send(isVersionPage, { ...options, method: 'GET', path: '/versions', query }),

  /** `POST /versions`. */
  createVersion: async (body: VersionUpload, options: BearerOptions & UploadOptions) =>
    await send(isVersion, { timeoutMs: uploadTimeoutMs, ...options, method: 'POST', path: '/versions', body }),

  /** `POST /versions/rollback`. */
  rollBackVersion: async (body: RollbackRequest, options: BearerOptions & RepeatableOptions) =>
    await send(isRollback, { ...options, method: 'POST', path: '/versions/rollback', body }),

  /** `POST /oauth/authorize`, with the session token of the signed-in user. Every call makes another grant. */
  authorize: async (body: AuthorizeRequest, options: BearerOptions) =>
    await send(isAuthorization, { ...options, method: 'POST', path: '/oauth/authorize', body }),

  /** `POST /oauth/token`: an exchange or a refresh. Without a key it is sent once, whatever happens to it. */
  issueUserTokens: async (body: TokenRequest, options: RepeatableOptions = {}) =>
    await send(isTokenAnswer, { ...options, method: 'POST', path: '/oauth/token', body, repeatWithinMs }),

  /** `GET /oauth/me`, with a user access token. */
  identifyUser: async (options: BearerOptions) =>
    await send(isUserIdentity, { ...options, method: 'GET', path: '/oauth/me' }),

  /** `POST /oauth/revoke`: an app with its credentials, or a bearer of a token or a session. What is dead stays dead. */
  revoke: async (body: RevokeRequest, options: CallOptions & { readonly bearer?: string } = {}) =>
    await send(isRevoked, { ...options, method: 'POST', path: '/oauth/revoke', body, idempotent: true }),

  /** `GET /resources`, with a user access token. */
  listResources: async (query: ResourceQuery, options: BearerOptions) =>
    await send(isResourcePage, { ...options, method: 'GET', path: '/resources', query }),
})

export type Endpoints = ReturnType<typeof createEndpoints>
