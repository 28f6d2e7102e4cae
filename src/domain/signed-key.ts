import { createHmac } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength } from './identifier.ts'
import { sameHash } from './secret.ts'

/** The key of a row and a MAC over these facts, which only this server can compute. JSON separates the facts. */
export const signedKey = (serverKey: Uint8Array, key: RowKey, facts: readonly string[]): string =>
  `${key}.${createHmac('sha256', serverKey).update(JSON.stringify(facts)).digest('base64url')}`

/** The key in a text that `sign` makes of it; null for every other text. */
export const readSignedKey = (text: string, sign: (key: RowKey) => string): RowKey | null => {
  const key = text.slice(0, rowKeyLength)
  return isRowKey(key) && sameHash(Buffer.from(text), Buffer.from(sign(key))) ? key : null
}
