import { describe, expect, test } from 'bun:test'
import { createRequire } from 'node:module'
import { call } from '../support/call.ts'
import { guide, marked, namesOf } from '../support/documents.ts'
import { onPostgres } from '../support/postgres.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, authorize, exchange, exchangeBody, grantTokens, refresh, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server

const metrics = async () => (await send(url, 'GET', '~/metrics')).text
/** The sum over all series of a name whose labels contain the text. */
const sumOf = (text: string, name: string, labels = ''): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)

const seriesOf = (text: string) => text.split('\n').filter((line) => !line.startsWith('#')).length

describe('monitoring', () => {
  test('learns that the server is alive and ready, without a version header or a credential', async () => {
    expect(await call(url, 'GET', '~/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } })
    expect(await call(url, 'GET', '~/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  })

  test('gets the error envelope for a wrong method', async () => {
    for (const path of ['~/healthz', '~/readyz', '~/metrics']) {
      expectRefusal(await send(url, 'POST', path, { body: '{}' }), 'method_not_allowed')
    }
  })

  test('gets metrics in the text format of Prometheus', async () => {
    const answer = await send(url, 'GET', '~/metrics')
    expect(answer.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    const lines = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    for (const line of lines)
      expect(line).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[^{}]*\})? (?:[0-9.e+-]+|NaN|[+-]?Inf)(?: \d+)?$/)
  })

  test('gets every metric that the guide to monitoring lists, and no other', async () => {
    const text = await metrics()
    const served = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name).toSorted()
    const listed = namesOf(marked(await guide('operate/monitoring'), 'metrics'))
    expect(served).toEqual(listed.toSorted())
  })

  test('gets metrics of the process, the store and the disk', async () => {
    await appToken(url, world.app.development)
    const connection = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(url).port),
      socket: { data: () => undefined },
    })
    const text = await metrics()
    connection.end()
    const value = (name: string) => sumOf(text, name)
    expect(value('app_platform_open_connections')).toBeGreaterThanOrEqual(2)
    expect(value('app_platform_process_open_fds')).toBeGreaterThan(value('app_platform_open_connections'))
    expect(value('app_platform_process_max_fds')).toBeGreaterThan(value('app_platform_process_open_fds'))
    if (!onPostgres) expect(value('app_platform_database_free_disk_bytes')).toBeGreaterThan(0)
    if (!onPostgres) expect(value('app_platform_database_sync_duration_seconds_count')).toBeGreaterThan(0)
    expect(value('app_platform_database_writable')).toBe(1)
    expect(value('app_platform_condition')).toBe(0) // one host alone is not expected to have a standby
    expect(Math.abs(value('app_platform_clock_offset_seconds'))).toBeLessThan(5)
  })

  test('counts tokens issued, refused and reused by kind', async () => {
    const before = await metrics()
    const session = await signIn(url, world.user)
    await appToken(url, world.app.development)
    await call(url, 'POST', '/token', { body: { ...world.app.development, clientSecret: 'x', scope: 'site:read' } })
    const first = (await exchange(url, world.app, await authorize(url, session, world.app))).body
    const second = (await refresh(url, world.app, first.refreshToken)).body
    await refresh(url, world.app, second.refreshToken)
    await refresh(url, world.app, first.refreshToken)
    const after = await metrics()
    const names = [...after.matchAll(/^# TYPE (\S*(?:issued|refused|reused)\S*) counter$/gm)].map(
      ([, name = '']) => name,
    )
    expect(names.length).toBe(3)
    for (const name of names) expect([name, sumOf(after, name) > sumOf(before, name)]).toEqual([name, true])
  })

  test('gets no label that callers choose', async () => {
    const canary = 'kanarienvogel'
    await send(url, 'GET', `/${canary}`)
    await send(url, 'GET', `~/${canary}`)
    await send(url, 'GET', `/me?${canary}=1`, { token: canary, headers: { 'X-Request-Id': canary } })
    await send(url, 'POST', '/token', {
      body: JSON.stringify({ clientId: canary, clientSecret: canary, scope: canary }),
    })
    const { accessToken, refreshToken, grantId } = await grantTokens(world)
    const text = await metrics()
    const never = [
      canary,
      accessToken,
      refreshToken,
      grantId,
      world.user.id,
      world.user.email,
      world.app.development.clientId,
      world.app.id,
    ]
    for (const value of never) expect(text).not.toContain(value)
  })

  test('gets no series for routes that do not exist', async () => {
    await send(url, 'GET', '/nothing-0')
    const before = seriesOf(await metrics())
    for (let count = 1; count < 30; count += 1) await send(url, 'GET', `/nothing-${count}`)
    expect(seriesOf(await metrics())).toBe(before)
  })
})

test('the log has one line of JSON per request, with IDs and never with values', async () => {
  const session = await signIn(url, world.user)
  const code = await authorize(url, session, world.app)
  const verifier = exchangeBody(world.app, code).codeVerifier
  const tokens = (await exchange(url, world.app, code)).body
  const me = await call(url, 'GET', '/oauth/me', { token: tokens.accessToken })
  const requestId = me.headers.get('x-request-id') ?? ''
  while (!world.server.log().includes(requestId)) await Bun.sleep(20)
  const lines = world.server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const [told, ...more] = lines.filter((line) => line.requestId === requestId)
  expect(more).toEqual([])
  expect(told).toMatchObject({
    method: 'GET',
    route: '/api/app-platform/oauth/me',
    status: 200,
    userId: world.user.id,
    appId: world.app.id,
    clientId: world.app.development.clientId,
    grantId: tokens.grantId,
  })
  for (const secret of [
    session,
    code,
    verifier,
    tokens.accessToken,
    tokens.refreshToken,
    world.user.password,
    world.user.email,
  ]) {
    expect(world.server.log()).not.toContain(secret)
  }
})

test('the files of the page are those of the installed package', async () => {
  const path = createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js')
  expect((await send(url, 'GET', '~/docs/swagger-ui-bundle.js')).text).toBe(await Bun.file(path).text())
})
