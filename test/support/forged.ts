import { isRowKey, type RowKey, rowKey, rowKeyLength } from '../../src/domain/identifier.ts'
import { mintSecret, secretDigits, type SecretKind, secretPrefixes } from '../../src/domain/secret.ts'
import { createRandom } from '../../src/runtime/random.ts'

/** What is somebody's, and what is nobody's but looks the same. */
export type Which = 'known' | 'unknown'
export type Either<T = string> = Readonly<Record<Which, T>>

const random = createRandom()
export const freshKey = (): RowKey => rowKey(random.uuid(Date.now()))

/** Wrong secrets under the key of this one and under one that nobody has: well-formed, so that they get as far as the store. */
export const forged = (kind: SecretKind, secret: string): Either => {
  const start = secretPrefixes[kind].length
  const key = secret.slice(start, start + rowKeyLength)
  if (!isRowKey(key)) throw new Error('not a secret of this kind')
  const under = (row: RowKey) => mintSecret({ kind, key: row, digits: random.digits(secretDigits) })
  return { known: under(key), unknown: under(freshKey()) }
}
