// Names of people, apps, websites, keys and the like, as they enter. Each is brought into one spelling before it is compared or
// stored. A name that a person types here is refused if it cannot be one. The builder and the identity provider are the masters
// of theirs, so such a name is never refused: what cannot be kept is dropped.

import { replaceUnseen, unseen, withoutMeaning } from './unseen.ts'

/** Longest name, in UTF-16 code units. */
const maximumLength = 200
/** A longer text is not read to its end: no text of this length has a shorter spelling that is a name. */
const longestRead = 5 * maximumLength

/** A name in the spelling that is stored, and why it cannot be used, as a sentence; the fault is null when it can. */
export type TypedName = { readonly name: string; readonly fault: string | null }

/** A name that a person has typed. `what` is what the field is called. */
export const typedName = (text: string, what = 'name'): TypedName => {
  const { name, fault } = read(text)
  return { name, fault: fault === null ? null : `The ${what} ${fault}` }
}

/** The same with a fault that has no subject yet. */
const read = (text: string): TypedName => {
  if (!text.isWellFormed() || text.includes('\0')) return { name: '', fault: 'has broken characters.' }
  if (text.length > longestRead) return { name: '', fault: tooLong }
  if (towerOfMarks.test(text)) return { name: '', fault: tower }
  const { name, dropped } = cleaned(text)
  return { name, fault: faultOf(name, dropped) }
}
const tower = 'has too many marks on one letter.'

/** The name of a file, which may look like an address. The caller bounds its length. */
export const typedFileName = (text: string): TypedName => {
  const { name, dropped } = cleaned(text)
  const fault = towerOfMarks.test(text) ? tower : unseenFault(name, dropped)
  return { name, fault: fault === null ? null : `The file name ${fault}` }
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

const tooLong = 'is longer than 200 characters.'

const faultOf = (name: string, dropped: string): string | null => {
  if (name.length > maximumLength) return tooLong
  return unseenFault(name, dropped) ?? (addressIn(name).length > 0 ? addressFault : null)
}
const addressFault = 'has the address of a web page, which is not allowed.'

/** Why a text seems to be another one than it is. */
const unseenFault = (name: string, dropped: string): string | null => {
  if (!visibleCharacter.test(name)) return 'is empty.'
  // With line ends or a reversed part a name could imitate another text.
  if (/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(dropped)) return 'has control characters.'
  if (/[\p{Cn}\p{Co}]/u.test(dropped)) return 'has characters that not everybody can read.'
  // With such a character a name could look like another one.
  return dropped === '' ? null : 'has invisible characters.'
}

/** A visible character: not a space or control of any kind, and not one that fonts draw as nothing. */
const visibleCharacter = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** More marks on one letter than any script uses. They would cover the lines above and below the name. */
const towerOfMarks = /\p{M}{9}/u
const tooManyMarks = /(\p{M}{8})\p{M}+/gu

/** Whether a longer text would draw over other lines, or turn the direction of what follows. */
export const disturbs = (text: string): boolean => towerOfMarks.test(text) || turning.test(text)
const turning = /[\u202a-\u202e\u2066-\u2069]/u

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
  const name = replaceUnseen(plain, 'anywhere', ({ found, needed }) => {
    if (needed !== null) return needed
    dropped += (found.match(unseen()) ?? []).join('')
    return likeSpace.test(found) ? ' ' : found.replaceAll(unseen(), '')
  })
  return { name: name.replaceAll(/ +/g, ' ').trim().normalize('NFC'), dropped }
}

/** Line ends, tabs, and letters that are drawn as a space. */
const likeSpace = /[\t-\r\x85\p{Zl}\p{Zp}\u2800\u3164]/u

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
