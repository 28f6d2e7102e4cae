/** No lone surrogates and no NUL: text that every layer below reads as the same text. */
export const isWellFormedText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/**
 * Text to be read by somebody who decides: characters that show as nothing or turn the reading direction are written as
 * escapes of JSON, so that what is read is what is there. Plain spaces and line ends stay.
 */
export const visibleText = (text: string): string => text.replaceAll(unseen, escaped)

/** A value as JSON that is still the same JSON. */
export const visibleJson = (value: unknown): string => visibleText(JSON.stringify(value, null, 2) ?? '')

/**
 * Controls, formats, spaces of every kind, and what fonts leave out or draw as nothing. Plain spaces are left out here and not
 * afterwards: indented JSON is mostly spaces, and a call for each takes seconds.
 */
const unseen = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \n]]/gv

/** Every UTF-16 code unit as JSON escapes it. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Whether a number, as JSON writes it, comes back with the digits that were sent: an integer beyond 2^53 need not, since a
 * double has not room for all of them (RFC 8259 section 6). What has a point or an exponent is meant as a double.
 */
export const isKeptInteger = (literal: string): boolean =>
  !longInteger.test(literal) || String(Number(literal)) === literal

/** 2^53 has 16 digits. */
const longInteger = /^-?\d{16,}$/

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `4.2 MiB`; whole bytes below a KiB. */
export const bytesInWords = (bytes: number): string => {
  if (bytes === 1) return '1 byte'
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${byteUnits[power] ?? ''}`
}
