import { AppPlatformError } from './app-platform-error.ts'
import {
  type AppToken,
  createAppTokens,
  createUserTokens,
  type OnTokens,
  tokenSetOf,
  type TokenSource,
  type UserTokens,
  type UserTokenSet,
  withToken,
} from './tokens.ts'
import {
  type AuthorizationOptions,
  readCallback,
  startAuthorization,
  type StartedAuthorization,
} from './authorization.ts'
import type {
  Paging,
  RollbackRequest,
  VersionQuery,
  VersionUpload,
  WebhookResend,
  AppInstallQuery,
  ResourceQuery,
} from './contract-types.ts'
import {
  type BearerOptions,
  createEndpoints,
  type Endpoints,
  everyItem,
  type RepeatableOptions,
  type UploadOptions,
} from './endpoints.ts'
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts'
import { orAborted } from './retry.ts'

export type PlatformClientOptions = TransportOptions & {
  readonly clientId: string
  readonly clientSecret: string
  /** Scopes of the app's own tokens, separated by spaces. Only `me` and `versions` need them. */
  readonly appScope?: string
  /** The platform's public origin, if it is not the URL that this client calls. */
  readonly issuer?: string
}

/** An app's backend at the platform. Every call throws AppPlatformError, or the reason of its signal. */
export type PlatformClient = ReturnType<typeof createPlatformClient>

/**
 * Secrets and tokens are held in closures, so that printing or serialising the client shows none.
 * @throws AppPlatformError insecure_url; TypeError for a URL that is not an origin
 */
export const createPlatformClient = (options: PlatformClientOptions) => {
  const { clientId, clientSecret, appScope } = options
  const issuer = new URL(options.issuer ?? options.url).origin
  const endpoints = createEndpoints(createTransport(options))
  const appTokens = createAppTokens(async () => {
    if (appScope !== undefined) return await endpoints.issueAppToken({ clientId, clientSecret, scope: appScope })
    throw new AppPlatformError('app_scope_missing', 'The client was made without an appScope to ask tokens for.')
  })
  /** Ends an app token, or for any other token its whole grant. */
  const revoke = async (token: string, call?: CallOptions): Promise<void> =>
    void (await endpoints.revoke({ clientId, clientSecret, token }, call))

  /** A user whose tokens are in the app's store. */
  const user = (tokens: UserTokenSet, onTokens: OnTokens): UserSession => {
    const refresh = async (refreshToken: string, idempotencyKey: string) =>
      await endpoints.issueUserTokens(
        { grantType: 'refresh_token', clientId, clientSecret, refreshToken },
        { idempotencyKey },
      )
    return createUserSession(endpoints, createUserTokens(tokens, refresh, onTokens), revoke)
  }

  return {
    /** Each endpoint as a function; the caller brings the token. */
    endpoints,
    /** The app's own token. It is renewed before it expires, by one request at a time. */
    appToken: async ({ signal }: CallOptions = {}) => await orAborted(appTokens.get(), signal),
    me: async (call: CallOptions = {}) => await withToken(appTokens, call, endpoints.identifyApp),
    versions: versionsOf(endpoints, appTokens),
    /** Webhook endpoints in development. */
    webhooks: webhooksOf(endpoints, appTokens),
    /** Where the app is installed, and by whom, in the environment of its credentials. */
    installs: installsOf(endpoints, async (call, ask) => await withToken(appTokens, call, ask)),
    /** Where to send the browser. Keep the rest of the result until the browser is back. */
    startAuthorization: async (asked: AuthorizationOptions) => await startAuthorization(issuer, clientId, asked),
    /** Checks the callback and exchanges the code. `onTokens` stores these tokens and all later ones. */
    finishAuthorization: async (
      callback: string | URL | URLSearchParams,
      { state, codeVerifier, redirectUri }: Omit<StartedAuthorization, 'url'>,
      onTokens: OnTokens,
      call: CallOptions = {},
    ): Promise<UserSession> => {
      const code = readCallback(callback, { state, issuer })
      const body = { grantType: 'authorization_code', clientId, clientSecret, code, redirectUri, codeVerifier }
      const askedAt = Date.now()
      const answer = await endpoints.issueUserTokens(body, repeatable(call))
      const tokens = tokenSetOf(answer, askedAt)
      await onTokens(tokens)
      return user(tokens, onTokens)
    },
    user,
    revoke,
    /** What the platform says of a token of this app, in the names of RFC 7662; `active` is false for any other. */
    introspect: async (token: string, call?: CallOptions) =>
      await endpoints.introspect({ client_id: clientId, client_secret: clientSecret, token }, call),
  }
}

const versionsOf = (endpoints: Endpoints, tokens: TokenSource<AppToken>) => {
  const list = async (query: VersionQuery = {}, call: CallOptions = {}) =>
    await withToken(tokens, call, async (signed) => await endpoints.listVersions(query, signed))
  return {
    list,
    /** Versions of all pages, newest first. A page is requested when the loop reaches it. */
    all: (query: Pick<VersionQuery, 'status'> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list({ ...query, ...paging }, call)),
    /** Sends an idempotency key, a new one unless one is given, so that it is safe to repeat. */
    create: async (upload: VersionUpload, call: UploadOptions = {}) =>
      await withToken(tokens, repeatable(call), async (signed) => await endpoints.createVersion(upload, signed)),
    /** Removes a draft, and gives it as it was. */
    delete: async (id: string, call: CallOptions = {}) =>
      await withToken(tokens, call, async (signed) => await endpoints.deleteVersion(id, signed)),
    /** Sends an idempotency key, as `create` does. */
    rollBack: async (rollback: RollbackRequest, call: RepeatableOptions = {}) =>
      await withToken(tokens, repeatable(call), async (signed) => await endpoints.rollBackVersion(rollback, signed)),
  }
}

const webhooksOf = (endpoints: Endpoints, tokens: TokenSource<AppToken>) => {
  const attempts = async (id: string, query: Paging = {}, call: CallOptions = {}) =>
    await withToken(tokens, call, async (signed) => await endpoints.listWebhookAttempts(id, query, signed))
  return {
    list: async (call: CallOptions = {}) => await withToken(tokens, call, endpoints.listWebhooks),
    /** Sends one ping now, and tells what became of it. */
    ping: async (id: string, call: CallOptions = {}) =>
      await withToken(tokens, call, async (signed) => await endpoints.pingWebhook(id, signed)),
    attempts,
    /** Attempts of all pages, newest first. */
    allAttempts: (id: string, call?: CallOptions) => everyItem(async (paging) => await attempts(id, paging, call)),
    resend: async (id: string, which: WebhookResend, call: CallOptions = {}) =>
      await withToken(tokens, call, async (signed) => await endpoints.resendWebhooks(id, which, signed)),
  }
}

const repeatable = <T extends RepeatableOptions>(call: T) => ({ idempotencyKey: crypto.randomUUID(), ...call })

/** What an app may do for one user who consented. Every call throws AppPlatformError. */
export type UserSession = ReturnType<typeof createUserSession>

export const createUserSession = (
  endpoints: Endpoints,
  tokens: UserTokens,
  revokeToken: (token: string, options?: CallOptions) => Promise<void>,
) => {
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(tokens, options, async (signed) => await endpoints.listResources(query, signed))
  return {
    me: async (options: CallOptions = {}) => await withToken(tokens, options, endpoints.identifyUser),
    resources,
    /** Resources of all pages. A page is requested when the loop reaches it. */
    allResources: (query: Omit<ResourceQuery, 'limit' | 'cursor'>, options?: CallOptions) =>
      everyItem(async (paging) => await resources({ ...query, ...paging }, options)),
    /** The user's installs of the app. */
    installs: installsOf(endpoints, async (call, ask) => await withToken(tokens, call, ask)),
    /** The tokens that were stored last. */
    tokens: () => tokens.current(),
    /** Ends the whole grant: none of its tokens works again. */
    revoke: async (options?: CallOptions) => await revokeToken(tokens.current().refreshToken, options),
  }
}

/** The installs that a token sees. `signed` makes a call with it. */
export const installsOf = (
  endpoints: Endpoints,
  signed: <T>(call: CallOptions, ask: (options: BearerOptions) => Promise<T>) => Promise<T>,
) => {
  const list = async (query: AppInstallQuery = {}, call: CallOptions = {}) =>
    await signed(call, async (options) => await endpoints.listInstalls(query, options))
  return {
    list,
    /** Installs of all pages, oldest first. A page is requested when the loop reaches it. */
    all: (query: Omit<AppInstallQuery, 'limit' | 'cursor'> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list({ ...query, ...paging }, call)),
    get: async (id: string, call: CallOptions = {}) =>
      await signed(call, async (options) => await endpoints.readInstall(id, options)),
  }
}
