import { describe, expect, test } from 'bun:test'
import type { AuthorizationRequest } from '../../src/domain/authorization-request.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import { maximumRedirectUris } from '../../src/domain/registered-url.ts'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, verifier } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()

test('an environment has at most 100 redirect URIs; adding one again changes nothing', async () => {
  const app = await addApp(platform, await addUser(platform))
  const add = async (number: number) =>
    await addRedirectUri(platform, trace, operator, {
      slug: app.slug,
      environment: 'development',
      uri: `https://${app.slug}.example/${number}`,
    })
  for (let number = 1; number < maximumRedirectUris; number += 1) await add(number)
  expect(await refusalOf(add(maximumRedirectUris))).toBe('invalid_request')
  expect(await refusalOf(add(1))).toBe('done')
  const { redirectUris } = await listRedirectUris(platform, app.slug)
  expect(redirectUris.development).toHaveLength(maximumRedirectUris)
  const other = { slug: app.slug, environment: 'development', uri: 'https://nowhere.example/' } as const
  expect(await refusalOf(removeRedirectUri(platform, trace, operator, other))).toBe('done')
  const first = { slug: app.slug, environment: 'development', uri: `https://${app.slug}.example/1` } as const
  await removeRedirectUri(platform, trace, operator, first)
  expect(await refusalOf(add(maximumRedirectUris))).toBe('done')
})

test('a URI of another app or environment is not removed', async () => {
  const user = await addUser(platform)
  const [app, other] = [await addApp(platform, user), await addApp(platform, user)]
  const remove = async (uri: string) =>
    await removeRedirectUri(platform, trace, operator, { slug: app.slug, environment: 'development', uri })
  await remove(other.redirectUri)
  await remove(app.liveRedirectUri)
  expect((await listRedirectUris(platform, other.slug)).redirectUris.development).toEqual([other.redirectUri])
  expect((await listRedirectUris(platform, app.slug)).redirectUris.production).toEqual([app.liveRedirectUri])
})

describe('one redirect URI of several apps', () => {
  const uri = 'https://localhost:8443/callback'
  const place = ({ slug }: AppInWorld) => ({ slug, environment: 'development', uri }) as const
  const add = async (app: AppInWorld) => await addRedirectUri(platform, trace, operator, place(app))
  const remove = async (app: AppInWorld) => await removeRedirectUri(platform, trace, operator, place(app))
  const request = ({ development }: AppInWorld): AuthorizationRequest => ({
    clientId: development.clientId,
    redirectUri: uri,
    scope: 'profile:read',
    state: '',
    codeChallenge: challengeOf(verifier),
    codeChallengeMethod: 'S256',
  })
  const sharing = async () => {
    const user = await addUser(platform)
    const apps = [await addApp(platform, user), await addApp(platform, await addUser(platform))] as const
    for (const app of apps) await add(app)
    const session = await sessionOf(platform, user)
    const codeFor = async (app: AppInWorld) => (await authorize(platform, trace, session, request(app), true)).code
    const exchange = async ({ development }: AppInWorld, code: string) =>
      await refusalOf(
        exchangeCode(platform, trace, { ...development, code, redirectUri: uri, codeVerifier: verifier }, null),
      )
    return { apps, codeFor, exchange, session }
  }

  test('serves each of them, and no app exchanges a code of another', async () => {
    const { apps, codeFor, exchange } = await sharing()
    const [one, other] = apps
    const codes = [await codeFor(one), await codeFor(other)] as const
    expect([await exchange(other, codes[0]), await exchange(one, codes[1])]).toEqual(['invalid_grant', 'invalid_grant'])
    expect([await exchange(one, codes[0]), await exchange(other, codes[1])]).toEqual(['done', 'done'])
  })

  test('that one of them removes is refused for that one alone, with the codes that were sent to it', async () => {
    const { apps, codeFor, exchange, session } = await sharing()
    const [one, other] = apps
    const codes = [await codeFor(one), await codeFor(other)] as const
    await remove(one)
    expect((await listRedirectUris(platform, other.slug)).redirectUris.development).toContain(uri)
    expect([await exchange(one, codes[0]), await exchange(other, codes[1])]).toEqual(['invalid_grant', 'done'])
    expect(await refusalOf(authorize(platform, trace, session, request(one), true))).toBe('invalid_redirect_uri')
    expect(await exchange(other, await codeFor(other))).toBe('done')
  })

  test('is not registered for an app that has only the other ones', async () => {
    const { apps, session } = await sharing()
    const third = await addApp(platform, await addUser(platform))
    expect(await refusalOf(authorize(platform, trace, session, request(third), true))).toBe('invalid_redirect_uri')
    for (const app of apps) await deleteApp(platform, trace, operator, app.slug)
    expect(await refusalOf(add(third))).toBe('done')
    expect(await refusalOf(authorize(platform, trace, session, request(third), true))).toBe('done')
  })

  test('is still kept out of the other environment of the same app', async () => {
    const { apps } = await sharing()
    for (const app of apps) {
      const again = { ...place(app), environment: 'production' } as const
      expect(await refusalOf(addRedirectUri(platform, trace, operator, again))).toBe('invalid_request')
      const live = { ...place(app), uri: app.liveRedirectUri }
      expect(await refusalOf(addRedirectUri(platform, trace, operator, live))).toBe('invalid_request')
    }
  })
})

test('the trail has the whole URI that was registered or removed, as it was written', async () => {
  const app = await addApp(platform, await addUser(platform))
  const uris = ['a?tenant=1&mode=%C3%A9', 'a?tenant=2'].map((path) => `https://${app.slug}.example:8443/${path}`)
  const change = (uri = '') => ({ slug: app.slug, environment: 'production', uri }) as const
  for (const uri of uris) await addRedirectUri(platform, trace, operator, change(uri))
  await removeRedirectUri(platform, trace, operator, change(uris[1]))
  const events = await auditEvents(platform, app)
  const told = events.flatMap(({ action, detail }) =>
    action.startsWith('redirect_uri.') && detail?.includes('tenant') ? [[action, JSON.parse(detail)]] : [],
  )
  expect(told).toEqual([
    ['redirect_uri.added', { uri: uris[0] }],
    ['redirect_uri.added', { uri: uris[1] }],
    ['redirect_uri.removed', { uri: uris[1] }],
  ])
})
