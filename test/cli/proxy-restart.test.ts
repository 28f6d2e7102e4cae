import { afterAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { freePort } from '../clients/support/free-port.ts'
import { needs, programAt } from '../support/needs.ts'
import { patience, rounds } from '../support/proof.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, appToken, type AppInWorld } from '../support/world.ts'
import { openAsOperator } from '../support/operator.ts'
import { type PrintedProxy, startCaddy, startNginx } from './support/printed-proxy.ts'
import { run } from './support/run.ts'

// What clients see behind a proxy with the printed configuration while the server restarts.

setDefaultTimeout(patience)

const proxies = {
  nginx: { start: startNginx, scheme: 'https://localhost' },
  caddy: { start: startCaddy, scheme: 'http://127.0.0.1' },
} as const

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => void (await Promise.all(ends.map(async (end) => await end()))))

/** The proxy with its printed configuration, in front of this port. */
const startPrinted = async (name: keyof typeof proxies, port: number, origin: string): Promise<PrintedProxy> => {
  const { start } = proxies[name]
  const env = { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' }
  const { stdout } = await run(['print', name, '--port', String(port)], { env, cwd: temporaryFolder() })
  const proxy = await start([programAt(name)], stdout, origin)
  ends.push(proxy.stop)
  return proxy
}

const start = async (name: keyof typeof proxies) => {
  const origin = `${proxies[name].scheme}:${freePort()}`
  const port = freePort()
  const env = { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' }
  const serve = async (database?: string): Promise<RunningServer> => {
    const server = await startServer({ env, port, ...(database === undefined ? {} : { database }) })
    ends.push(server.kill)
    return server
  }
  const server = await serve()
  return { server, proxy: await startPrinted(name, port, origin), again: async () => await serve(server.database) }
}

const json = { 'Content-Type': 'application/json', 'X-Service-Api-Version': '2026-08' }

needs('nginx', 'openssl').test(
  'during a restart, nginx answers 503 with the error envelope for programs and a page for people',
  async () => {
    const { server, proxy, again } = await start('nginx')
    const own = await proxy.fetch('/api/app-platform/me', { headers: json })
    expect(own.status).toBe(401)
    expect(await own.json()).toMatchObject({ error: { code: 'invalid_token' } })
    await server.stop()
    const asked = async (path: string, init: RequestInit = {}) => {
      const answer = await proxy.fetch(path, init)
      const names = ['retry-after', 'content-type', 'x-service-api-version', 'x-request-id']
      const [wait, type, version, id] = names.map((name) => answer.headers.get(name))
      return { facts: [answer.status, wait, type, version], id, text: await answer.text() }
    }
    for (const path of ['/api/app-platform/me', '/api/app-platform/token']) {
      const { facts, id, text } = await asked(path, { method: path.endsWith('token') ? 'POST' : 'GET', headers: json })
      expect(facts).toEqual([503, '2', 'application/json', '2026-08'])
      expect(id ?? '').toMatch(/^req_[0-9a-f]{32}$/)
      expect(JSON.parse(text)).toEqual({
        error: { code: 'unavailable', message: 'The service cannot take this request now.', requestId: id },
      })
    }
    const form = await asked('/oauth/token', { method: 'POST', body: new URLSearchParams({ grant_type: 'x' }) })
    expect(form.facts).toEqual([503, '2', 'application/json', null])
    expect(JSON.parse(form.text)).toMatchObject({ error: 'temporarily_unavailable' })
    for (const path of ['/sign-in', '/apiary', '/oauth/authorize?client_id=a']) {
      const page = await asked(path)
      expect(page.facts).toEqual([503, '2', 'text/html; charset=utf-8', null])
      expect(page.text).toContain('<h1>Back in a moment</h1>')
    }
    await again()
    expect((await proxy.fetch('/sign-in')).status).toBe(200)
  },
)

const total = rounds(200)
needs('caddy').test(`of ${total} requests behind Caddy, half of them POSTs, a restart loses none`, async () => {
  const { server, proxy, again } = await start('caddy')
  const platform = await openAsOperator(server.database)
  const app: AppInWorld = await addApp(platform, await addUser(platform))
  await platform.database.close()
  const token = await appToken(server.url, app.development)
  const body = JSON.stringify({ ...app.development, scope: 'site:read' })
  const ask = async (index: number): Promise<number> => {
    const isPost = index % 2 === 0
    const path = `/api/app-platform/${isPost ? 'token' : 'me'}`
    const init = isPost ? { method: 'POST', body, headers: json } : {}
    const answer = await proxy.fetch(path, { headers: { ...json, Authorization: `Bearer ${token}` }, ...init })
    await answer.arrayBuffer()
    return answer.status
  }
  let next = 0
  let restarted: Promise<unknown> | null = null
  const statuses: number[] = []
  const client = async () => {
    while (next < total) {
      next += 1
      if (next === Math.floor(total / 3)) restarted = server.stop().then(again)
      statuses.push(await ask(next))
    }
  }
  await Promise.all(Array.from({ length: 32 }, client))
  await restarted
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect(statuses).toHaveLength(total)
})

describe.each(['nginx', 'caddy'] as const)('%s', (name) => {
  needs(name, 'openssl').test('gives the metrics to nobody, whatever way the path is written', async () => {
    const { server, proxy } = await start(name)
    expect(await proxy.statusOf('/healthz')).toBe(200)
    const paths = ['/metrics', '/x/../metrics', '//metrics', '/./metrics', '/x\\..\\metrics', '\\metrics', '/\\metrics']
    for (const path of [
      ...paths,
      '/%2e/metrics',
      '/x/%2e%2e/metrics',
      '/x%5c..%5cmetrics',
      '/metrics#',
      '/metrics?',
      '/m\tetrics',
    ]) {
      expect([path, [400, 404].includes(await proxy.statusOf(path))]).toEqual([path, true])
    }
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200)
    const long = new URLSearchParams({ client_id: 'x', state: '{"a":"'.padEnd(2048, 'ü"') }).toString()
    expect(
      await proxy.statusOf(`/sign-in?${new URLSearchParams({ return_to: `/oauth/authorize?${long}` }).toString()}`),
    ).toBeLessThan(500)
    for (const header of ['X-Forwarded-For', 'Forwarded']) {
      expect((await fetch(`${server.url}/metrics`, { headers: { [header]: 'for=192.0.2.1' } })).status).toBe(404)
    }
  })

  needs(name, 'openssl').test('never repeats a POST that may have been carried out', async () => {
    const posts: string[] = []
    const upstream: Server = createServer((connection) => {
      connection.on('error', () => undefined)
      connection.on('data', (bytes) => {
        const text = String(bytes)
        if (text.startsWith('GET ')) return void connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        posts.push(text)
        connection.destroy()
      })
    })
    const listening = Promise.withResolvers<void>()
    const port = freePort()
    upstream.listen(port, '127.0.0.1', () => listening.resolve())
    await listening.promise
    const proxy = await startPrinted(name, port, `${proxies[name].scheme}:${freePort()}`)
    // Over a kept connection and over new ones.
    for (let round = 1; round <= 3; round += 1) {
      expect((await proxy.fetch('/healthz')).status).toBe(200)
      const { status } = await proxy.fetch('/api/app-platform/token', { method: 'POST', body: '{}', headers: json })
      expect([status >= 502, posts.length]).toEqual([true, round])
    }
    upstream.close()
  })
})
