import { crc32 } from 'node:zlib'
import { base62OfNumber } from '../../src/domain/base62.ts'
import { type RowKey, rowKey, rowKeyLength } from '../../src/domain/identifier.ts'
import { isTimeKeyed, secretDigits, type SecretKind, secretPrefixes } from '../../src/domain/secret.ts'
import { digitsOfTimeKey } from '../../src/domain/time-key.ts'
import { createRandom } from '../../src/runtime/random.ts'

/** Something that exists, or something that looks the same and does not exist. */
export type Which = 'known' | 'unknown'
export type Either<T = string> = Readonly<Record<Which, T>>

const random = createRandom()
export const freshKey = (): RowKey => rowKey(random.uuid(Date.now()))

/** A node ID that no test server has. */
const node = 31

/** The 22 digits of a key of that time that no row has, in the form of such a secret. */
export const freshDigits = (kind: SecretKind, at = Date.now()): string => {
  const anew = createRandom({ node }) // a generator never goes back in time
  return isTimeKeyed(kind) ? digitsOfTimeKey(anew.timeKey(at)) : rowKey(anew.uuid(at))
}

/** A well-formed secret with these 22 digits as its key. */
export const secretUnder = (kind: SecretKind, keyDigits: string, drawn = random.digits(secretDigits)): string => {
  const text = secretPrefixes[kind] + keyDigits + drawn
  return text + base62OfNumber(crc32(text), 6)
}

/** The 22 digits of the key in a secret. */
export const keyDigitsOf = (kind: SecretKind, secret: string): string =>
  secret.slice(secretPrefixes[kind].length, secretPrefixes[kind].length + rowKeyLength)

/** Two wrong secrets, with the key of this one and with an unknown key. Both are well-formed, so that they reach the store. */
export const forged = (kind: SecretKind, secret: string): Either => ({
  known: secretUnder(kind, keyDigitsOf(kind, secret)),
  unknown: secretUnder(kind, freshDigits(kind)),
})
