import { AppPlatformError } from './app-platform-error.ts'
import { type AppToken, createAppTokens } from './app-tokens.ts'
import {
  type AuthorizationOptions,
  readCallback,
  startAuthorization,
  type StartedAuthorization,
} from './authorization.ts'
import type {
  AppIdentity,
  Rollback,
  RollbackRequest,
  Version,
  VersionPage,
  VersionQuery,
  VersionUpload,
} from './contract-types.ts'
import { createEndpoints, type Endpoints, type RepeatableOptions, type UploadOptions } from './endpoints.ts'
import { everyItem } from './every-item.ts'
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts'
import { createUserSession, type UserSession } from './user-session.ts'
import { createUserTokens, type OnTokens, tokenSetOf, type UserTokenSet } from './user-tokens.ts'
import { orAborted } from './wait.ts'
import { type TokenSource, withToken } from './with-token.ts'

export type PlatformClientOptions = TransportOptions & {
  readonly clientId: string
  readonly clientSecret: string
  /** Scopes of the app's own tokens, space-separated; needed for `me` and `versions` only. */
  readonly appScope?: string
  /** The origin by which the platform names itself, where that is not the URL it is reached at. */
  readonly issuer?: string
}

/** An app's backend at the platform. Every call throws AppPlatformError, or the reason of its signal. */
export type PlatformClient = {
  /** The endpoints one by one, with tokens of the caller's own. */
  readonly endpoints: Endpoints
  /** The app's own token: held, renewed before it expires, asked for once however many wait for it. */
  appToken(options?: CallOptions): Promise<AppToken>
  me(options?: CallOptions): Promise<AppIdentity>
  readonly versions: {
    list(query?: VersionQuery, options?: CallOptions): Promise<VersionPage>
    /** Versions of all pages, newest first, page by page. */
    all(query?: Pick<VersionQuery, 'status'>, options?: CallOptions): AsyncGenerator<Version, void>
    /** Under an idempotency key of its own, unless one is given, so that it is safe to repeat. */
    create(upload: VersionUpload, options?: UploadOptions): Promise<Version>
    /** Under an idempotency key, as `create`. */
    rollBack(rollback: RollbackRequest, options?: RepeatableOptions): Promise<Rollback>
  }
  /** Where to send the browser; keep what comes with it until the browser is back. */
  startAuthorization(options: AuthorizationOptions): Promise<StartedAuthorization>
  /** Checks what the browser brought back and exchanges the code. `onTokens` stores the tokens, now and ever after. */
  finishAuthorization(
    callback: string | URL | URLSearchParams,
    started: Omit<StartedAuthorization, 'url'>,
    onTokens: OnTokens,
  ): Promise<UserSession>
  /** A user whose tokens were stored before. */
  user(tokens: UserTokenSet, onTokens: OnTokens): UserSession
  /** Ends an app token, or the whole grant that any other token belongs to. */
  revoke(token: string, options?: CallOptions): Promise<void>
}

/**
 * Secrets and tokens are held where nothing that prints or serialises the client finds them.
 * @throws AppPlatformError insecure_url; TypeError for a URL that is no origin
 */
export const createPlatformClient = (options: PlatformClientOptions): PlatformClient => {
  const { clientId, clientSecret, appScope } = options
  const issuer = new URL(options.issuer ?? options.url).origin
  const endpoints = createEndpoints(createTransport(options))
  const appTokens = createAppTokens(async () => {
    if (appScope !== undefined) return await endpoints.issueAppToken({ clientId, clientSecret, scope: appScope })
    throw new AppPlatformError('app_scope_missing', 'The client was made without an appScope to ask tokens for.')
  })
  const revoke = async (token: string, call?: CallOptions): Promise<void> =>
    void (await endpoints.revoke({ clientId, clientSecret, token }, call))

  const user = (tokens: UserTokenSet, onTokens: OnTokens): UserSession => {
    const refresh = async (refreshToken: string, idempotencyKey: string) =>
      await endpoints.issueUserTokens(
        { grantType: 'refresh_token', clientId, clientSecret, refreshToken },
        { idempotencyKey },
      )
    return createUserSession(endpoints, createUserTokens(tokens, refresh, onTokens), revoke)
  }

  return {
    endpoints,
    appToken: async ({ signal } = {}) => await orAborted(appTokens.get(), signal),
    me: async (call = {}) =>
      await withToken(appTokens, async (bearer) => await endpoints.identifyApp({ ...call, bearer }), call.signal),
    versions: versionsOf(endpoints, appTokens),
    startAuthorization: async (asked) => await startAuthorization(issuer, clientId, asked),
    finishAuthorization: async (callback, { state, codeVerifier, redirectUri }, onTokens) => {
      const code = readCallback(callback, { state, issuer })
      const body = { grantType: 'authorization_code', clientId, clientSecret, code, redirectUri, codeVerifier }
      const askedAt = Date.now()
      const answer = await endpoints.issueUserTokens(body, { idempotencyKey: crypto.randomUUID() })
      const tokens = tokenSetOf(answer, askedAt)
      await onTokens(tokens)
      return user(tokens, onTokens)
    },
    user,
    revoke,
  }
}

const versionsOf = (endpoints: Endpoints, tokens: TokenSource<AppToken>): PlatformClient['versions'] => {
  const list = async (query: VersionQuery = {}, call: CallOptions = {}) =>
    await withToken(tokens, async (bearer) => await endpoints.listVersions(query, { ...call, bearer }), call.signal)
  return {
    list,
    all: (query, call) =>
      everyItem(
        async (cursor) => await list({ ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) }, call),
      ),
    create: async (upload, call = {}) => {
      const repeatable = { idempotencyKey: crypto.randomUUID(), ...call }
      return await withToken(
        tokens,
        async (bearer) => await endpoints.createVersion(upload, { ...repeatable, bearer }),
        call.signal,
      )
    },
    rollBack: async (rollback, call = {}) => {
      const repeatable = { idempotencyKey: crypto.randomUUID(), ...call }
      return await withToken(
        tokens,
        async (bearer) => await endpoints.rollBackVersion(rollback, { ...repeatable, bearer }),
        call.signal,
      )
    },
  }
}
