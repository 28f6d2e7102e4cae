import { expect, test } from 'bun:test'
import { appNameFault, mixedScripts } from '../../src/domain/app-name.ts'

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

test('a name that has only a part of the platform’s name, or has it inside, is an app’s own', () => {
  for (const name of ['App', 'Platform', 'Apps Platform', 'My App Platforms', 'An App Platform Game']) {
    expect(faultOf(name)).toBeNull()
  }
  expect(faultOf('App Platform', 'Acme')).toBeNull()
  expect(faultOf('acme newsletter', 'ACME')).not.toBeNull()
  expect(faultOf('Newsletter', '★')).toBeNull()
  expect(faultOf('★', '★')).not.toBeNull()
})

test('scripts that are mixed in a name are told, with their letters', () => {
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
