import { replaceUnseen, unseen, withoutMeaning } from './unseen.ts'

/** No lone surrogates and no NUL, so that every layer below reads the same text. */
export const isWellFormedText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** The text of a file in UTF-8, without the byte order mark with which some editors begin it; null for other bytes. */
export const textOfFile = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/**
 * Text for a person who decides something: invisible characters and direction marks are replaced by JSON escapes, so that
 * the text is what it seems to be. Plain spaces, line ends and what writing needs stay.
 */
export const visibleText = (text: string): string => visibleFileText(text).replaceAll('\t', escaped)

/** The same for the text of a file, whose tabs and line ends stay. */
export const visibleFileText = (text: string): string =>
  withoutTowers(
    replaceUnseen(text.replaceAll('\r\n', '\n'), 'in lines', ({ found, needed }) =>
      needed === null || (needed !== found && startsUnseen.test(found)) ? found.replaceAll(unseen(), escaped) : found,
    ),
  )

/** Not a picture. */
const startsUnseen = /^\p{Default_Ignorable_Code_Point}/u

/** The same for what one person writes to another: spaces of every kind are spaces, and marks without a meaning are left out. */
export const visibleProse = (text: string): string =>
  withoutTowers(
    replaceUnseen(
      text
        .replaceAll(withoutMeaning, '')
        .replaceAll(/\r\n?/g, '\n')
        .replaceAll(/\p{Zs}/gu, ' '),
      'in lines',
      ({ found, needed }) => needed ?? found.replaceAll(unseen(), escaped),
    ),
  )

/** Marks beyond those that any script has on one letter would cover the lines above and below. */
const withoutTowers = (text: string): string => text.replaceAll(/(?<=\p{M}{8})\p{M}+/gu, escaped)

/** A value as indented JSON with such escapes; it parses to the same value. */
export const visibleJson = (value: unknown): string => visibleText(JSON.stringify(value, null, 2) ?? '')

/** A JSON escape for every UTF-16 code unit. */
const escaped = (characters: string): string => {
  let escapes = ''
  for (let at = 0; at < characters.length; at += 1) {
    escapes += `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`
  }
  return escapes
}

/**
 * Whether a JSON number keeps its digits when it is parsed. An integer beyond 2^53 may not, since a double cannot hold all
 * of them (RFC 8259 section 6). A number with a point or an exponent is meant as a double.
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

/** Why a path names another place than it seems to; null if it does not. */
export const misleading = (path: string): string | null => {
  if (/^~[a-z0-9_-]*(?:\/|$)|(?:^|\/)\$[A-Z_{(]/.test(path))
    return 'has a ~ or a variable such as $HOME, which nothing replaces here: write the whole path.'
  // What stands for bytes that are no text.
  return path.includes('\uFFFD') ? 'is not UTF-8: rename that file or folder, for example with mv.' : null
}
