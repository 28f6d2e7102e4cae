// Names of people, apps, websites, keys and the like, as they enter. Each is brought into one spelling before it is compared or
// stored. A name that a person types here is refused if it cannot be one. The builder and the identity provider are the masters
// of theirs, so such a name is never refused: what cannot be kept is dropped.

import { lazily } from './remembered.ts'

/** Longest name, in UTF-16 code units. */
const maximumLength = 200
/** A longer text is not read to its end: no text of this length has a shorter spelling that is a name. */
const longestRead = 5 * maximumLength

/** A name in the spelling that is stored, and why it cannot be used, as a sentence; the fault is null when it can. */
export type TypedName = { readonly name: string; readonly fault: string | null }

/** A name that a person has typed. */
export const typedName = (text: string): TypedName => {
  if (!text.isWellFormed() || text.includes('\0')) return { name: '', fault: 'The name has broken characters.' }
  if (text.length > longestRead) return { name: '', fault: tooLong }
  if (towerOfMarks.test(text)) return { name: '', fault: 'The name has too many marks on one letter.' }
  const { name, dropped } = cleaned(text)
  return { name, fault: faultOf(name, dropped) }
}

/**
 * A name as another system states it: never refused. What is not left of it is dropped, an address in it is made harmless, because
 * mails have it, and one that is too long is cut. `fallback` stands for a name of which nothing is left.
 */
export const statedPersonName = (text: string, fallback: string): string => {
  const name = statedName(text, fallback)
  const harmless = withoutAddress(name)
  return harmless === name ? name : statedName(harmless, fallback)
}

/** The same for a website or store, which may well be called after its address. No mail has its name. */
export const statedName = (text: string, fallback: string): string => {
  const name = cut(cleaned(text.slice(0, longestRead).replaceAll(tooManyMarks, '$1')).name)
  return visibleCharacter.test(name) ? name : fallback
}

/** A part of names that somebody looks for, in the spelling that names have. */
export const soughtPart = (text: string): string => cleaned(text.slice(0, longestRead)).name

const tooLong = 'The name is longer than 200 characters.'

const faultOf = (name: string, dropped: string): string | null => {
  if (!visibleCharacter.test(name)) return 'The name is empty.'
  if (name.length > maximumLength) return tooLong
  // With line ends or a reversed part a name could imitate another text.
  if (/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(dropped)) return 'The name has control characters.'
  if (/[\p{Cn}\p{Co}]/u.test(dropped)) return 'The name has characters that not everybody can read.'
  // With such a character a name could look like another one.
  if (dropped !== '') return 'The name has invisible characters.'
  return addressIn(name).length > 0 ? 'The name has the address of a web page, which is not allowed.' : null
}

/** A visible character: not a space or control of any kind, and not one that fonts draw as nothing. */
const visibleCharacter = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** More marks on one letter than any script uses. They would cover the lines above and below the name. */
const towerOfMarks = /\p{M}{9}/u
const tooManyMarks = /(\p{M}{8})\p{M}+/gu

/** Whether a longer text would draw over other lines, or turn the direction of what follows. */
export const disturbs = (text: string): boolean => towerOfMarks.test(text) || turning.test(text)
const turning = /[\u202a-\u202e\u2066-\u2069]/u

/** They change nothing that one sees of a name in one script: direction marks, and where a word may be hyphenated. */
const withoutMeaning = /[\u00ad\u061c\u200e\u200f]/gu
/** What some programs put around a name that is copied from them. Elsewhere such characters could reverse a part of it. */
const isolated = /^[\u202a\u202b\u2066-\u2068](.*)[\u202c\u2069]$/su

/**
 * The one spelling of a name: composed letters (NFC), plain spaces between words, and of the characters that nobody sees those
 * that writing needs. `dropped` has the others.
 */
const cleaned = (text: string): Cleaned => {
  const once = cleanedOnce(text)
  if (once.name === text) return once
  // Without what was dropped, marks can stand in another order, and what a joiner stood beside can be elsewhere.
  const again = cleaned(once.name)
  return { name: again.name, dropped: once.dropped + again.dropped }
}

type Cleaned = { readonly name: string; readonly dropped: string }

const cleanedOnce = (text: string): Cleaned => {
  let dropped = ''
  const plain = text
    .replaceAll(withoutMeaning, '')
    .trim()
    .replace(isolated, '$1')
    .trim()
    .normalize('NFC')
    .replaceAll(/\p{Zs}/gu, ' ')
  const name = plain.replaceAll(pictureOrUnseen(), (found, pictured: string | undefined, offset: number) => {
    const end = offset + found.length
    const kept =
      pictured !== undefined
        ? drawn(found)
        : needed(found, plain.slice(Math.max(0, offset - 2), offset), plain.slice(end, end + 2))
    if (kept !== null) return kept
    dropped += (found.match(unseen()) ?? []).join('')
    return likeSpace.test(found) ? ' ' : found.replaceAll(unseen(), '')
  })
  return { name: name.replaceAll(/ +/g, ' ').trim().normalize('NFC'), dropped }
}

/** Drawn as nothing or as a space, or unknown. Some formats of Arabic are drawn, and Unicode reserves room for pictures. */
const unseenCharacter =
  '[[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]--[ \\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\p{Extended_Pictographic}]]'
const unseen = lazily(() => new RegExp(unseenCharacter, 'gv'))
/** Line ends, tabs, and letters that are drawn as a space. */
const likeSpace = /[\t-\r\x85\p{Zl}\p{Zp}\u2800\u3164]/u

const picture = '\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?'
/** Another drawing of the letter before it: of a Han character, as in names of Japan, of a Mongolian letter, or of a picture. */
const variant =
  '\\p{scx=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]|\\p{scx=Mongolian}[\\u180b-\\u180f]|\\p{Extended_Pictographic}\\ufe0e'
/** Compiled at its first use, as the other expressions below that take milliseconds. */
const pictureOrUnseen = lazily(
  () =>
    new RegExp(
      `(${picture}(?:\\u200d${picture})+|\\p{Extended_Pictographic}\\ufe0f|\\p{RGI_Emoji})|${variant}|${unseenCharacter}+`,
      'gv',
    ),
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

/** Cut between two characters as people count them. */
const cut = (name: string): string => {
  if (name.length <= maximumLength) return name
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en').segment(name.slice(0, 2 * maximumLength))) {
    if (kept.length + segment.length > maximumLength) break
    kept += segment
  }
  return kept.trim()
}

/** Characters that look like those of an address, beside those that have it as their plain form (NFKD). */
const lookAlikes = new Map(
  Object.entries({
    ':': '\u02d0\u02f8\u0589\u05c3\u0703\u0704\u16ec\u205a\u2236\ua4fd\ua789\ufe30',
    '/': '\u2041\u2044\u2215\u2571\u27cb\u29f8\u3033\u31d3',
    '.': '\u06d4\u0701\u0702\u3002\ua4f8\ua60e\uff61',
    w: '\u026f\u0461\u051d\u1d21\ua761',
  }).flatMap(([plain, others]) => Array.from(others, (other) => [other, plain] as const)),
)
const plainForm = (character: string): string =>
  lookAlikes.get(character) ?? character.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** Where a name has `://` or `www.`, also in look-alike characters: what mail programs turn into a link. */
const addressIn = (name: string): readonly { readonly start: number; readonly end: number }[] => {
  const ends: number[] = []
  let plain = ''
  let end = 0
  const starts: number[] = []
  for (const character of name) {
    const form = plainForm(character)
    for (let unit = 0; unit < form.length; unit += 1) {
      starts.push(end)
      ends.push(end + character.length)
    }
    plain += form
    end += character.length
  }
  return [...plain.matchAll(/:\/\/|(?<=www)\./g)].map(({ index, 0: { length } }) => ({
    start: starts[index] ?? 0,
    end: ends[index + length - 1] ?? name.length,
  }))
}

/** The name with spaces there. */
const withoutAddress = (name: string): string => {
  let [kept, end] = ['', 0]
  for (const found of addressIn(name)) {
    kept += `${name.slice(end, found.start)} `
    end = found.end
  }
  return kept + name.slice(end)
}
