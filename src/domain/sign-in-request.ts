import { createHmac } from 'node:crypto'
import { encodeBase62 } from './base62.ts'
import { type RowKey, uuidTimeOfKey } from './identifier.ts'
import { mintSecret, parseSecret, sameHash, hashSecret, secretDigits } from './secret.ts'

/** How long the builder has to say who somebody is. */
export const signInRequestSeconds = 600

/** Keys may run ahead of the clock when many are made in one millisecond. */
const toleratedAheadMs = 1_000

/**
 * The request that a browser takes to the builder: `apsr_`, a key with the time, and digits that only this server can make.
 * Nothing is stored until the builder answers, so visitors cannot fill the database.
 */
export const signInRequest = (serverKey: Uint8Array, key: RowKey): string => {
  const mac = createHmac('sha256', serverKey).update('sign-in request ').update(key).digest()
  return mintSecret({ kind: 'signInRequest', key, digits: encodeBase62(mac, secretDigits) })
}

/** The key of a genuine request that has not expired; else null. `now` is epoch milliseconds. */
export const readSignInRequest = (serverKey: Uint8Array, text: string, now: number): RowKey | null => {
  const parsed = parseSecret('signInRequest', text)
  if (parsed === null || !sameHash(parsed.hash, hashSecret(signInRequest(serverKey, parsed.key)))) return null
  const age = now - uuidTimeOfKey(parsed.key)
  return age >= -toleratedAheadMs && age < signInRequestSeconds * 1000 ? parsed.key : null
}
