import { expect } from 'bun:test'
import { auditEvents } from '../support/audit-events.ts'
import { closeBrowsers, openBrowser } from '../pages/support/browser.ts'
import { signInByForm } from '../pages/support/sign-in.ts'
import { call, type Json } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { createProxiedWorld, endProxiedWorld, type ProxiedWorld } from './support/proxied-world.ts'
import { proxyAddress } from './support/reverse-proxy.ts'

const { afterAll, afterEach, beforeAll, test } = needs('nginx', 'openssl', 'Chromium')

let world: ProxiedWorld
beforeAll(async () => void (world = await createProxiedWorld()))
afterEach(closeBrowsers)
afterAll(async () => await endProxiedWorld(world))

/** Fetches with trust in the certificate authority of the proxy. */
const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
  await fetch(world.publicUrl + path, { ...init, redirect: 'manual', tls: { ca: Bun.file(world.authority) } })

type Line = { readonly requestId?: string; readonly address?: string; readonly route?: string }
const logged = (): readonly Line[] =>
  world.server
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
const lineOf = async (response: Response): Promise<Line | undefined> => {
  const requestId = response.headers.get('x-request-id') ?? 'none'
  return await eventually(
    async () => logged().find((line) => line.requestId === requestId),
    (line) => line !== undefined,
  )
}

test('the log has the address of the client, not of the proxy', async () => {
  expect(await lineOf(await ask('/healthz'))).toMatchObject({ address: '127.0.0.1' })
})

test('X-Forwarded-For from a client is ignored', async () => {
  const claims = { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.7', forwarded: 'for=203.0.113.7' }
  expect(await lineOf(await ask('/healthz', { headers: claims }))).toMatchObject({ address: '127.0.0.1' })
})

test('X-Forwarded-For is also ignored from a client that bypasses the proxy', async () => {
  const { headers } = await call(world.server.url, 'GET', '~/healthz', {
    headers: { 'x-forwarded-for': '203.0.113.7' },
  })
  expect(await lineOf(new Response(null, { headers }))).toMatchObject({ address: '127.0.0.1' })
})

test('audit events have the address of the client, for refusals and for issued tokens', async () => {
  const since = world.platform.clock.now()
  const { clientId, clientSecret } = world.app.development
  const token = async (secret: string) =>
    await ask('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'site:read' }),
      headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
    })
  expect((await token(clientSecret)).status).toBe(200)
  expect((await token(`${clientSecret}x`)).status).toBe(401)
  const events = await world.platform.database.queries.audit.list({ appId: world.app.id, since, limit: 100 })
  expect(events.length).toBeGreaterThanOrEqual(2)
  expect(new Set(events.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
})

test('the session cookie is limited to this host and HTTPS, and hidden from scripts', async () => {
  const page = await openBrowser(world.publicUrl)
  await page.goto('/account')
  await signInByForm(page, world.user)
  expect(new URL(page.url()).pathname).toBe('/account')
  const cookies = await page.context().cookies()
  expect(cookies.length).toBeGreaterThan(0)
  for (const cookie of cookies) {
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, path: '/', domain: 'localhost' })
    expect(cookie.name).toStartWith('__Host-')
  }
})

test('every answer has Strict-Transport-Security', async () => {
  const paths = ['/sign-in', '/healthz', '/nowhere', '/oauth/authorize', '/.well-known/oauth-authorization-server']
  for (const path of [...paths, '/api/app-platform/me']) {
    expect((await ask(path)).headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/)
  }
})

test('the metadata contains only URLs that work from outside', async () => {
  const metadata: Json = await (await ask('/.well-known/oauth-authorization-server')).json()
  const named = Object.entries(metadata).filter(([name]) => name === 'issuer' || /_(?:endpoint|uri)$/.test(name))
  expect(named.length).toBeGreaterThanOrEqual(5)
  for (const [, url] of named) {
    expect(url).toStartWith(world.publicUrl)
    expect((await ask(String(url).slice(world.publicUrl.length))).status).not.toBe(404)
  }
})

test('no log line or audit event has the address of the proxy', async () => {
  const events = await auditEvents(world.platform)
  const addresses = new Set([...logged(), ...events].map(({ address }) => address ?? 'local'))
  expect(addresses).toEqual(new Set(['127.0.0.1', 'local'])) // local: the operator who created this world
  expect(addresses).not.toContain(proxyAddress)
})
