import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createEndpoints } from '../../src/client/endpoints.ts'
import { createTransport } from '../../src/client/transport.ts'
import { countRows } from '../support/expired-rows.ts'
import { authorizeBody, createWorld, endWorld, signIn, type World } from '../support/world.ts'
import { clientOf, consent, quick } from './support/client.ts'
import { type FlakyProxy, startFlakyProxy } from './support/flaky-proxy.ts'

let world: World
let proxy: FlakyProxy
beforeAll(async () => void (world = await createWorld()))
afterAll(async () => await endWorld(world))
beforeEach(async () => void (proxy = await startFlakyProxy(world.server.url)))
afterEach(() => proxy.close())

const sent = (route: string) => proxy.passed.filter(({ method, path }) => `${method} ${path}` === route)
const keysOf = (route: string) => new Set(sent(route).map(({ headers }) => headers.get('idempotency-key')))
const failure = async (work: Promise<unknown>) =>
  await work.then(
    () => 'done',
    (error) => error.code,
  )

test('a version whose answer is lost repeatedly is created once', async () => {
  proxy.next('POST /versions', 'answer lost', 'request lost', { status: 502 }, 'answer lost')
  const version = await clientOf(world, proxy.url).versions.create({ version: '1.0.0' })
  expect(version).toMatchObject({ version: '1.0.0', revision: 1 })
  expect(sent('POST /versions').length).toBe(5)
  expect(keysOf('POST /versions').size).toBe(1)
  expect(await countRows(world.server.database, 'versions')).toEqual({ versions: 1 })
})

test('a rollback whose answer is lost happens once', async () => {
  const client = clientOf(world, proxy.url)
  for (const version of ['2.0.0', '2.1.0', '2.2.0']) await client.versions.create({ version })
  proxy.next('POST /versions/rollback', 'answer lost')
  const { version } = await client.versions.rollBack({})
  expect(version.version).toBe('2.1.0') // two rollbacks would have reached 2.0.0
  expect(await countRows(world.server.database, 'rollbacks')).toEqual({ rollbacks: 1 })
})

test('a removal whose answer is lost may be done, and is never called unknown', async () => {
  const client = clientOf(world, proxy.url)
  const { id } = await client.versions.create({ version: '3.0.0' })
  proxy.next(`DELETE /versions/${id}`, 'answer lost')
  const error = await client.versions.delete(id).catch((reason) => reason)
  expect([error.code, error.mayBeDone]).toEqual(['unreachable', true])
  expect(await failure(client.versions.delete(id))).toBe('version_not_found')
  const other = await client.versions.create({ version: '3.0.1' })
  proxy.next(`DELETE /versions/${other.id}`, 'request lost')
  expect((await client.versions.delete(other.id)).version).toBe('3.0.1')
})

test('what cannot be sent is the fault of the caller, at once, and not of the server', async () => {
  const client = clientOf(world, proxy.url)
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  await client.me()
  const before = proxy.passed.length
  for (const work of [
    async () => await client.versions.create({ version: '3.1.0', manifest: loop }),
    async () => await client.versions.create({ version: '3.1.0', manifest: { size: 1n } }),
    async () => await client.versions.create({ version: '3.1.0' }, { idempotencyKey: 'ключ' }),
  ])
    await expect(work()).rejects.toBeInstanceOf(TypeError)
  await expect(clientOf(world, proxy.url, { userAgent: 'моё/1.0' }).me()).rejects.toBeInstanceOf(TypeError)
  expect(proxy.passed.length).toBe(before)
})

test('every create without an idempotency key gets a new one', async () => {
  const client = clientOf(world, proxy.url)
  await client.versions.create({ version: '4.0.0' })
  await client.versions.create({ version: '4.0.0' })
  expect(keysOf('POST /versions').size).toBe(2)
  await client.versions.create({ version: '4.0.0' }, { idempotencyKey: 'mine' })
  expect(keysOf('POST /versions').has('mine')).toBe(true)
})

test('a request that is not idempotent is never repeated, even if its result is unknown', async () => {
  const client = clientOf(world, proxy.url)
  const session = await signIn(world.server.url, world.user)
  const { accessToken } = await client.appToken()
  for (const mishap of ['answer lost', 'request lost', { status: 503 }] as const) {
    proxy.next('POST /oauth/authorize', mishap)
    const code = await failure(client.endpoints.authorize(authorizeBody(world.app), { bearer: session }))
    expect(code).toBe(mishap === 'answer lost' || mishap === 'request lost' ? 'unreachable' : 'unexpected_answer')
    proxy.next('POST /versions', mishap)
    await failure(client.endpoints.createVersion({ version: '5.0.0' }, { bearer: accessToken }))
    proxy.next('POST /oauth/token', mishap)
    await failure(client.endpoints.issueUserTokens({ grantType: 'refresh_token', ...world.app.development }))
  }
  for (const route of ['POST /oauth/authorize', 'POST /versions', 'POST /oauth/token'])
    expect(sent(route).length).toBe(3)
})

test('reads, revocations and app token requests are repeated after every kind of failure', async () => {
  const client = clientOf(world, proxy.url)
  const failures = ['answer lost', 'request lost', { status: 500 }, { status: 504, body: '<h1>Gateway</h1>' }] as const
  for (const route of ['POST /token', 'GET /me', 'GET /versions', 'POST /oauth/revoke']) proxy.next(route, ...failures)
  expect((await client.me()).appId).toBe(world.app.id)
  expect((await client.versions.list()).data.length).toBeGreaterThan(0)
  await client.revoke((await client.appToken()).accessToken)
  for (const route of ['POST /token', 'GET /me', 'GET /versions', 'POST /oauth/revoke'])
    expect(sent(route).length).toBe(5)
})

test('every request is repeated after 429, but not before the time that the server named', async () => {
  const client = clientOf(world, proxy.url)
  const session = await signIn(world.server.url, world.user)
  proxy.next('POST /oauth/authorize', { status: 429, headers: { 'retry-after': '1' } })
  const startedAt = performance.now()
  await client.endpoints.authorize(authorizeBody(world.app), { bearer: session })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
  expect(sent('POST /oauth/authorize').length).toBe(2)
})

test('a wait longer than the policy allows is reported to the caller', async () => {
  proxy.next('GET /me', { status: 429, headers: { 'retry-after': '3600' } })
  const error = await clientOf(world, proxy.url)
    .me()
    .catch((error) => error)
  expect(error).toMatchObject({ status: 429, retryAfter: 3600 })
  expect(sent('GET /me').length).toBe(1)
})

test('a refusal is not repeated, except 429, 5xx and a request that is still running', async () => {
  const client = clientOf(world, proxy.url)
  expect(await failure(client.versions.rollBack({ version: '99.0.0' }))).toBe('version_not_found')
  expect(await failure(client.versions.create({ version: 'x' }))).toBe('invalid_request')
  for (const route of ['POST /versions', 'POST /versions/rollback']) expect(sent(route).length).toBe(1)
  const running = JSON.stringify({
    error: { code: 'idempotency_in_progress', message: 'Running.', requestId: 'req_x' },
  })
  proxy.next('POST /versions', null, { status: 409, body: running })
  expect((await client.versions.create({ version: '6.0.0' })).version).toBe('6.0.0')
  expect((await client.versions.create({ version: '6.0.1' })).version).toBe('6.0.1')
  expect(sent('POST /versions').length).toBe(4)
})

test('an exchange or refresh is not repeated after the server has forgotten its key', async () => {
  const retry = { ...quick, repeats: 50, giveUpAfterMs: 600_000 }
  const endpoints = createEndpoints(createTransport({ url: proxy.url, retry }))
  proxy.next('POST /oauth/token', { status: 503, headers: { 'retry-after': '46' } })
  const body = { grantType: 'refresh_token', ...world.app.development, refreshToken: 'apur_x' }
  const error = await endpoints.issueUserTokens(body, { idempotencyKey: 'k' }).catch((error) => error)
  expect(error).toMatchObject({ status: 503, retryAfter: 46 })
})

test('a redirect is not followed, because it would forward secrets', async () => {
  const elsewhere = await startFlakyProxy(world.server.url)
  proxy.next('POST /token', { status: 307, headers: { location: `${elsewhere.url}/api/app-platform/token` } })
  expect(await failure(clientOf(world, proxy.url).me())).toBe('unexpected_answer')
  expect(elsewhere.passed).toEqual([])
  elsewhere.close()
})

test('the caller can abort a call while it is sent and while it waits for a repeat', async () => {
  const client = clientOf(world, proxy.url)
  await client.appToken()
  const asked = new AbortController()
  proxy.next('GET /me', { status: 503, headers: { 'retry-after': '30' } })
  const call = client.me({ signal: asked.signal }).catch((error) => error)
  while (sent('GET /me').length === 0) await Bun.sleep(5)
  asked.abort(new Error('enough'))
  expect((await call).message).toBe('enough')
  expect((await client.me({ signal: AbortSignal.abort(new Error('never')) }).catch((error) => error)).message).toBe(
    'never',
  )
  expect(sent('GET /me').length).toBe(1)
})

test('a server that never answers causes a timeout', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const client = clientOf(world, `http://127.0.0.1:${silent.port}`, { timeoutMs: 50, retry: { repeats: 1 } })
  expect(await failure(client.me())).toBe('timed_out')
  silent.stop(true)
})

test('pages are requested one by one, and only when they are needed', async () => {
  const client = clientOf(world, proxy.url)
  for await (const version of client.versions.all({ status: 'draft' })) {
    expect(version.status).toBe('draft')
    break
  }
  expect(proxy.passed.filter(({ path }) => path.startsWith('/versions?')).map(({ path }) => path)).toEqual([
    '/versions?status=draft&limit=100',
  ])
})

test('a whole flow in which every first answer is lost creates one grant and one set of tokens', async () => {
  const before = (await countRows(world.server.database, 'grants'))['grants'] ?? 0
  proxy.next('POST /oauth/token', 'answer lost', null, 'answer lost', 'answer lost')
  const client = clientOf(world, proxy.url)
  const started = await client.startAuthorization({
    redirectUri: world.app.redirectUri,
    scope: 'profile:read site:read',
  })
  const user = await client.finishAuthorization(await consent(world, started.url), started, () => undefined)
  expect((await user.me()).id).toBe(world.user.id)
  expect(await countRows(world.server.database, 'grants')).toEqual({ grants: before + 1 })
  expect(keysOf('POST /oauth/token').size).toBe(1)
})
