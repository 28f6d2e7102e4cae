import type { Grant, TokenPair } from '../../../db/database.ts'
import { rowKey, type RowKey } from '../../domain/identifier.ts'
import { deriveSecretDigits, hashSecret, mintSecret, secretDigits, type SecretHash } from '../../domain/secret.ts'
import type { Platform } from '../platform.ts'

/** An access token and its refresh token, minted together. They share one row and its key. */
export type MintedPair = {
  readonly key: RowKey
  readonly accessToken: string
  readonly accessHash: SecretHash
  readonly refreshToken: string
  readonly refreshHash: SecretHash
}

const pairFrom = (key: RowKey, accessDigits: string, refreshDigits: string): MintedPair => {
  const accessToken = mintSecret({ kind: 'userAccessToken', key, digits: accessDigits })
  const refreshToken = mintSecret({ kind: 'refreshToken', key, digits: refreshDigits })
  return {
    key,
    accessToken,
    accessHash: hashSecret(accessToken),
    refreshToken,
    refreshHash: hashSecret(refreshToken),
  }
}

/** A random pair. */
export const mintPair = (platform: Platform, now: number): MintedPair =>
  pairFrom(
    rowKey(platform.random.uuid(now)),
    platform.random.digits(secretDigits),
    platform.random.digits(secretDigits),
  )

/** The pair that a retry with the same presented secret gets again while the salt is kept (contract section 3). */
export const derivePair = (key: RowKey, presentedSecret: string, salt: Uint8Array): MintedPair =>
  pairFrom(
    key,
    deriveSecretDigits(presentedSecret, salt, 'access'),
    deriveSecretDigits(presentedSecret, salt, 'refresh'),
  )

/** The answer to an exchange or refresh. */
export type IssuedTokens = {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly refreshToken: string
  readonly refreshTokenExpiresInSeconds: number
  readonly scope: string
  readonly grantId: string
  readonly appId: string
}

/** The answer with this pair: the tokens, and what is left of their lifetimes at `now`. */
export const issuedTokens = (pair: MintedPair, row: TokenPair, grant: Grant, now: number): IssuedTokens => ({
  accessToken: pair.accessToken,
  expiresInSeconds: wholeSecondsUntil(row.accessExpiresAt, now),
  refreshToken: pair.refreshToken,
  refreshTokenExpiresInSeconds: wholeSecondsUntil(row.refreshExpiresAt, now),
  scope: row.scopes,
  grantId: grant.id,
  appId: grant.appId,
})

const wholeSecondsUntil = (moment: number, now: number): number => Math.max(0, Math.floor((moment - now) / 1000))
