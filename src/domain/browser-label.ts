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
