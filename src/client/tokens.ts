import { AppPlatformError } from './app-platform-error.ts'
import { base64Of } from './base64.ts'
import type { AppTokenAnswer, TokenAnswer } from './contract-types.ts'
import { orAborted } from './retry.ts'
import type { CallOptions } from './transport.ts'

/** Where the tokens of an app or of a user come from. */
export type TokenSource<Token extends { readonly accessToken: string }> = {
  /** A token that will not expire at once. @throws what the request for one throws */
  get(): Promise<Token>
  /** A token other than this one, which the server refused. @throws what the request for one throws */
  after(refused: Token): Promise<Token>
}

/** Makes a call with a token, and once more with another one if the server refuses the first. */
export const withToken = async <Token extends { readonly accessToken: string }, Options extends CallOptions, T>(
  tokens: TokenSource<Token>,
  options: Options,
  call: (options: Options & { readonly bearer: string }) => Promise<T>,
): Promise<T> => {
  const used = await orAborted(tokens.get(), options.signal)
  try {
    return await call({ ...options, bearer: used.accessToken })
  } catch (error) {
    if (!(error instanceof AppPlatformError) || error.code !== 'invalid_token') throw error
    const { accessToken } = await orAborted(tokens.after(used), options.signal)
    return await call({ ...options, bearer: accessToken })
  }
}

/** When to renew a token: a minute before it expires, or a tenth of its life before if it lives for minutes only. */
const renewalTime = (issuedAt: number, expiresAt: number): number =>
  expiresAt - Math.min(60_000, (expiresAt - issuedAt) / 10)

/** An app token as the client holds it. */
export type AppToken = Pick<AppTokenAnswer, 'accessToken' | 'scope' | 'environment'> & { readonly expiresAt: Date }

type Held = { readonly token: AppToken; readonly renewAt: number }

/**
 * Holds one app token and renews it before it expires. Callers that ask during a renewal wait for its result. If the
 * renewal fails, the old token is used until it expires.
 */
export const createAppTokens = (
  issue: () => Promise<AppTokenAnswer>,
  now: () => number = () => Date.now(),
): TokenSource<AppToken> => {
  let held: Held | null = null
  let coming: Promise<AppToken> | null = null

  const renew = async (): Promise<AppToken> => {
    const askedAt = now() // the token's life began before the answer arrived
    try {
      held = heldFrom(await issue(), askedAt)
      return held.token
    } catch (error) {
      if (held !== null && now() < held.token.expiresAt.getTime()) return held.token
      throw error
    } finally {
      coming = null
    }
  }
  const get = async (): Promise<AppToken> => {
    if (held !== null && now() < held.renewAt) return held.token
    coming ??= renew()
    return await coming
  }
  return {
    get,
    after: async (refused) => {
      if (held?.token.accessToken === refused.accessToken) held = null
      return await get()
    },
  }
}

const heldFrom = ({ accessToken, scope, environment, expiresIn }: AppTokenAnswer, askedAt: number): Held => {
  const expiresAt = askedAt + expiresIn * 1000
  const token = { accessToken, scope, environment, expiresAt: new Date(expiresAt) }
  return { token, renewAt: renewalTime(askedAt, expiresAt) }
}

/** The tokens of one grant as an app keeps them. Every field is text, so that it can be stored as JSON. */
export type UserTokenSet = {
  readonly grantId: string
  readonly scope: string
  readonly issuedAt: string
  readonly accessToken: string
  readonly accessTokenExpiresAt: string
  readonly refreshToken: string
  readonly refreshTokenExpiresAt: string
}

/** Stores the tokens. It is called, and waited for, before they are used for the first time. */
export type OnTokens = (tokens: UserTokenSet) => void | Promise<void>

/** Getting a token may refresh the grant and store the new tokens. */
export type UserTokens = TokenSource<UserTokenSet> & {
  /** The tokens that were stored last. */
  current(): UserTokenSet
}

type Refresh = (refreshToken: string, idempotencyKey: string) => Promise<TokenAnswer>

/** The tokens of an answer whose request was sent at that moment (epoch milliseconds). */
export const tokenSetOf = (answer: TokenAnswer, askedAt: number): UserTokenSet => ({
  grantId: answer.grantId,
  scope: answer.scope,
  issuedAt: new Date(askedAt).toISOString(),
  accessToken: answer.accessToken,
  accessTokenExpiresAt: new Date(askedAt + answer.expiresIn * 1000).toISOString(),
  refreshToken: answer.refreshToken,
  refreshTokenExpiresAt: new Date(askedAt + answer.refreshTokenExpiresIn * 1000).toISOString(),
})

/**
 * Holds the tokens of one grant. A refresh token is single use and its reuse ends the grant. So all who hold it repeat one refresh, under
 * a key that is made of the token: another object, process or machine gets the same tokens, and so does a repeat after a lost answer.
 * New tokens are stored before they are returned; if storing fails, they are kept in memory and stored at the next call. If the refresh
 * fails for now, the old token is used until it expires. No caller's abort stops a refresh.
 */
export const createUserTokens = (
  first: UserTokenSet,
  refresh: Refresh,
  onTokens: OnTokens,
  now: () => number = () => Date.now(),
): UserTokens => {
  let current = first
  let unstored: UserTokenSet | null = null
  let coming: Promise<UserTokenSet> | null = null

  const ask = async (): Promise<UserTokenSet> => {
    const askedAt = now()
    return tokenSetOf(await refresh(current.refreshToken, await keyOf(current.refreshToken)), askedAt)
  }
  const renew = async (): Promise<UserTokenSet> => {
    try {
      unstored ??= await ask()
      await onTokens(unstored)
      current = unstored
      unstored = null
      return current
    } finally {
      coming = null
    }
  }
  const renewed = async (): Promise<UserTokenSet> => {
    coming ??= renew()
    return await coming
  }
  const renewedInTime = async (): Promise<UserTokenSet> => {
    try {
      return await renewed()
    } catch (error) {
      const isAlive = unstored === null && now() < Date.parse(current.accessTokenExpiresAt)
      if (isAlive && isPassing(error)) return current
      throw error
    }
  }
  return {
    current: () => current,
    get: async () => (unstored === null && now() < renewalOf(current) ? current : await renewedInTime()),
    after: async (refused) => (current.accessToken === refused.accessToken ? await renewed() : current),
  }
}

/** The same for all who refresh with this token. It tells nothing of the token, and is of no other use. */
const keyOf = async (refreshToken: string): Promise<string> => {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`refresh ${refreshToken}`))
  return base64Of(new Uint8Array(hash))
}

/** Whether a later try may succeed. */
const isPassing = (error: unknown): boolean =>
  error instanceof AppPlatformError &&
  (error.status === null || error.status >= 500 || error.status === 429 || error.status === 409)

const renewalOf = ({ issuedAt, accessTokenExpiresAt }: UserTokenSet): number =>
  renewalTime(Date.parse(issuedAt), Date.parse(accessTokenExpiresAt))
