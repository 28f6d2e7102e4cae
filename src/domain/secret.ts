import { hash as checksum } from 'bun'
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { base62OfNumber, isBase62, numberOfBase62 } from './base62.ts'
import { isRowKey, type RowKey, rowKeyLength } from './identifier.ts'
import { digitsOfTimeKey, type TimeKey, timeKeyInDigits } from './time-key.ts'

/**
 * Every kind of secret and the prefix that tells it (contract section 2), the most frequent ones first.
 */
export const secretPrefixes = {
  appToken: 'apat_',
  userAccessToken: 'apua_',
  refreshToken: 'apur_',
  session: 'apus_',
  authorizationCode: 'apco_',
  clientSecretDevelopment: 'aps_dev_',
  clientSecretProduction: 'aps_live_',
  embeddedSession: 'apes_',
  installSessionCode: 'apic_',
  serviceKey: 'apok_',
  signInRequest: 'apsr_',
  passwordLink: 'appl_',
  appInvitation: 'apmi_',
} as const
export type SecretKind = keyof typeof secretPrefixes

/** Secrets of webhooks are bytes in base64, with the prefix of Standard Webhooks. */
export const webhookSecretPrefix = 'whsec_'

/** Finds the prefix of any secret, anywhere in a text. */
export const secretPrefixPattern = new RegExp([...Object.values(secretPrefixes), webhookSecretPrefix].join('|'))

/** The kinds whose 22 digits of key are a number (`time-key.ts`); those of the others are a UUID. */
const timeKeyedKinds = ['appToken', 'userAccessToken', 'refreshToken', 'authorizationCode'] as const
export type TimeKeyedKind = (typeof timeKeyedKinds)[number]
export type UuidKeyedKind = Exclude<SecretKind, TimeKeyedKind>
export const isTimeKeyed = (kind: SecretKind): kind is TimeKeyedKind => timeKeyedKinds.some((each) => each === kind)

/** SHA-256 of a whole secret: all that is ever stored of one. The brand keeps plain text out of the store. */
export type SecretHash = Uint8Array & { readonly [secretHashBrand]: true }
declare const secretHashBrand: unique symbol

export type ParsedSecret = { readonly key: RowKey; readonly hash: SecretHash }
export type ParsedToken = { readonly key: TimeKey; readonly hash: SecretHash }

/** Random digits of a secret: more than 256 bits. */
export const secretDigits = 43
const checksumDigits = 6
const bodyLength = rowKeyLength + secretDigits + checksumDigits

/**
 * A secret for the row of the key: prefix, key, 43 random digits, and a CRC-32 over all that stands before.
 * @throws RangeError when the digits are not 43: a shorter secret must not exist
 */
export const mintSecret = (
  secret: { readonly digits: string } & (
    { readonly kind: TimeKeyedKind; readonly key: TimeKey } | { readonly kind: UuidKeyedKind; readonly key: RowKey }
  ),
): string => {
  if (secret.digits.length !== secretDigits) throw new RangeError('a secret is made of 43 random digits')
  const key = typeof secret.key === 'number' ? digitsOfTimeKey(secret.key) : secret.key
  const text = secretPrefixes[secret.kind] + key + secret.digits
  return text + base62OfNumber(checksum.crc32(text), checksumDigits)
}

/**
 * The secret in what somebody has copied from a mail: mail programs put space and line ends into a long link, and a dot, a bracket or `3D`
 * around it. A text without one stays as it is.
 */
export const secretIn = (kind: SecretKind, text: string): string =>
  new RegExp(`${secretPrefixes[kind]}[0-9A-Za-z]{${bodyLength}}`).exec(text.replaceAll(/=?\s/g, ''))?.[0] ?? text

/** The row's key and the hash to meet there; null, unhashed, for a wrong prefix, length, alphabet, checksum or key. */
export const parseSecret = (kind: UuidKeyedKind, text: string): ParsedSecret | null => {
  const key = keyDigitsOf(kind, text)
  return key !== null && isRowKey(key) ? { key, hash: hashSecret(text) } : null
}

/** The same for the kinds whose key is a number. */
export const parseToken = (kind: TimeKeyedKind, text: string): ParsedToken | null => {
  const digits = keyDigitsOf(kind, text)
  const key = digits === null ? null : timeKeyInDigits(digits)
  return key === null ? null : { key, hash: hashSecret(text) }
}

const keyDigitsOf = (kind: SecretKind, text: string): string | null => {
  const prefix = secretPrefixes[kind]
  if (text.length !== prefix.length + bodyLength || !text.startsWith(prefix)) return null
  if (!isBase62(text, prefix.length)) return null
  const checksumAt = text.length - checksumDigits
  if (numberOfBase62(text, checksumAt) !== checksum.crc32(text.slice(0, checksumAt))) return null
  return text.slice(prefix.length, prefix.length + rowKeyLength)
}

/** The kind that a text claims by its prefix; null when it claims none. */
export const secretKindOf = (text: string): SecretKind | null => {
  for (const kind of secretKinds) if (text.startsWith(secretPrefixes[kind])) return kind
  return null
}
export const secretKinds = Object.keys(secretPrefixes).filter((name): name is SecretKind =>
  Object.hasOwn(secretPrefixes, name),
)

/** SHA-256 of the whole text. The only maker of the brand. */
export const hashSecret = (text: string): SecretHash => hash('sha256', text, 'buffer') as Uint8Array as SecretHash

/** Compares in time that does not depend on where two hashes differ. */
export const sameHash = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/**
 * The digits that only the holder of the presented secret can derive again while the salt is kept: what a repeated
 * exchange or refresh is answered with (contract section 3). The key is the random part of the secret alone. HMAC replaces a key of
 * more than 64 bytes by its SHA-256, and that of the whole secret is stored beside the salt.
 */
export const deriveSecretDigits = (presented: string, salt: Uint8Array, label: 'access' | 'refresh'): string =>
  inDigits(createHmac('sha256', randomPartOf(presented)).update(salt).update(label).digest('base64url'))

/** Its 43 characters, without the two that are no digits: 253 of the 256 bits stay. Encoding in base62 costs a refresh 3 µs more. */
const inDigits = (base64url: string): string => base64url.replaceAll('-', 'A').replaceAll('_', 'B')

const randomPartOf = (secret: string): string => secret.slice(-secretDigits - checksumDigits, -checksumDigits)
