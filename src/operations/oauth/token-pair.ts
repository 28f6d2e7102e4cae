import { rowKey, type RowKey } from '../../domain/identifier.ts'
import { deriveSecretRandom, hashSecret, mintSecret, type SecretHash } from '../../domain/secret.ts'
import type { Platform } from '../platform.ts'

/** An access token and the refresh token that follows it, minted together; they share one row and its key. */
export type MintedPair = {
  readonly key: RowKey
  readonly accessToken: string
  readonly accessHash: SecretHash
  readonly refreshToken: string
  readonly refreshHash: SecretHash
}

const pairFrom = (key: RowKey, accessRandom: Uint8Array, refreshRandom: Uint8Array): MintedPair => {
  const accessToken = mintSecret({ kind: 'userAccessToken', key, random: accessRandom })
  const refreshToken = mintSecret({ kind: 'refreshToken', key, random: refreshRandom })
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
  pairFrom(rowKey(platform.random.uuid(now)), platform.random.bytes(32), platform.random.bytes(32))

/** The pair that whoever holds the presented secret can be given again while the salt is kept (contract section 3). */
export const derivePair = (key: RowKey, presentedSecret: string, salt: Uint8Array): MintedPair =>
  pairFrom(
    key,
    deriveSecretRandom(presentedSecret, salt, 'access'),
    deriveSecretRandom(presentedSecret, salt, 'refresh'),
  )
