import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength } from './identifier.ts'
import { sameHash } from './secret.ts'

/** What a text is sealed for: only the same place and the same browser's secret open it again. */
type SealPurpose = { readonly server: Uint8Array; readonly browser: string; readonly place: string }

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16] as const
export const sealNonceBytes = nonceBytes

/** The first word separates the key from everything else that the key of the server makes. */
const keyOf = ({ server, browser, place }: SealPurpose): Buffer =>
  createHmac('sha256', server)
    .update(JSON.stringify(['sealed-text', browser, place]))
    .digest()

/** The bytes, readable only by this server and for this purpose. The nonce must never be used twice: take it at random. */
export const sealBytes = (purpose: SealPurpose, bytes: Uint8Array, nonce: Uint8Array): string => {
  const cipher = createCipheriv(algorithm, keyOf(purpose), nonce)
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** What was sealed for this purpose; null for anything else. */
export const openBytes = (purpose: SealPurpose, sealed: string): Buffer | null => {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv(algorithm, keyOf(purpose), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return null // altered, or sealed for something else
  }
}

/** The key of a row and a MAC over these facts, which only this server can compute. JSON separates the facts. */
export const signedKey = (serverKey: Uint8Array, key: RowKey, facts: readonly string[]): string =>
  `${key}.${createHmac('sha256', serverKey).update(JSON.stringify(facts)).digest('base64url')}`

/** The key in a text that `sign` makes of it; null for every other text. */
export const readSignedKey = (text: string, sign: (key: RowKey) => string): RowKey | null => {
  const key = text.slice(0, rowKeyLength)
  return isRowKey(key) && sameHash(Buffer.from(text), Buffer.from(sign(key))) ? key : null
}
