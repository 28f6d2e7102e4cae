import type { RowKey } from './identifier.ts'
import { readSignedKey, signedKey } from './sealed-text.ts'

/** How long a browser is known after a sign-in. */
export const deviceLifetimeSeconds = 365 * 24 * 3_600
/** After this many wrong passwords for its account, a browser is no longer known. */
export const mostDeviceFailures = 5
/** The most known browsers of a user; a new one replaces the oldest. */
export const mostDevices = 20

/** The cookie of a known browser. The first word separates it from everything else that the key signs. */
export const deviceCookie = (serverKey: Uint8Array, key: RowKey): string => signedKey(serverKey, key, ['device', key])

/** The key in a genuine cookie, else null. The store decides whether the browser is still known. */
export const readDeviceCookie = (serverKey: Uint8Array, text: string): RowKey | null =>
  readSignedKey(text, (key) => deviceCookie(serverKey, key))

/** The first match names the browser, since most also contain Chrome and Safari. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera|OPiOS)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:\b|Headless)(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

/** The first match again: Android also contains Linux, and iPhones Mac OS X. */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\b(?:Macintosh|Mac OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Only the beginning is read: the header can have any length, and the names come first. */
const readCharacters = 512

/**
 * A name for the sender of this User-Agent, such as "Firefox on Linux"; null when it is unknown. It consists of our own
 * words only, so nothing that a caller sent is stored. It helps to recognise a session and proves nothing.
 */
export const browserLabel = (userAgent: string | null): string | null => {
  const text = (userAgent ?? '').slice(0, readCharacters)
  const browser = firstMatch(browsers, text)
  const system = firstMatch(systems, text)
  if (browser === null || system === null) return browser ?? system
  return `${browser} on ${system}`
}

const firstMatch = (names: readonly (readonly [RegExp, string])[], text: string): string | null =>
  names.find(([pattern]) => pattern.test(text))?.[1] ?? null
