import {
  hasScope,
  isAnswer,
  isAppTokenAnswer,
  isIntrospection,
  isPage,
  isRevoked,
  isTokenAnswer,
  type Shape,
} from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { base64Of } from './base64.ts'
import type * as contract from './contract-types.ts'
import { type CallOptions, contractPath, type PlatformRequest, type Send } from './transport.ts'

export type BearerOptions = CallOptions & { readonly bearer: string }
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

const webhookPath = (id: string, call: string) => `/webhooks/${encodeURIComponent(id)}/${call}`

type More = Omit<PlatformRequest, 'method' | 'path'>

/** The endpoints of the contract, of webhooks and of the check of tokens, one function each. All throw what the transport throws. */
export const createEndpoints = (send: Send) => {
  const calling =
    (method: PlatformRequest['method']) =>
    async <T>(shape: Shape<T>, path: string, options: More): Promise<T> =>
      await send(shape, { ...options, method, path: contractPath + path })
  const [get, post] = [calling('GET'), calling('POST')]
  return {
    /** `POST /token`. Idempotent: a token that is lost in transit expires within the hour. */
    issueAppToken: async (body: contract.AppTokenRequest, options: CallOptions = {}) =>
      await post(isAppTokenAnswer, '/token', { ...options, body, idempotent: true }),

    /** All scopes that the app may have for itself: those of a token that was asked for without any (RFC 6749 section 4.4). */
    findAppScope: async (
      client: { readonly client_id: string; readonly client_secret: string },
      options: CallOptions = {},
    ) => {
      const form = { grant_type: 'client_credentials', ...client }
      return await send(hasScope, { ...options, method: 'POST', path: '/oauth/token', form, idempotent: true })
    },

    /** `GET /me`, with an app token. */
    identifyApp: async (options: BearerOptions) => await get(isAnswer<contract.AppIdentity>, '/me', options),

    /** `GET /versions`, with an app token of development credentials; the next two need one too. */
    listVersions: async (query: contract.VersionQuery, options: BearerOptions) =>
      await get(isPage<contract.VersionPage>, '/versions', { ...options, query }),

    /** `POST /versions`. */
    createVersion: async (body: contract.VersionUpload, options: BearerOptions & UploadOptions) =>
      await post(isAnswer<contract.Version>, '/versions', { timeoutMs: uploadTimeoutMs, ...options, body }),

    /** `DELETE /versions/{id}`. */
    deleteVersion: async (id: string, options: BearerOptions) =>
      await calling('DELETE')(isAnswer<contract.Version>, `/versions/${encodeURIComponent(id)}`, options),

    /** `POST /versions/rollback`. */
    rollBackVersion: async (body: contract.RollbackRequest, options: BearerOptions & RepeatableOptions) =>
      await post(isAnswer<contract.Rollback>, '/versions/rollback', { ...options, body }),

    /** `GET /webhooks`, with an app token of development credentials, as the next three. */
    listWebhooks: async (options: BearerOptions) =>
      await get(isPage<contract.WebhookEndpointPage>, '/webhooks', options),

    /** `POST /webhooks/{id}/ping`. */
    pingWebhook: async (id: string, options: BearerOptions) =>
      await post(isAnswer<contract.WebhookPing>, webhookPath(id, 'ping'), { ...options, body: {} }),

    /** `GET /webhooks/{id}/attempts`. */
    listWebhookAttempts: async (id: string, query: contract.Paging, options: BearerOptions) =>
      await get(isPage<contract.WebhookAttemptPage>, webhookPath(id, 'attempts'), { ...options, query }),

    /** `POST /webhooks/{id}/resend`. */
    resendWebhooks: async (id: string, body: contract.WebhookResend, options: BearerOptions) =>
      await post(isAnswer<contract.WebhookResent>, webhookPath(id, 'resend'), { ...options, body }),

    /** `POST /oauth/authorize`, with the session token of the signed-in user. Every call creates another grant. */
    authorize: async (body: contract.AuthorizeRequest, options: BearerOptions) =>
      await post(isAnswer<contract.Authorization>, '/oauth/authorize', { ...options, body }),

    /** `POST /oauth/token`: an exchange or a refresh. Without a key it is never repeated. */
    issueUserTokens: async (body: contract.TokenRequest, options: RepeatableOptions = {}) =>
      await post(isTokenAnswer, '/oauth/token', { ...options, body, repeatWithinMs }),

    /** `GET /oauth/me`, with a user access token. */
    identifyUser: async (options: BearerOptions) => await get(isAnswer<contract.UserIdentity>, '/oauth/me', options),

    /** `POST /oauth/revoke`: by an app with its credentials, or with a bearer token or session. Idempotent. */
    revoke: async (body: contract.RevokeRequest, options: CallOptions & { readonly bearer?: string } = {}) =>
      await post(isRevoked, '/oauth/revoke', { ...options, body, idempotent: true }),

    /** `GET /resources`, with a user access token. */
    listResources: async (query: contract.ResourceQuery, options: BearerOptions) =>
      await get(isPage<contract.ResourcePage>, '/resources', { ...options, query }),

    /** `GET /installs`, with an app token or a user access token, as the next one. */
    listInstalls: async (query: contract.AppInstallQuery, options: BearerOptions) =>
      await get(isPage<contract.InstallPage>, '/installs', { ...options, query }),

    /** `GET /installs/{id}`. */
    readInstall: async (id: string, options: BearerOptions) =>
      await get(isAnswer<contract.Install>, `/installs/${encodeURIComponent(id)}`, options),

    /** `POST /oauth/introspect` (RFC 7662), with the credentials of an app in the form or a service key as bearer. */
    introspect: async (
      form: Readonly<Record<string, string>>,
      options: CallOptions & { readonly bearer?: string } = {},
    ) => await send(isIntrospection, { ...options, method: 'POST', path: '/oauth/introspect', form, idempotent: true }),
  }
}

export type Endpoints = ReturnType<typeof createEndpoints>

/** The items of all pages. A page is requested when the loop reaches it. */
export async function* everyItem<Item>(
  pageAt: (paging: contract.Paging) => Promise<contract.Page<Item>>,
): AsyncGenerator<Item, void> {
  for (let paging: contract.Paging = { limit: 100 }; ;) {
    const { data, nextCursor } = await pageAt(paging)
    yield* data
    if (nextCursor === null) return
    if (nextCursor === paging.cursor) throw new AppPlatformError('unexpected_answer', 'The list repeats a cursor.')
    paging = { ...paging, cursor: nextCursor }
  }
}

/** A file as an upload carries it, with its SHA-256 for the server to check. */
export const artifactOf = async (
  filename: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<NonNullable<contract.VersionUpload['artifact']>> => ({
  filename,
  contentBase64: base64Of(bytes),
  sha256: [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join(''),
})
