import { expect } from 'bun:test'
import { join } from 'node:path'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { leadsTo, plainBrowser, type PlainBrowser, type Seen } from '../pages/support/plain-browser.ts'
import { call, type Json } from '../support/call.ts'
import { needs, programAt } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, createWorld, endWorld, type Login, type World } from '../support/world.ts'
import { spawnClient } from './support/client-process.ts'

// Clients from the registry, configured as their documentation says. They run behind a proxy that speaks HTTPS, which is this test.

const packages = 'network for the packages of test/clients/stock'
const { afterAll, afterEach, beforeAll, describe, test } = needs('node', packages)
let world: World
let issuer = ''
beforeAll(async () => {
  world = await createWorld()
  issuer = world.server.url.replace('127.0.0.1', 'localhost')
})
afterAll(async () => await endWorld(world))

const running: Bun.Subprocess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

/** Starts a client as an app of its own, with this path as its redirect URI. */
const start = async (runtime: string, script: string, callback: string) => {
  const user = await addUser(world.platform)
  const app = await addApp(world.platform, user)
  const appUrl = `https://${app.slug}.example`
  const uri = appUrl + callback
  await addRedirectUri(world.platform, trace, operator, { slug: app.slug, environment: 'development', uri })
  const secret = 'a secret of the test that is long enough'
  const { child, nextLine } = spawnClient([runtime, join(programAt(packages), script)], {
    PATH: process.env['PATH'] ?? '',
    ISSUER: issuer,
    CLIENT_ID: app.development.clientId,
    CLIENT_SECRET: app.development.clientSecret,
    APP_URL: appUrl,
    PORT: '0',
    NEXTAUTH_URL: appUrl,
    BETTER_AUTH_SECRET: secret,
    SESSION_SECRET: secret,
    COOKIE_PASSWORD: secret,
  })
  running.push(child)
  return { user, appUrl, child, nextLine }
}

type Started = Awaited<ReturnType<typeof start>>
type Decision = 'allow' | 'deny'

/** Signs in and decides on the pages, and returns where the browser is sent then. */
const decide = async (browser: PlainBrowser, authorizationUrl: string, user: Login, decision: Decision) => {
  expect(authorizationUrl).toStartWith(`${issuer}/oauth/authorize?`)
  const path = authorizationUrl.slice(issuer.length)
  const signIn = (await browser.get(path)).headers.get('location') ?? ''
  const { email, password } = user
  const back = await browser.submit(signIn, '/sign-in', { email, password })
  const request = back.headers.get('location') ?? ''
  return leadsTo(await browser.submit(request, '/oauth/authorize', { decision })) ?? ''
}

for (const [runtime, node] of [
  ['Node', () => programAt('node')],
  ['Bun', () => process.execPath],
] as const) {
  describe(`simple-oauth2 under ${runtime}`, () => {
    test.each(['access_token', 'refresh_token', 'revokeAll'])(
      'authorizes, exchanges, refreshes, and ends everything by %s',
      async (end) => {
        const { user, child, nextLine } = await start(node(), 'simple-oauth2.mjs', '/signed-in')
        const came = await decide(plainBrowser(world.server.url), await nextLine(), user, 'allow')
        child.stdin.write(`${end} ${came}\n`)
        await child.stdin.end()
        const story: Json = JSON.parse(await nextLine())
        const ended = { revoked: 401, refreshed: 'invalid_grant' }
        expect(story).toEqual({ first: 401, second: user.id, isSame: true, expires: false, ...ended })
      },
    )
  })
}

/** How a client begins, and the path that the server sends the browser back to. */
type Client = { readonly script: string; readonly begin: string; readonly callback: string }
const clients: readonly (Client & { readonly name: string; readonly runtime: () => string })[] = [
  {
    name: "better-auth's genericOAuth under Bun",
    runtime: () => process.execPath,
    script: 'better-auth.mjs',
    begin: '/login',
    callback: '/api/auth/callback/app-platform',
  },
  {
    name: 'grant under Node',
    runtime: () => programAt('node'),
    script: 'grant.mjs',
    begin: '/connect/app-platform',
    callback: '/connect/app-platform/callback',
  },
  {
    name: '@hapi/bell under Node',
    runtime: () => programAt('node'),
    script: 'bell.mjs',
    begin: '/login',
    callback: '/login',
  },
  {
    name: 'Auth.js under Bun',
    runtime: () => process.execPath,
    script: 'auth-js.mjs',
    begin: '/api/auth/signin?callbackUrl=/api/auth/session',
    callback: '/api/auth/callback/app-platform',
  },
  {
    name: 'next-auth under Node',
    runtime: () => programAt('node'),
    script: 'next-auth.mjs',
    begin: '/api/auth/signin?callbackUrl=/api/auth/session',
    callback: '/api/auth/callback/app-platform',
  },
]

/** A person's way from the app, which may have a page with a button first, to the page after the answer of the server. */
const throughPages = async ({ user, appUrl, nextLine }: Started, begin: string, decision: Decision): Promise<Seen> => {
  const app = plainBrowser(JSON.parse(await nextLine()).url)
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': new URL(appUrl).host }
  const first = await app.get(begin, proxied)
  const left = first.status === 200 ? await app.post(...onlyForm(first), proxied) : first
  const server = plainBrowser(world.server.url)
  let next: string | null = await decide(server, left.headers.get('location') ?? '', user, decision)
  for (let step = 0; step < 5; step += 1) {
    const { origin, pathname, search } = new URL(next, appUrl)
    expect(origin).toBe(appUrl)
    const seen = await app.get(pathname + search, proxied)
    next = seen.headers.get('location')
    if (next === null) return seen
  }
  throw new Error(`The app does not stop redirecting: ${next}`)
}

/** The path and the hidden fields of the first form. */
const onlyForm = ({ text }: Seen): [string, Record<string, string>] => {
  const action = /<form action="([^"]+)"/.exec(text)?.[1] ?? ''
  const inputs = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return [new URL(action).pathname, Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]))]
}

for (const { name, runtime, script, begin, callback } of clients) {
  describe(name, () => {
    test('signs a user in with the plain userinfo URL, and gets a token that works', async () => {
      const started = await start(runtime(), script, callback)
      const { user } = started
      const seen = await throughPages(started, begin, 'allow')
      const { accessToken, ...person }: Json = JSON.parse(seen.text)
      expect(person).toMatchObject({ sub: user.id, name: 'Ada Example', email: user.email })
      const me = await call(world.server.url, 'GET', '/oauth/me', { token: accessToken })
      expect(me.body).toMatchObject({ id: user.id, scope: 'profile.email:read profile:read' })
    })

    test('signs nobody in if the user declines', async () => {
      const started = await start(runtime(), script, callback)
      const { text } = await throughPages(started, begin, 'deny')
      expect(text).not.toContain(started.user.email)
      expect(text).toMatch(/error|denied|declined/i)
    })
  })
}
