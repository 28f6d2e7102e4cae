import { isWellFormedText } from './text.ts'

/** Longest name of a person, app or resource, in UTF-16 code units. */
const maximumLength = 200

/** A visible character: not a space or control of any kind, and not one that fonts draw as nothing. */
const visibleCharacter = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** More marks on one letter than any script uses. They would cover the lines above and below the name. */
const towerOfMarks = /\p{M}{9}/u

/** The fault of a name that people will read, as a sentence; null when it has none. */
export const nameFault = (name: string): string | null => {
  if (!isWellFormedText(name)) return 'The name has broken characters.'
  if (!visibleCharacter.test(name)) return 'The name is empty.'
  if (name.length > maximumLength) return 'The name is longer than 200 characters.'
  // With control characters, line ends or direction marks a name could imitate another text.
  if (/[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(name)) {
    return 'The name has control characters.'
  }
  if (towerOfMarks.test(name)) return 'The name has too many marks on one letter.'
  return null
}

/** Drawn as nothing or as a space, except the plain space. With such a character a name could look like another one. */
const unseenCharacter = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ ]]/v

/** Pictures, also those of several characters: families, flags, keycaps and hearts. Only what Unicode recommends: each is seen. */
const emoji = /\p{RGI_Emoji}/gv

const invisible = 'The name has invisible characters: only plain spaces are allowed.'

/** The fault of the name of a person, who must not look like another one; null when it has none. */
export const personNameFault = (name: string): string | null =>
  nameFault(name) ?? (unseenCharacter.test(name.replace(emoji, '')) ? invisible : null)

/**
 * The fault of an app's name, as a sentence; null when it has none. An app must not look like another app or like the
 * platform: a name that begins or ends with the platform's name is refused.
 */
export const appNameFault = (name: string, platformName: string): string | null => {
  const fault = personNameFault(name)
  if (fault !== null) return fault
  const [words, own] = [wordsOf(name), wordsOf(platformName)]
  const isPlatform = [words.slice(0, own.length), words.slice(-own.length)].some((some) => isSame(some, own))
  return isPlatform ? 'An app must not carry the name of the platform: choose another name.' : null
}

/** The words as people read them: case, full width, spaces and punctuation make no difference. */
const wordsOf = (text: string): readonly string[] => {
  const folded = text.normalize('NFKC').toLowerCase()
  const words = folded.match(/[\p{L}\p{N}\p{M}]+/gu)
  return words ?? [folded.trim()]
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, index) => word === other[index])

/** Scripts that one language uses together count as one. */
const scripts: readonly (readonly [name: string, letters: RegExp])[] = [
  ...['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Georgian', 'Hebrew', 'Arabic', 'Devanagari', 'Thai'].map(
    (name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const,
  ),
  [
    'Chinese, Japanese or Korean',
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u,
  ],
]

const letterOfAScript = /[\p{L}--[\p{Script=Common}\p{Script=Inherited}]]/v

/** The letters of one script in a name, each once, in order. */
type ScriptInName = { readonly script: string; readonly letters: readonly string[] }

/**
 * The scripts of a name that has several, since letters of one can look like letters of another; null for a name in one
 * script.
 */
export const mixedScripts = (name: string): readonly ScriptInName[] | null => {
  const found = Map.groupBy(
    [...new Set(name)].filter((character) => letterOfAScript.test(character)),
    (letter) => scripts.find(([, own]) => own.test(letter))?.[0] ?? 'another script',
  )
  if (found.size < 2) return null
  return [...found].map(([script, own]) => ({ script, letters: own }))
}

/** 1 to 63 of a-z, 0-9 and inner hyphens, like a host name's label. */
export const isSlug = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
