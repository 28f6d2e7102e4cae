import { AppPlatformError } from './app-platform-error.ts'
import type { TokenAnswer } from './contract-types.ts'
import type { TokenSource } from './with-token.ts'

/** The tokens of one grant as an app keeps them: plain text throughout, so that it can be stored as JSON. */
export type UserTokenSet = {
  readonly grantId: string
  readonly scope: string
  readonly issuedAt: string
  readonly accessToken: string
  readonly accessTokenExpiresAt: string
  readonly refreshToken: string
  readonly refreshTokenExpiresAt: string
}

/** Stores the tokens; called before they are used for the first time, and waited for. */
export type OnTokens = (tokens: UserTokenSet) => void | Promise<void>

/** To get a token may be to refresh, and then to store what came. */
export type UserTokens = TokenSource<UserTokenSet> & {
  /** The tokens that were stored last. */
  current(): UserTokenSet
}

type Refresh = (refreshToken: string, idempotencyKey: string) => Promise<TokenAnswer>

/** The tokens of an answer that was asked for at that moment. */
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
 * Holds the tokens of one grant. A refresh token is good once and its reuse ends the grant, so there is one refresh at a
 * time, whoever asks, and no caller's abort stops it half-way. New tokens are stored before anybody gets them; if that
 * fails they are held, and stored at the next call. A refresh whose outcome is not known is repeated under its own key,
 * which gives the very same tokens.
 */
export const createUserTokens = (
  first: UserTokenSet,
  refresh: Refresh,
  onTokens: OnTokens,
  now: () => number = () => Date.now(),
): UserTokens => {
  let current = first
  let unstored: UserTokenSet | null = null
  let openKey: string | null = null
  let coming: Promise<UserTokenSet> | null = null

  const ask = async (): Promise<UserTokenSet> => {
    openKey ??= crypto.randomUUID()
    const askedAt = now()
    try {
      const tokens = tokenSetOf(await refresh(current.refreshToken, openKey), askedAt)
      openKey = null
      return tokens
    } catch (error) {
      if (!isOpen(error)) openKey = null
      throw error
    }
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
  return {
    current: () => current,
    get: async () => (unstored === null && now() < renewAt(current) ? current : await renewed()),
    after: async (spent) => (current.accessToken === spent.accessToken ? await renewed() : current),
  }
}

/** Whether the server may have refreshed although no answer of it came, or none that can be read. */
const isOpen = (error: unknown): boolean =>
  !(error instanceof AppPlatformError) || error.mayBeDone || error.status === 409

/** A minute before its end; of a token that lives for minutes only, a tenth of its life before. */
const renewAt = ({ issuedAt, accessTokenExpiresAt }: UserTokenSet): number => {
  const expiresAt = Date.parse(accessTokenExpiresAt)
  return expiresAt - Math.min(60_000, (expiresAt - Date.parse(issuedAt)) / 10)
}
