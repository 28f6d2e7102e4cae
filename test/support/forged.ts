import { crc32 } from 'node:zlib'
import { base62OfNumber } from '../../src/domain/base62.ts'
import { type RowKey, rowKey, rowKeyLength } from '../../src/domain/identifier.ts'
import { isTimeKeyed, secretDigits, type SecretKind, secretPrefixes } from '../../src/domain/secret.ts'
import { digitsOfTimeKey } from '../../src/domain/time-key.ts'
import { createRandom } from '../../src/runtime/random.ts'

/** What is somebody's, and what is nobody's but looks the same. */
export type Which = 'known' | 'unknown'
export type Either<T = string> = Readonly<Record<Which, T>>

const random = createRandom()
export const freshKey = (): RowKey => rowKey(random.uuid(Date.now()))

/** A node that no server of a test is. */
const node = 31

/** The 22 digits of a key of that moment which no row has, as secrets of this kind carry it. */
export const freshDigits = (kind: SecretKind, at = Date.now()): string => {
  const anew = createRandom({ node }) // a generator never goes back in time
  return isTimeKeyed(kind) ? digitsOfTimeKey(anew.timeKey(at)) : rowKey(anew.uuid(at))
}

/** A well-formed secret that carries these 22 digits. */
export const secretUnder = (kind: SecretKind, keyDigits: string, drawn = random.digits(secretDigits)): string => {
  const text = secretPrefixes[kind] + keyDigits + drawn
  return text + base62OfNumber(crc32(text), 6)
}

/** The 22 digits of its key that a secret carries. */
export const keyDigitsOf = (kind: SecretKind, secret: string): string =>
  secret.slice(secretPrefixes[kind].length, secretPrefixes[kind].length + rowKeyLength)

/** Wrong secrets under the key of this one and under one that nobody has: well-formed, so that they get as far as the store. */
export const forged = (kind: SecretKind, secret: string): Either => ({
  known: secretUnder(kind, keyDigitsOf(kind, secret)),
  unknown: secretUnder(kind, freshDigits(kind)),
})
