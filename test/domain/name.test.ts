import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { isSlug, mixedScripts, typedAppName } from '../../src/domain/name.ts'

const faultOf = (name: string, platformName = 'App Platform') => typedAppName(name, platformName).fault

test.each(['News\u200bletter', 'evil\nname', 'https://evil.example', ''])(
  'a name that no person can have is none for an app: %p',
  (name) => expect(faultOf(name)).not.toBeNull(),
)

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
  'App\u3000Platform',
  'App Plat\u00adform',
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
