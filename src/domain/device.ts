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

/** The first that fits names the browser: most call themselves Chrome and Safari as well. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera|OPiOS)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:\b|Headless)(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

/** The first that fits again: Android says Linux too, and phones say Mac OS X. */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\b(?:Macintosh|Mac OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** As much as is read; what matters stands at the front, and the header is whatever a caller sent. */
const readCharacters = 512

/**
 * What a person would call the sender of this User-Agent, such as "Firefox on Linux"; null when it is none we know.
 * Made of our own words only, so nothing that a caller sent is kept. A hint to recognise a session by, never a proof.
 */
export const browserLabel = (userAgent: string | null): string | null => {
  const text = (userAgent ?? '').slice(0, readCharacters)
  const browser = firstFit(browsers, text)
  const system = firstFit(systems, text)
  if (browser === null || system === null) return browser ?? system
  return `${browser} on ${system}`
}

const firstFit = (names: readonly (readonly [RegExp, string])[], text: string): string | null =>
  names.find(([pattern]) => pattern.test(text))?.[1] ?? null
