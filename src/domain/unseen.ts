// Characters that nobody sees, and which of them writing needs: joiners of Persian and Hindi, variants of Japanese names, pictures.

import { lazily } from './remembered.ts'

/** They change nothing that one sees of a text in one script: direction marks, and where a word may be hyphenated. */
export const withoutMeaning = /[\u00ad\u061c\u200e\u200f]/gu

/** Drawn as nothing or as a space, or unknown. Some formats of Arabic are drawn, and Unicode reserves room for pictures. */
const unseenCharacter =
  '[[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]--[ \\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\p{Extended_Pictographic}]]'
export const unseen = lazily(() => new RegExp(unseenCharacter, 'gv'))
const picture = '\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?'
/** Another drawing of the letter before it: of a Han character, as in names of Japan, of a Mongolian letter, or of a picture. */
const variant =
  '\\p{scx=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]|\\p{scx=Mongolian}[\\u180b-\\u180f]|\\p{Extended_Pictographic}\\ufe0e'
/** Compiled at its first use, as the other expressions below that take milliseconds. */
const pictureOr = (characters: string) =>
  new RegExp(
    `(${picture}(?:\\u200d${picture})+|\\p{Extended_Pictographic}\\ufe0f|\\p{RGI_Emoji})|${variant}|${characters}+`,
    'gv',
  )
const pictureOrUnseen = lazily(() => pictureOr(unseenCharacter))
/** Without line ends and tabs, of which files and indented JSON have many. */
const pictureOrUnseenInLine = lazily(() => pictureOr(`[${unseenCharacter}--[\\n\\t]]`))

type Unseen = {
  /** A picture, or characters that nobody sees. */
  readonly found: string
  /** The same as writing needs it; null if it does not belong there. */
  readonly needed: string | null
}

/** Replaces pictures, which consist of several characters, and what nobody sees: with line ends and tabs, or only within lines. */
export const replaceUnseen = (text: string, where: 'anywhere' | 'in lines', by: (unseen: Unseen) => string): string =>
  text.replaceAll(
    where === 'anywhere' ? pictureOrUnseen() : pictureOrUnseenInLine(),
    (found, pictured: string | undefined, offset: number) => {
      if (pictured !== undefined) return by({ found, needed: drawn(found) })
      const end = offset + found.length
      const [before, after] = [text.slice(Math.max(0, offset - 2), offset), text.slice(end, end + 2)]
      return by({ found, needed: needed(found, before, after) })
    },
  )

/**
 * A picture with the selectors that Unicode recommends, which some keyboards leave out; null for several that no font joins to
 * one.
 */
const drawn = (found: string): string | null => {
  if (wholePicture().test(found)) return found
  const qualified = found.split('\u200d').map((part) => {
    const bare = part.replace('\ufe0f', '')
    return /^\p{Emoji_Presentation}|\p{Emoji_Modifier}$/u.test(bare) ? bare : `${bare}\ufe0f`
  })
  if (qualified.length === 1) return found.replace('\ufe0f', '') // it is drawn as a picture without it
  const whole = qualified.join('\u200d')
  return wholePicture().test(whole) ? whole : null
}

const wholePicture = lazily(() => /^\p{RGI_Emoji}$/v)

/** What writing needs of some characters that nobody sees, by what comes before and after them; null if they do not belong there. */
const needed = (found: string, before: string, after: string): string | null => {
  if (isVariant().test(found)) return found
  // It keeps two points of a Hebrew letter in their order, as in the usual spelling of Jerusalem.
  if (found === '\u034f' && isHebrewPoint.test(lastOf(before)) && isHebrewPoint.test(firstOf(after))) return found
  const besideSpaceless = spaceless.test(lastOf(before)) || spaceless.test(firstOf(after))
  const rest = besideSpaceless ? found.replaceAll('\u200b', '') : found
  if (!/^[\u200c\u200d]*$/.test(rest)) return null
  if (rest === '') return ''
  const joins =
    virama.test(before) || joiningScripts().some((letter) => letter.test(lastOf(before)) && letter.test(firstOf(after)))
  if (joins) return rest.slice(0, 1)
  return joiningScripts().some((letter) => letter.test(lastOf(before)) || letter.test(firstOf(after))) ? '' : null
}

const isHebrewPoint = /^[\p{M}&&\p{scx=Hebrew}]$/v
const isVariant = lazily(() => new RegExp(`^(?:${variant})$`, 'v'))
const lastOf = (text: string): string => Array.from(text).at(-1) ?? ''
const firstOf = (text: string): string => Array.from(text)[0] ?? ''

/** Scripts in which a joiner or non-joiner (U+200D, U+200C) between two letters or marks changes how they are drawn. */
const joiningScripts = lazily(() =>
  (
    'Arabic Syriac Mandaic Nko Mongolian Adlam Hanifi_Rohingya ' +
    'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala ' +
    'Khmer Myanmar Tibetan Balinese Javanese Sundanese Chakma Meetei_Mayek Newa Grantha'
  )
    .split(' ')
    .map((script) => new RegExp(`^[[\\p{L}\\p{M}]&&\\p{scx=${script}}]$`, 'v')),
)

/** The signs of these scripts that join consonants. After one, a joiner also stands at the end of a word, as in Malayalam. */
const virama = new RegExp(
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca' +
    '\\u0f84\\u1039\\u103a\\u17d2\\u1b44\\u1baa\\u1bab\\ua9c0\\uaaf6\\uabed]$',
)

/** Scripts that mark the end of a word by a space without width (U+200B), which the keyboards of Khmer type. Names need none. */
const spaceless = /^[\p{scx=Khmer}\p{scx=Thai}\p{scx=Lao}\p{scx=Myanmar}]$/v
