import { expect } from 'bun:test'
import { call } from '../support/call.ts'
import { needs, programAt } from '../support/needs.ts'
import { runProgram } from '../support/run-program.ts'
import { appToken, createWorld, endWorld, exchange, authorize, signIn, type World } from '../support/world.ts'
import { type PrintedProxy, startCaddy, startNginx } from '../cli/support/printed-proxy.ts'
import { freePort } from './support/free-port.ts'

/** An API of the builder that trusts the headers of the proxy before it. */
const startApi = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ headers }) =>
      Response.json(['x-app-id', 'x-user-external-id', 'x-scope'].map((name) => headers.get(name) ?? '')),
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

type Start = (site: string, origin: string) => Promise<PrintedProxy>

/** Rules that hold for every proxy that guards an API. */
const expectGuarded = async (proxy: 'nginx' | 'caddy', start: Start, origin: string) => {
  const api = startApi()
  const world = await createWorld({ env: { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' } })
  const { app, user, server } = world
  const guard = await start(await guardedSite(proxy, world, origin, api.port ?? 0), origin)
  const ask = async (token: string | null, more: Readonly<Record<string, string>> = {}) => {
    const headers = { ...more, ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await guard.fetch('/your-api/things', { headers })
    return { status: answer.status, text: await answer.text() }
  }
  const inProduction = { ...app, development: app.production, redirectUri: app.liveRedirectUri }
  const granted = async (scope: string) => {
    const code = await authorize(server.url, await signIn(server.url, user), inProduction, scope)
    return (await exchange(server.url, inProduction, code)).body.accessToken
  }

  const live = await granted('site:read')
  expect(JSON.parse((await ask(live)).text)).toEqual([app.id, '', 'site:read'])
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
