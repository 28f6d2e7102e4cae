import { Buffer } from 'node:buffer'
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
import { AppPlatformError } from './app-platform-error.ts'
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

type BearerOptions = CallOptions & { readonly bearer: string }
/** A call that may be repeated when it carries a key; without one it is sent once. */
export type RepeatableOptions = CallOptions & { readonly idempotencyKey?: string }
export type UploadOptions = RepeatableOptions & Pick<PlatformRequest, 'onUpload'>

/** An upload may be 10 MiB over a slow line. */
const uploadTimeoutMs = 300_000

/**
 * For 60 s the server recognises a repeated exchange or refresh by its key; after that it counts as reuse (contract
 * section 3). The last repeat starts early enough to arrive in time.
 */
const repeatWithinMs = 45_000

/** The ten endpoints of the contract, one function each. All throw what the transport throws. */
export const createEndpoints = (send: Send) => ({
  /** `POST /token`. Idempotent: a token that is lost in transit expires within the hour. */
  issueAppToken: async (body: AppTokenRequest, options: CallOptions = {}) =>
    await send(isAppTokenAnswer, { ...options, method: 'POST', path: '/token', body, idempotent: true }),

  /** `GET /me`, with an app token. */
  identifyApp: async (options: BearerOptions) => await send(isAppIdentity, { ...options, method: 'GET', path: '/me' }),

  /** `GET /versions`, with an app token of development credentials; the next two need one too. */
  listVersions: async (query: VersionQuery, options: BearerOptions) =>
    await send(isVersionPage, { ...options, method: 'GET', path: '/versions', query }),

  /** `POST /versions`. */
  createVersion: async (body: VersionUpload, options: BearerOptions & UploadOptions) =>
    await send(isVersion, { timeoutMs: uploadTimeoutMs, ...options, method: 'POST', path: '/versions', body }),

  /** `POST /versions/rollback`. */
  rollBackVersion: async (body: RollbackRequest, options: BearerOptions & RepeatableOptions) =>
    await send(isRollback, { ...options, method: 'POST', path: '/versions/rollback', body }),

  /** `POST /oauth/authorize`, with the session token of the signed-in user. Every call creates another grant. */
  authorize: async (body: AuthorizeRequest, options: BearerOptions) =>
    await send(isAuthorization, { ...options, method: 'POST', path: '/oauth/authorize', body }),

  /** `POST /oauth/token`: an exchange or a refresh. Without a key it is never repeated. */
  issueUserTokens: async (body: TokenRequest, options: RepeatableOptions = {}) =>
    await send(isTokenAnswer, { ...options, method: 'POST', path: '/oauth/token', body, repeatWithinMs }),

  /** `GET /oauth/me`, with a user access token. */
  identifyUser: async (options: BearerOptions) =>
    await send(isUserIdentity, { ...options, method: 'GET', path: '/oauth/me' }),

  /** `POST /oauth/revoke`: by an app with its credentials, or with a bearer token or session. Idempotent. */
  revoke: async (body: RevokeRequest, options: CallOptions & { readonly bearer?: string } = {}) =>
    await send(isRevoked, { ...options, method: 'POST', path: '/oauth/revoke', body, idempotent: true }),

  /** `GET /resources`, with a user access token. */
  listResources: async (query: ResourceQuery, options: BearerOptions) =>
    await send(isResourcePage, { ...options, method: 'GET', path: '/resources', query }),
})

export type Endpoints = ReturnType<typeof createEndpoints>

type Page<Item> = { readonly data: readonly Item[]; readonly nextCursor: string | null }

/** The items of all pages. A page is requested when the loop reaches it. */
export async function* everyItem<Item>(
  pageAfter: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void> {
  for (let cursor: string | undefined; ;) {
    const { data, nextCursor } = await pageAfter(cursor)
    yield* data
    if (nextCursor === null) return
    if (nextCursor === cursor) throw new AppPlatformError('unexpected_answer', 'The list repeats a cursor.')
    cursor = nextCursor
  }
}

/** A file as an upload carries it, with its SHA-256 for the server to check. */
export const artifactOf = async (
  filename: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<NonNullable<VersionUpload['artifact']>> => ({
  filename,
  contentBase64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  sha256: Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex'),
})
