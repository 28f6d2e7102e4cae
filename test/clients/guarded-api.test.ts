import { expect } from 'bun:test'
import { connect } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { call } from '../support/call.ts'
import { needs, programAt } from '../support/needs.ts'
import { runProgram } from '../support/run-program.ts'
import { appToken, createWorld, endWorld, exchange, authorize, signIn, type World } from '../support/world.ts'
import { type PrintedProxy, startCaddy, startNginx } from '../cli/support/printed-proxy.ts'
import { freePort } from './support/free-port.ts'

const trusted = ['x-app-id', 'x-user-external-id', 'x-scope'] as const

/**
 * An API of the builder that trusts the headers of the proxy before it. Like many frameworks, it does not tell `_` from `-` in their
 * names.
 */
const startApi = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      const found = (name: string) =>
        [...request.headers].filter(([each]) => each.replaceAll('_', '-') === name).map(([, value]) => value)
      return Response.json({
        method: request.method,
        bytes: body.length,
        told: trusted.map((name) => found(name).join('|')),
      })
    },
  })

/** The printed site of a proxy, with the lines for an API of one's own taken over. */
const guardedSite = async (proxy: 'nginx' | 'caddy', world: World, origin: string, api: number): Promise<string> => {
  const { port } = new URL(world.server.url)
  const under = ['env', `PUBLIC_URL=${origin}`, 'TRUSTED_PROXIES=127.0.0.1']
  const { stdout } = await runProgram(['print', proxy, '--port', port], under)
  const [site = '', lines = ''] = stdout.split(/# To let apps call an API of yours.*\n/)
  const guard = lines.replaceAll(/^#/gm, '').replace('YOUR_API', `127.0.0.1:${api}`)
  const end = site.lastIndexOf('}')
  return `${site.slice(0, end)}${guard}\n}\n`
}

/** Names that frameworks may take for those of the check. */
const underscored = { X_App_Id: 'app_fake', 'x-user_external-id': 'boss', X_Scope: 'everything' } as const
/** Headers that mean something to App Platform, and nothing at the API. */
const odd = { 'X-Service-Api-Version': '2099-01', 'Idempotency-Key': 'a key', Origin: 'https://evil.example' } as const

/** What no client library would send. */
const sendLines = async (origin: string, token: string, lines: string): Promise<string> => {
  const { hostname, port, protocol } = new URL(origin)
  const text = Promise.withResolvers<string>()
  let got = ''
  const options = { host: hostname, port: Number(port), rejectUnauthorized: false }
  const socket = protocol === 'https:' ? tlsConnect(options) : connect(options)
  socket.on('data', (data) => void (got += data.toString()))
  socket.on('close', () => text.resolve(got))
  socket.on('error', text.reject)
  socket.write(
    `GET /your-api/things HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n\r\n`,
  )
  return await text.promise
}

type Start = (site: string, origin: string) => Promise<PrintedProxy>

/** Rules that hold for every proxy that guards an API. */
const expectGuarded = async (proxy: 'nginx' | 'caddy', start: Start, origin: string) => {
  const api = startApi()
  const world = await createWorld({ env: { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' } })
  const { app, user, server } = world
  const guard = await start(await guardedSite(proxy, world, origin, api.port ?? 0), origin)
  const ask = async (token: string | null, more: Readonly<Record<string, string>> = {}, init: RequestInit = {}) => {
    const headers = { ...more, ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await guard.fetch('/your-api/things', { ...init, headers })
    return { status: answer.status, text: await answer.text() }
  }
  const inProduction = { ...app, development: app.production, redirectUri: app.liveRedirectUri }
  const granted = async (scope: string) => {
    const code = await authorize(server.url, await signIn(server.url, user), inProduction, scope)
    return (await exchange(server.url, inProduction, code)).body.accessToken
  }

  const live = await granted('site:read')
  const told = [app.id, '', 'site:read']
  expect(JSON.parse((await ask(live)).text)).toMatchObject({ told })
  expect(JSON.parse((await ask(live, underscored)).text)).toMatchObject({ told })
  // What is asked of the API does not change what is asked of the check.
  const body = 'x'.repeat(200_000)
  for (const [method, type] of [
    ['POST', 'text/plain'],
    ['PUT', 'multipart/form-data; boundary=x'],
  ] as const) {
    const answer = await ask(live, { ...odd, 'Content-Type': type }, { method, body })
    expect(JSON.parse(answer.text)).toEqual({ method, bytes: body.length, told })
  }
  // A Connection header makes a proxy drop what it names (RFC 9110 section 7.6.1).
  const dropping = await sendLines(origin, live, 'Connection: close, X-App-Id, X-User-External-Id, X-Scope')
  expect(dropping).toMatch(/^HTTP\/1.1 (?:200|400) /)
  if (dropping.startsWith('HTTP/1.1 200')) expect(dropping).toContain(JSON.stringify(told))
  expect(await sendLines(origin, live, 'Connection: close\r\nAuthorization: Bearer other')).not.toContain(' 200 OK')
  const faked = { 'X-App-Id': 'app_fake', 'X-User-External-Id': 'boss', 'X-Scope': 'everything' }
  expect((await ask(live, faked)).text).not.toMatch(/fake|boss|everything/)
  expect((await ask(await appToken(server.url, app.production), faked)).text).not.toMatch(/fake|boss|everything/)
  await call(server.url, 'POST', '/oauth/revoke', { token: live, body: {} })
  expect((await ask(live)).status).toBe(401)
  expect((await ask(null, faked)).status).toBe(401)
  expect((await ask(await granted('profile:read'))).status).toBe(403)
  expect((await ask(await appToken(server.url, app.development))).status).toBe(403)

  await guard.stop()
  await endWorld(world)
  await api.stop(true)
}

needs('nginx', 'openssl').test(
  'nginx lets apps through to an API by the printed lines, and nobody else',
  async () => {
    const origin = `https://localhost:${freePort()}`
    await expectGuarded('nginx', async (site) => await startNginx([programAt('nginx')], site, origin), origin)
  },
  60_000,
)

needs('caddy').test(
  'Caddy lets apps through to an API by the printed lines, and nobody else',
  async () => {
    const origin = `http://127.0.0.1:${freePort()}`
    await expectGuarded('caddy', async (site) => await startCaddy([programAt('caddy')], site, origin), origin)
  },
  60_000,
)
