import { beforeAll, expect, test } from 'bun:test'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callFrom, doorOf } from '../http/support/door.ts'
import { builtInScopes } from '../../src/domain/scope.ts'
import type { Consent } from '../../src/operations/oauth/authorize.ts'
import { ConsentPage } from '../../src/pages/front-door/consent.tsx'
import { page } from '../../src/pages/page.ts'
import { type Visit, visitOf } from '../../src/pages/visit.ts'
import { sessionOf } from '../operations/support/owner.ts'
import { addUser } from '../support/world.ts'

const platform = await platformOfFile()
let visit: Visit
beforeAll(async () => {
  const session = await sessionOf(platform, await addUser(platform))
  const door = doorOf(platform)
  visit = { ...visitOf(door, callFrom('local'), session, ''), platformName: 'Acme' }
})

const plain: Consent = {
  appId: 'app_1',
  appName: 'Newsletter',
  publisher: 'Dora Developer',
  icon: null,
  environment: 'production',
  facts: { description: null, websiteUrl: null, supportUrl: null, privacyUrl: null },
  catalogue: builtInScopes,
  scopes: [{ name: 'site:read', isNew: false }],
  isKnown: false,
}

/** The text of the consent page for these scopes, without its markup. */
const wordsOf = async (change: Partial<Consent>): Promise<string> => {
  const asked = { redirectUri: 'https://app.example/', state: 'x', codeChallenge: 'c', codeChallengeMethod: 'S256' }
  const request = { ...asked, clientId: 'apc_live_1', scope: 'site:read' }
  const shown = page(ConsentPage({ request, consent: { ...plain, ...change }, visit, lifetimes: platform.lifetimes }))
  return (await shown.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}
/** Whether the page says that the email address, the name and the password are withheld. */
const withheldIn = async (...names: Consent['scopes'][number]['name'][]) => {
  const words = await wordsOf({ scopes: names.map((name) => ({ name, isNew: false })) })
  const [, withheld = ''] = /It will not get(.*)Good to know/.exec(words) ?? []
  return ['Your email address', 'Your name and picture', 'Your password'].map((thing) => timesIn(withheld, thing) > 0)
}
const timesIn = (words: string, word: string) => words.split(word).length - 1

test('an app that was not reviewed is marked, and a reviewed one is described, with its addresses', async () => {
  expect(await wordsOf({ facts: null })).toContain('Not reviewed by the operator of this server')
  const facts = {
    description: `Letters ${'and more '.repeat(50)}`,
    websiteUrl: 'https://newsletter.example',
    supportUrl: null,
    privacyUrl: 'https://newsletter.example/privacy',
  }
  const words = await wordsOf({ facts })
  expect(words).toContain('Letters and more')
  expect(words).toContain('…')
  expect([words.includes('Website'), words.includes('Support'), words.includes('Privacy')]).toEqual([true, false, true])
  expect(words).not.toContain('Not reviewed')
})

test('only the additional scopes of a known app are marked as new, and the page says that the app asks for more', async () => {
  const [old, fresh] = [
    { name: 'site:read', isNew: false },
    { name: 'profile:read', isNew: true },
  ] as const
  const stranger = await wordsOf({})
  const again = await wordsOf({ isKnown: true, scopes: [old] })
  const more = await wordsOf({ isKnown: true, scopes: [old, fresh] })
  expect([stranger, again, more].map((words) => timesIn(words, ' New '))).toEqual([0, 0, 1])
  expect([stranger, again, more].map((words) => timesIn(words, 'asks for it again'))).toEqual([0, 1, 0])
  expect([stranger, again, more].map((words) => timesIn(words, 'It now asks for more'))).toEqual([0, 0, 1])
})

test('sensitive data is listed as withheld unless the app asks for it', async () => {
  expect(await withheldIn('site:read')).toEqual([true, true, true])
  expect(await withheldIn('profile:read')).toEqual([true, false, true])
  expect(await withheldIn('profile.email:read')).toEqual([false, true, true])
})

test('an app in development is marked as such', async () => {
  expect(await wordsOf({ environment: 'development' })).toContain('for testing by its developers')
  expect(await wordsOf({ environment: 'production' })).not.toContain('Development')
})
