import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { appNameFault, isSlug, mixedScripts, nameFault, personNameFault } from '../../src/domain/name.ts'

test.each(['', ' ', '\u00a0\u2003', '\u200b', '\u3164\u200d', '\u2800', '\u{e0020}', '\ufeff\u00ad'])(
  'a name of which nothing can be seen is empty: %p',
  (name) => expect(nameFault(name)).toBe('The name is empty.'),
)

test('a letter cannot carry many marks, which would cover the text around the name', () => {
  expect(nameFault(`N${'\u0331'.repeat(9)}ame`)).toBe('The name has too many marks on one letter.')
})

test('a name with half a character is refused', () =>
  expect(nameFault('Newsletter \ud800')).toBe('The name has broken characters.'))

test.each(['A\nB', 'A\u202eB', 'A\u2066B', 'A\u0007', 'A\u2028B'])('a name must not imitate another text: %p', (name) =>
  expect(nameFault(name)).toBe('The name has control characters.'),
)

test.each(['Newsletter', 'Café'.normalize('NFD'), '👩‍👩‍👧‍👦', 'שָׁלוֹם', 'བསྒྲུབས', 'न्यूज़लेटर', 'می‌خواهم', '<b>"', 'x'.repeat(200)])(
  'a name in any script is one: %p',
  (name) => expect(nameFault(name)).toBeNull(),
)

test('a name has at most 200 characters', () => expect(nameFault('x'.repeat(201))).not.toBeNull())

test.each(['Gr\u200bace', 'Gr\u200dace', 'Gr\u2060ace', 'Gr\u00adace', 'Grace\u202e'])(
  'a person has no name with characters that nobody sees: %p',
  (name) => expect(personNameFault(name)).not.toBeNull(),
)

test.each([
  'Ada \u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{1f3f3}\ufe0f\u200d\u{1f308} Grace',
  '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
  'Ada \u2764\ufe0f',
  'Number 1\ufe0f\u20e3',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England',
  '\u{1f1e9}\u{1f1ea}',
])('a person can have a name with emoji of several characters: %p', (name) => expect(personNameFault(name)).toBeNull())

test.each([
  'Ada \u{1f469}\u200d',
  'Ada\u200d\u{1f469}',
  '\u{1f469}\u200d\u200d\u{1f467}',
  '\u{1f680}\u200d\u{1f680}',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200bAda',
])('a joiner that joins no emoji into one, or another character that nobody sees, is refused: %p', (name) =>
  expect(personNameFault(name)).toContain('invisible'),
)

const faultOf = (name: string, platformName = 'App Platform') => appNameFault(name, platformName)

test.each([
  ['a zero-width space', 'News\u200bletter'],
  ['a zero-width joiner', 'News\u200dletter'],
  ['a zero-width non-joiner', 'News\u200cletter'],
  ['a word joiner', 'News\u2060letter'],
  ['a byte order mark', '\ufeffNewsletter'],
  ['a soft hyphen', 'News\u00adletter'],
  ['a bidirectional override', 'evil\u202ename'],
  ['a bidirectional isolate', 'evil\u2066name'],
  ['a mark of direction', 'evil\u200fname'],
  ['a Hangul filler', 'News\u3164letter'],
  ['a variation selector', 'News\ufe0fletter'],
  ['a tag character', 'News\u{e0041}letter'],
  ['a space that does not break', 'News\u00a0letter'],
  ['an empty braille pattern', 'News\u2800letter'],
  ['a line end', 'News\nletter'],
])('the name of an app must not have %s', (_, name) => {
  expect(faultOf(name)).toMatch(/invisible|control/)
})

test.each([
  'Newsletter',
  'Café Zürich',
  'Новости',
  '日本語のアプリ',
  'ニュース letter',
  'My 🚀 App',
  'Families 👨‍👩‍👧‍👦',
  'We ❤️ shops',
  'a',
  'Über-App 2.0',
])('%p can be the name of an app', (name) => {
  expect(faultOf(name)).toBeNull()
})

test.each([
  'App Platform',
  'app platform',
  'APP  PLATFORM',
  'App-Platform',
  'App Platform.',
  'Ａｐｐ Ｐｌａｔｆｏｒｍ',
  'App Platform Support',
  'The App Platform',
])('%p looks like the platform and is refused', (name) => {
  expect(faultOf(name)).toContain('the name of the platform')
})

test('a name that has a part of the platform’s name, or has it in the middle, is accepted', () => {
  for (const name of ['App', 'Platform', 'Apps Platform', 'My App Platforms', 'An App Platform Game']) {
    expect(faultOf(name)).toBeNull()
  }
  expect(faultOf('App Platform', 'Acme')).toBeNull()
  expect(faultOf('acme newsletter', 'ACME')).not.toBeNull()
  expect(faultOf('Newsletter', '★')).toBeNull()
  expect(faultOf('★', '★')).not.toBeNull()
})

test('the scripts of a mixed name are listed with their letters', () => {
  expect(mixedScripts('Newsletter 2.0 🚀')).toBeNull()
  expect(mixedScripts('日本語のアプリ')).toBeNull()
  expect(mixedScripts('Новости')).toBeNull()
  expect(mixedScripts('Newslettеr')).toEqual([
    { script: 'Latin', letters: ['N', 'e', 'w', 's', 'l', 't', 'r'] },
    { script: 'Cyrillic', letters: ['е'] },
  ])
  expect(mixedScripts('Αpp')?.map(({ script }) => script)).toEqual(['Greek', 'Latin'])
  expect(mixedScripts('ꓮpp')?.map(({ script }) => script)).toEqual(['another script', 'Latin'])
})

test('a slug has 1 to 63 of a-z, 0-9 and inner hyphens', () => {
  for (const text of ['a', '0', 'ab', 'my-shop', 'a--b', 'a'.repeat(63), `a${'-'.repeat(61)}b`]) {
    expect([text, isSlug(text)]).toEqual([text, true])
  }
})

test('any other text is not a slug', () => {
  for (const text of ['', '-', '-a', 'a-', 'A', 'a_b', 'a b', 'a.b', 'a\n', '\u00e4', 'a'.repeat(64), '../a']) {
    expect([text, isSlug(text)]).toEqual([text, false])
  }
})

test('a slug needs no escaping in a URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      if (isSlug(text)) expect(encodeURIComponent(text)).toBe(text)
    }),
    { numRuns: 2000 },
  )
})
