import { expect, test } from 'bun:test'
import { challengeOf } from '../../src/domain/pkce.ts'
import { verifier } from '../support/world.ts'
import { plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const env = {
  PLATFORM_NAME: 'Acme & Söhne',
  BUILDER_NAME: 'Sites <&>',
  BUILDER_URL: 'https://builder.example/home?a=1&b=2',
}
const world = await worldOfFile({ env })

const consentPath = () => {
  const { app } = world
  const request = {
    response_type: 'code',
    client_id: app.development.clientId,
    redirect_uri: app.redirectUri,
    scope: 'site:read',
    state: 'a',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  }
  return `/oauth/authorize?${new URLSearchParams(request).toString()}`
}

test('every kind of page shows the name of the platform, in its title too, and nothing else as its name', async () => {
  const user = await signedInBrowser(world.server.url, world.user)
  const visitor = plainBrowser(world.server.url)
  const pages = [
    await visitor.get('/sign-in'),
    await visitor.get('/nowhere'),
    await visitor.get('/oauth/authorize?client_id=nobody'),
    await user.get('/'),
    await user.get('/account'),
    await user.get('/console'),
    await user.get(`/console/${world.app.slug}`),
    await user.get(consentPath()),
  ]
  for (const { text } of pages) {
    expect(text).toMatch(/<title>[^<]* · Acme &amp; Söhne<\/title>/)
    expect(text).toMatch(/class="brand".*?<bdi>Acme &amp; Söhne<\/bdi>/)
    expect(text).not.toContain('App Platform')
  }
  expect(pages.at(-1)?.text).toContain('Allow this app?')
})

test('no app can have the name of the platform', async () => {
  const user = await signedInBrowser(world.server.url, world.user)
  const form = { name: 'ACME  & söhne', slug: 'imposter', scopes: ['site:read'] }
  const { status, text } = await user.submit('/console/new', '/console/new', form)
  expect(status).toBe(400)
  expect(text).toContain('the name of the platform')
  const other = await user.submit('/console/new', '/console/new', { ...form, name: '  App Platform  ' })
  expect(other.status).toBe(303)
  expect((await user.get('/console')).text).toContain('<bdi>App Platform</bdi>')
})

test('pages of signed-in people, of visitors and dead ends lead back to the builder', async () => {
  const user = await signedInBrowser(world.server.url, world.user)
  const visitor = plainBrowser(world.server.url)
  const pages = ['/', '/installs', '/console', '/nowhere', '/apps'].map(async (path) => await user.get(path))
  const open = ['/nowhere', '/apps', '/sign-in', '/forgot-password', '/set-password', '/guides', '/oauth/authorize?a=b']
  for (const { text } of await Promise.all([...pages, ...open.map(async (path) => await visitor.get(path))])) {
    expect(text).toContain('href="https://builder.example/home?a=1&amp;b=2"')
    expect(text).toContain('Back to <bdi>Sites &lt;&amp;></bdi>')
  }
})
