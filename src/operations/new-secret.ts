/**
 * Makes what is random about a new secret, before the transaction that stores its row: the key of the row, the secret, which only the
 * answer shows, and its hash, which is all that is stored.
 */
import { type RowKey, rowKey } from '../domain/identifier.ts'
import { graceFault } from '../domain/credential.ts'
import {
  hashSecret,
  mintSecret,
  secretDigits,
  type SecretHash,
  type TimeKeyedKind,
  type UuidKeyedKind,
} from '../domain/secret.ts'
import type { TimeKey } from '../domain/time-key.ts'
import { refuseFault } from './decide.ts'
import type { Platform } from './platform.ts'

type New<Key> = { readonly key: Key; readonly secret: string; readonly hash: SecretHash }

/** `now` is epoch milliseconds. */
export const newSecret = ({ random }: Platform, kind: UuidKeyedKind, now: number): New<RowKey> => {
  const key = rowKey(random.uuid(now))
  const secret = mintSecret({ kind, key, digits: random.digits(secretDigits) })
  return { key, secret, hash: hashSecret(secret) }
}

/** The same for the kinds whose key is a number. */
export const newToken = ({ random }: Platform, kind: TimeKeyedKind, now: number): New<TimeKey> => {
  const key = random.timeKey(now)
  const secret = mintSecret({ kind, key, digits: random.digits(secretDigits) })
  return { key, secret, hash: hashSecret(secret) }
}

/**
 * When the secrets that a rotation replaces end, in epoch milliseconds.
 * @throws invalid_request if it is not a whole number of hours that a grace period may have
 */
export const endOfGrace = (graceHours: number, now: number): number => {
  refuseFault('graceHours', graceFault(graceHours))
  return now + graceHours * 3_600_000
}
