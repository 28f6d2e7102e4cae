import { type TypedName, typedName } from './entered-name.ts'

/**
 * The name of an app or its publisher, as a person has typed it. It must not look like the platform: a name that begins or ends with
 * the platform's name is refused.
 */
export const typedAppName = (
  text: string,
  platformName: string,
  what: 'An app' | 'A publisher' = 'An app',
): TypedName => {
  const { name, fault } = typedName(text, what === 'An app' ? 'name' : 'publisher')
  const [words, own] = [wordsOf(name), wordsOf(platformName)]
  const isPlatform = [words.slice(0, own.length), words.slice(-own.length)].some((some) => isSame(some, own))
  return { name, fault: fault ?? (isPlatform ? `${what} ${ofThePlatform}` : null) }
}

const ofThePlatform = 'must not carry the name of the platform: choose another name.'

/** The words as people read them: case, full width, spaces, punctuation and what nobody sees make no difference. */
const wordsOf = (text: string): readonly string[] => {
  const folded = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
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

/** What is wrong with a slug, as a sentence; null for a good one. */
export const slugFormFault = (text: string): string | null =>
  isSlug(text) ? null : 'A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'
