import { decodeBase62, encodeBase62, isBase62 } from './base62.ts'
import type { Environment } from './environment.ts'

/** 22 base62 digits of a UUIDv7: how the store finds the row of a secret. Sorts by time. */
export type RowKey = string & { readonly [rowKeyBrand]: true }
declare const rowKeyBrand: unique symbol

export const rowKeyLength = 22

/** Prefixes of record IDs (contract section 2). */
export type RecordPrefix = 'app_' | 'crd_' | 'usr_' | 'grt_' | 'ver_' | 'ins_' | 'rbk_' | 'aud_' | 'evt_' | 'req_' | 'res_'

// The two functions below are the only makers of the brand.
export const rowKey = (uuid: Uint8Array): RowKey => encodeBase62(uuid, rowKeyLength) as RowKey
/** A key read back from the store or cut out of a secret; the caller knows it to be one. */
export const asRowKey = (text: string): RowKey => text as RowKey

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

/** The prefix and 32 hex digits of a UUIDv7. */
export const recordId = (prefix: RecordPrefix, uuid: Uint8Array): string => prefix + hex(uuid)

export const isRecordId = (prefix: RecordPrefix, text: string): boolean =>
  text.length === prefix.length + 32 && text.startsWith(prefix) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length))

/** The record ID of the row that a secret belongs to: one UUID, written two ways. */
export const recordIdOfKey = (prefix: RecordPrefix, key: RowKey | string): string =>
  recordId(prefix, decodeBase62(key, 16) ?? new Uint8Array(16))

/** The lowest key that a row minted at this moment can have (epoch milliseconds; UUIDv7 begins with 48 bits of time). */
export const keyOfUuidTime = (epochMs: number): RowKey => {
  const uuid = Buffer.alloc(16)
  uuid.writeUIntBE(Math.max(0, Math.floor(epochMs)), 0, 6)
  return rowKey(uuid)
}

/** When the row of a key was minted, in epoch milliseconds. */
export const uuidTimeOfKey = (key: RowKey | string): number =>
  Buffer.from(decodeBase62(key, 16) ?? new Uint8Array(16)).readUIntBE(0, 6)

const clientPrefixes = { development: 'apc_dev_', production: 'apc_live_' } as const satisfies Record<Environment, string>

/** The public ID of an app in one environment: a prefix and 22 random base62 digits (128 bits). */
export const clientId = (environment: Environment, random: Uint8Array): string =>
  clientPrefixes[environment] + encodeBase62(random, 22)

/** The environment that a client ID names; null when it is not a client ID. */
export const environmentOfClientId = (text: string): Environment | null => {
  if (isClientIdOf('development', text)) return 'development'
  return isClientIdOf('production', text) ? 'production' : null
}

const isClientIdOf = (environment: Environment, text: string): boolean => {
  const prefix = clientPrefixes[environment]
  return text.length === prefix.length + 22 && text.startsWith(prefix) && isBase62(text.slice(prefix.length))
}
