import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength } from './identifier.ts'

/** How long a browser is known after somebody has signed in with it. */
export const deviceLifetimeSeconds = 365 * 24 * 3_600
/** So many wrong passwords for its account, and a browser is known no longer. */
export const mostDeviceFailures = 5
/** So many browsers are known per user; the oldest make room. */
export const mostDevices = 20

/** What a known browser brings back: the key of its row, and a MAC that only this server can make. */
export const deviceCookie = (serverKey: Uint8Array, key: RowKey): string => `${key}.${macOf(serverKey, key)}`

/** The key in a genuine cookie; null for anything else, before the store is asked. Whether the browser is still known, the store tells. */
export const readDeviceCookie = (serverKey: Uint8Array, text: string): RowKey | null => {
  const key = text.slice(0, rowKeyLength)
  if (!isRowKey(key)) return null
  const expected = Buffer.from(deviceCookie(serverKey, key))
  const given = Buffer.from(text)
  return given.length === expected.length && timingSafeEqual(given, expected) ? key : null
}

/** The word in front keeps it apart from everything else that the key signs. */
const macOf = (serverKey: Uint8Array, key: RowKey): string =>
  createHmac('sha256', serverKey)
    .update(JSON.stringify(['device', key]))
    .digest('base64url')
