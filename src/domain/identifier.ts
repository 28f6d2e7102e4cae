import { decodeBase62, encodeBase62, isBase62 } from './base62.ts'
import type { Environment } from './app.ts'

/** 22 base62 digits of a UUIDv7: how the store finds the row of a secret. Sorts by time. */
export type RowKey = string & { readonly [rowKeyBrand]: true }
declare const rowKeyBrand: unique symbol

/** Base62 digits that 128 bits take. */
export const rowKeyLength = 22

/** Prefixes of record IDs (contract section 2). */
export type RecordPrefix =
  | 'app_'
  | 'crd_'
  | 'usr_'
  | 'grt_'
  | 'ver_'
  | 'ins_'
  | 'rbk_'
  | 'aud_'
  | 'evt_'
  | 'req_'
  | 'res_'
  | 'whk_'
  | 'whs_'
  | 'att_'
  | 'svk_'
  | 'fct_'
  | 'psk_'
  | 'rcc_'
  | 'lnk_'
  | 'eml_'
  | 'mem_'
  | 'inv_'
  | 'msg_'

/** The largest number of 128 bits; a greater text of the same length is no UUID. */
export const highestRowKey = encodeBase62(new Uint8Array(16).fill(0xff), rowKeyLength)

/** Whether the text can be the key of a row. */
export const isRowKey = (text: string): text is RowKey =>
  text.length === rowKeyLength && isBase62(text) && text <= highestRowKey

/** A key read back from the store. @throws TypeError when it is not one */
export const asRowKey = (text: string): RowKey => {
  if (!isRowKey(text)) throw new TypeError('not the key of a row')
  return text
}

/** The key of the row that has this UUID. */
export const rowKey = (uuid: Uint8Array): RowKey => asRowKey(encodeBase62(uuid, rowKeyLength))

/** The prefix and 32 hex digits of a UUIDv7. */
export const recordId = (prefix: RecordPrefix, uuid: Uint8Array): string => prefix + uuid.toHex()

/** The UUID of a record ID, as 16 bytes; null when the text is not one with this prefix. */
export const uuidOfRecordId = (prefix: RecordPrefix, id: string): Uint8Array | null =>
  id.startsWith(prefix) && /^[0-9a-f]{32}$/.test(id.slice(prefix.length))
    ? Uint8Array.fromHex(id.slice(prefix.length))
    : null

/** The ID of no app, in the place of one. */
export const noAppId = recordId('app_', new Uint8Array(16))

/**
 * The record ID of the row that a secret belongs to: one UUID, written two ways.
 * @throws TypeError when the text is not a key
 */
export const recordIdOfKey = (prefix: RecordPrefix, key: string): string => recordId(prefix, uuidOfKey(key))

/** The lowest key that a row minted at this moment can have: a UUIDv7 begins with 48 bits of epoch milliseconds. */
export const keyOfUuidTime = (epochMs: number): RowKey => {
  const uuid = Buffer.alloc(16)
  uuid.writeUIntBE(Math.min(Math.max(0, Math.floor(epochMs)), 2 ** 48 - 1), 0, 6)
  return rowKey(uuid)
}

/** The lowest record ID that a row minted at this moment can have. */
export const recordIdOfTime = (prefix: RecordPrefix, epochMs: number): string =>
  recordIdOfKey(prefix, keyOfUuidTime(epochMs))

/** When the row of a record ID was minted, in epoch milliseconds. */
export const uuidTimeOfRecordId = (id: string): number => Number.parseInt(id.slice(4, 16), 16)

/** When the row of a key was minted, in epoch milliseconds. @throws TypeError when the text is not a key */
export const uuidTimeOfKey = (key: string): number => Buffer.from(uuidOfKey(key)).readUIntBE(0, 6)

/** Keys may run ahead of the clock by this when many are made in one millisecond. */
export const toleratedAheadMs = 1_000

const uuidOfKey = (key: string): Uint8Array => {
  const uuid = key.length === rowKeyLength ? decodeBase62(key, 16) : null
  if (uuid === null) throw new TypeError('not the key of a row')
  return uuid
}

const clientPrefixes = {
  development: 'apc_dev_',
  production: 'apc_live_',
} as const satisfies Record<Environment, string>

/** The public ID of an app in one environment: a prefix and 22 random base62 digits (128 bits). */
export const clientId = (environment: Environment, random: Uint8Array): string =>
  clientPrefixes[environment] + encodeBase62(random, 22)

/** The environment that a client ID names; null when it is not a client ID. */
export const environmentOfClientId = (text: string): Environment | null => {
  if (isClientIdOf('development', text)) return 'development'
  return isClientIdOf('production', text) ? 'production' : null
}

/** The environment of a client ID that the platform has issued. */
export const environmentOfClient = (issued: string): Environment =>
  issued.startsWith(clientPrefixes.development) ? 'development' : 'production'

const isClientIdOf = (environment: Environment, text: string): boolean => {
  const prefix = clientPrefixes[environment]
  return text.length === prefix.length + 22 && text.startsWith(prefix) && isBase62(text.slice(prefix.length))
}

// Identifiers that other systems give, compared byte for byte. Only ASCII is taken: other texts can look alike, or become one text when
// they are stored.

const forms = {
  /** The builder's own ID of a record. It is a segment of paths, where one or two dots alone have a meaning of their own. */
  'external ID': /^(?!\.{1,2}$)[\x21-\x7e]{1,128}$/,
  /** A person at an identity provider (OpenID Connect Core section 2). It may have spaces, as names in a directory do. */
  subject: /^[\x20-\x7e]{1,255}$/,
  /** Names a try of a request. Several of them in one header would be separated by commas. */
  'idempotency key': /^[\x21-\x2b\x2d-\x7e](?:[\x20-\x2b\x2d-\x7e]{0,253}[\x21-\x2b\x2d-\x7e])?$/,
} as const

/** Whether a value of another system can be kept as such an identifier. */
export const isForeignId = (kind: keyof typeof forms, value: unknown): value is string =>
  typeof value === 'string' && forms[kind].test(value)
