import type { Grant, TokenPair } from '../../../db/database.ts'
import type { Retry } from '../../domain/grant.ts'
import { deriveSecretDigits, hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import type { TimeKey } from '../../domain/time-key.ts'
import type { Platform, Trace } from '../platform.ts'

/** An access token and its refresh token, minted together. They share one row and its key. */
export type MintedPair = ReturnType<typeof pairFrom>

const pairFrom = (key: TimeKey, accessDigits: string, refreshDigits: string) => {
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
const mintPair = (platform: Platform, now: number): MintedPair =>
  pairFrom(platform.random.timeKey(now), platform.random.digits(secretDigits), platform.random.digits(secretDigits))

/** The pair that a retry with the same presented secret gets again while the salt is kept (contract section 3). */
export const derivePair = (key: TimeKey, presentedSecret: string, salt: Uint8Array): MintedPair =>
  pairFrom(
    key,
    deriveSecretDigits(presentedSecret, salt, 'access'),
    deriveSecretDigits(presentedSecret, salt, 'refresh'),
  )

/** What is issued if the request wins, made before the transaction. */
type NextPair = ReturnType<typeof prepareNext>

export const prepareNext = (platform: Platform, secret: string, retry: Retry | null, now: number) => {
  const accessExpiresAt = now + platform.lifetimes.accessToken * 1000
  const refreshExpiresAt = now + platform.lifetimes.refreshToken * 1000
  if (retry === null) return { accessExpiresAt, refreshExpiresAt, pair: mintPair(platform, now), kept: null }
  // What the grant keeps until the window closes, so that the client can ask again for a lost answer. No token is stored.
  const kept = { ...retry, salt: platform.random.bytes(32) }
  return { accessExpiresAt, refreshExpiresAt, pair: derivePair(platform.random.timeKey(now), secret, kept.salt), kept }
}

/** The row of the new pair. Nothing that is issued outlives its grant. */
export const pairRow = (
  { pair, accessExpiresAt, refreshExpiresAt }: NextPair,
  grant: Grant,
  scopes: string,
  endsAt: number,
  previousKey: TimeKey,
  { requestId, address }: Trace,
  now: number,
): TokenPair => ({
  key: pair.key,
  grantKey: grant.key,
  previousKey,
  accessHash: pair.accessHash,
  refreshHash: pair.refreshHash,
  scopes,
  createdAt: now,
  accessExpiresAt: Math.min(accessExpiresAt, endsAt),
  refreshExpiresAt: Math.min(refreshExpiresAt, endsAt),
  requestId,
  address,
})

/** What else changes in the grant when it moves on to the new pair. */
export const grantStep = ({ kept }: NextPair, row: TokenPair, now: number) => ({
  expiresAt: Math.max(row.accessExpiresAt, row.refreshExpiresAt),
  retryKey: kept === null ? null : row.previousKey,
  retrySalt: kept?.salt ?? null,
  retryFingerprint: kept?.fingerprint ?? null,
  retryUntil: kept === null ? null : now + kept.windowMs,
})

/** The answer to an exchange or refresh. */
export type IssuedTokens = ReturnType<typeof issuedTokens>

/** The answer with this pair: the tokens, and what is left of their lifetimes at `now`. */
export const issuedTokens = (pair: MintedPair, row: TokenPair, grant: Grant, now: number) => ({
  accessToken: pair.accessToken,
  expiresInSeconds: wholeSecondsUntil(row.accessExpiresAt, now),
  refreshToken: pair.refreshToken,
  refreshTokenExpiresInSeconds: wholeSecondsUntil(row.refreshExpiresAt, now),
  scope: row.scopes,
  grantId: grant.id,
  appId: grant.appId,
})

const wholeSecondsUntil = (moment: number, now: number): number => Math.max(0, Math.floor((moment - now) / 1000))
