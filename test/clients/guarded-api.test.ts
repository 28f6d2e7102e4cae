import { expect } from 'bun:test'
import { chmodSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { putBuilderResource } from '../../src/operations/resources/resources.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { call } from '../support/call.ts'
import { codeLines, guide, marked } from '../support/documents.ts'
import { needs, programAt } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
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
const sendLines = async (origin: string, token: string, lines: string, path = '/your-api/things'): Promise<string> => {
  const { hostname, port, protocol } = new URL(origin)
  const text = Promise.withResolvers<string>()
  let got = ''
  const options = { host: hostname, port: Number(port), rejectUnauthorized: false }
  const socket = protocol === 'https:' ? tlsConnect(options) : connect(options)
  socket.on('data', (data) => void (got += data.toString()))
  socket.on('close', () => text.resolve(got))
  socket.on('error', text.reject)
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n\r\n`,
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

needs('nginx', 'openssl').test(
  'nginx lets an app through to one website alone by the lines of the guide, and refuses with a page of the builder',
  async () => {
    const origin = `https://localhost:${freePort()}`
    const api = startApi()
    const pages = temporaryFolder()
    chmodSync(pages, 0o755)
    await Bun.write(join(pages, 'app-platform-refused.html'), '<h1>Not with this app</h1>')
    const world = await createWorld({ env: { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' } })
    const { app, user, server, platform } = world
    await linkUser(platform, trace, operator, { email: user.email, externalId: '42' })
    for (const [externalId, slug] of [
      ['17', 'my-site'],
      ['18', 'other-site'],
    ] as const) {
      const site = {
        kind: 'site',
        externalId,
        ownerExternalId: '42',
        name: 'A site',
        slug,
        status: 'published',
      } as const
      const times = { createdAt: null, updatedAt: null }
      await putBuilderResource(platform, trace, operator, { ...site, ...times })
    }
    const lines = codeLines(marked(await guide('integrate/your-api'), 'nginx'), 'nginx').join('\n')
    const guard = lines.replace('YOUR_API', `127.0.0.1:${api.port}`).replace('YOUR_PAGES', pages)
    const { stdout } = await runProgram(
      ['print', 'nginx', '--port', new URL(server.url).port],
      ['env', `PUBLIC_URL=${origin}`, 'TRUSTED_PROXIES=127.0.0.1'],
    )
    const [site = ''] = stdout.split(/# To let apps call an API of yours.*\n/)
    const proxy = await startNginx([programAt('nginx')], `${site.slice(0, site.lastIndexOf('}'))}${guard}\n}\n`, origin)
    const inProduction = { ...app, development: app.production, redirectUri: app.liveRedirectUri }
    const code = await authorize(server.url, await signIn(server.url, user), inProduction, 'site:read')
    const { accessToken } = (await exchange(server.url, inProduction, code)).body
    const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await proxy.fetch(`/your-api/${path}`, { headers })
      return [answer.status, answer.headers.get('www-authenticate') === null ? '' : 'challenged', await answer.text()]
    }
    const authorization = `Bearer ${accessToken}`
    const [status, , told] = await ask('sites/17/pages', { authorization })
    expect([status, JSON.parse(String(told)).told]).toEqual([200, [app.id, '42', 'site:read']])
    for (const path of ['sites/18/pages', 'sites/none/pages']) {
      expect(await ask(path, { authorization })).toEqual([403, '', '<h1>Not with this app</h1>'])
    }
    expect(await ask('sites/17/pages')).toEqual([401, 'challenged', '<h1>Not with this app</h1>'])
    // What is no ID of the builder does not reach the check, nor the API.
    for (const path of [
      '17%26resource%3Dsite%3A17/pages',
      '18%2F..%2F17/pages',
      '18/../17/pages',
      '17/../18/pages',
      '18/%2e%2e/17/pages',
      '17/a/%2e%2e/%2e%2e/18/pages',
      '/17/pages',
      '17%2f/pages',
      '%31%37/pages',
      '17',
      '17?/pages',
    ]) {
      const sent = await sendLines(origin, accessToken, 'Connection: close', `/your-api/sites/${path}`)
      expect([path, sent.slice(0, 12)]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 40[34]$/)])
    }
    expect(await sendLines(origin, accessToken, 'Connection: close', '/your-api/sites/17/a?b=../18/')).toContain(
      ' 200 OK',
    )
    await proxy.stop()
    await endWorld(world)
    await api.stop(true)
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
