import { expect, test } from 'bun:test'
import { maximumRedirectUris } from '../../src/domain/registered-url.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'

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
