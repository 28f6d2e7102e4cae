import { rowKey, type RowKey } from '../../domain/identifier.ts'
import { deriveSecretDigits, hashSecret, mintSecret, secretDigits, type SecretHash } from '../../domain/secret.ts'
import type { Platform } from '../platform.ts'

/** An access token and the refresh token that follows it, minted together; they share one row and its key. */
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

/** A fresh pair from chance alone. */
export const mintPair = (platform: Platform, now: number): MintedPair =>
  pairFrom(
    rowKey(platform.random.uuid(now)),
    platform.random.digits(secretDigits),
    platform.random.digits(secretDigits),
  )

/** The pair that whoever holds the presented secret can be given again while the salt is kept (contract section 3). */
export const derivePair = (key: RowKey, presentedSecret: string, salt: Uint8Array): MintedPair =>
  pairFrom(
    key,
    deriveSecretDigits(presentedSecret, salt, 'access'),
    deriveSecretDigits(presentedSecret, salt, 'refresh'),
  )
