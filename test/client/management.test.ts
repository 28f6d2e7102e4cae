import { afterAll, expect, test } from 'bun:test'
import { createManagementClient, type ManagementClientOptions, type ResourceLine } from '../../src/client/index.ts'
import { version } from '../../package.json'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { auditEvents } from '../support/audit-events.ts'
import { readWholeApi } from '../support/api-documents.ts'
import type { Json } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { addApp, addUser, appToken, installApp } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { clientOf, quick } from './support/client.ts'
import { startFlakyProxy } from './support/flaky-proxy.ts'

const world = await worldOfFile({
  env: { SIGN_IN: 'handover', SIGN_IN_URL: 'https://builder.example/apps/sign-in' },
})
const { platform, app } = world
const newKey = async (rights: readonly string[]) =>
  (await createServiceKey(platform, trace, operator, { name: 'Builder', rights, networks: [], expiresInDays: null }))
    .secret
const serviceKey = await newKey(serviceRights)
const proxy = await startFlakyProxy(world.server.url)
afterAll(() => proxy.close())

const clientWith = (more: Partial<ManagementClientOptions> = {}) =>
  createManagementClient({ url: proxy.url, serviceKey, retry: quick, ...more })
const builder = clientWith()
/** For calls that break off, which the proxy does not expect. */
const direct = clientWith({ url: world.server.url })
const codeOf = async (work: Promise<unknown>) =>
  await work.then(
    () => 'no error',
    ({ code }) => code,
  )

const ada = { email: 'ada@builder.example', name: 'Ada Builder' }
const bakery = { ownerExternalId: 'u/1', name: 'Bakery', slug: 'bakery', status: 'published' } as const
const siteOf = (number: number): ResourceLine => ({
  kind: 'site',
  externalId: `i-${number}`,
  ownerExternalId: 'u/1',
  name: `Site ${number}`,
  slug: `site-${number}`,
  status: 'draft',
})

test('users are created, read, listed, exported, and erased by the own IDs of the builder', async () => {
  const statuses: number[] = []
  const onAnswer = ({ status }: { readonly status: number }) => void statuses.push(status)
  const created = await builder.users.put('u/1', ada, { onAnswer })
  expect(created).toMatchObject({ externalId: 'u/1', ...ada, pictureUrl: null, status: 'active', hasPassword: false })
  expect(await builder.users.put('u/1', ada, { onAnswer })).toEqual(created)
  expect(statuses).toEqual([201, 200])
  expect(await builder.users.get('u/1')).toEqual(created)
  expect((await builder.users.list({ email: ada.email })).data).toEqual([created])
  expect((await builder.users.export('u/1')).user).toMatchObject({ email: ada.email })
  expect(await builder.users.endAccess('u/1', { only: 'sessions' })).toEqual({ sessions: 0 })
  await builder.users.put('gone', { email: 'gone@builder.example', name: 'Gone' })
  expect(await builder.users.erase('gone')).toMatchObject({ resources: 0, installs: 0 })
  expect(await codeOf(builder.users.get('gone'))).toBe('record_not_found')
})

test('websites are created, read, listed and removed', async () => {
  const created = await builder.resources.put('site', 's/1', bakery)
  expect(created).toMatchObject({ kind: 'site', externalId: 's/1', ...bakery })
  expect(await builder.resources.get('site', 's/1')).toEqual(created)
  expect(await Array.fromAsync(builder.resources.all('site'))).toContainEqual(created)
  expect(await builder.resources.remove('site', 's/1')).toEqual({ installs: 0 })
  expect(await codeOf(builder.resources.get('site', 's/1'))).toBe('record_not_found')
})

test('apps of a user are listed, handed over and deleted, so that the person can be erased', async () => {
  for (const name of ['leaves', 'stays']) await builder.users.put(name, { email: `${name}@builder.example`, name })
  const { email } = await builder.users.get('leaves')
  const [kept, gone] = [
    await addApp(platform, { email, id: '', password: '' }),
    await addApp(platform, { email, id: '', password: '' }),
  ]
  expect((await builder.apps.ofUser('leaves')).data.map(({ slug }) => slug)).toEqual([kept.slug, gone.slug].toSorted())
  expect(await codeOf(builder.users.erase('leaves'))).toBe('owns_apps')
  expect(await builder.apps.transfer(kept.slug, 'stays')).toMatchObject({ id: kept.id, ownerExternalId: 'stays' })
  expect(await builder.apps.transfer(kept.slug, 'stays')).toMatchObject({ ownerExternalId: 'stays' })
  expect(await builder.apps.delete(gone.slug)).toMatchObject({ status: 'suspended', deletedAt: expect.any(String) })
  expect(await codeOf(builder.apps.delete(gone.slug))).toBe('record_not_found')
  expect(await codeOf(builder.apps.transfer(kept.slug, 'nobody'))).toBe('record_not_found')
  expect((await builder.apps.ofUser('leaves')).data).toEqual([])
  await builder.users.erase('leaves')
  // An operator's apps are out of reach.
  const { id, email: address } = await builder.users.get('stays')
  expect(address).toBe('stays@builder.example')
  await setOperator(platform, trace, operator, { userId: id, isOperator: true })
  expect(await codeOf(builder.apps.delete(kept.slug))).toBe('operator_protected')
  expect(await codeOf(builder.apps.transfer(kept.slug, 'u/1'))).toBe('operator_protected')
})

test('scopes are added, read, listed, given, taken back and retired', async () => {
  const statuses: number[] = []
  const onAnswer = ({ status }: { readonly status: number }) => void statuses.push(status)
  const stated = { for: 'both', text: 'List your orders' } as const
  const created = await builder.scopes.put('orders:read', stated, { onAnswer })
  expect(created).toMatchObject({ name: 'orders:read', ...stated, restricted: true, retiredAt: null })
  expect(await builder.scopes.put('orders:read', stated, { onAnswer })).toEqual(created)
  expect(statuses).toEqual([201, 200])
  expect(await codeOf(builder.scopes.put('orders:read', { ...stated, for: 'user' }))).toBe('invalid_request')
  expect(await codeOf(builder.scopes.put('site:write', stated))).toBe('invalid_request')
  expect(await builder.scopes.get('orders:read')).toEqual(created)
  expect(await Array.fromAsync(builder.scopes.all())).toEqual([created])
  expect(await builder.scopes.give('orders:read', app.slug)).toMatchObject({ app: app.slug, given: ['orders:read'] })
  expect((await builder.scopes.take('orders:read', app.slug)).given).toEqual([])
  expect(await codeOf(builder.scopes.get('no:such'))).toBe('record_not_found')
  expect(await codeOf(builder.scopes.give('orders:read', 'nobody'))).toBe('record_not_found')
  expect(await codeOf(builder.scopes.retire('no:such'))).toBe('record_not_found')
  const retired = await builder.scopes.retire('orders:read')
  expect(retired).toMatchObject({ apps: 0, installs: 0, grants: 0, endedGrants: 0 })
  expect(retired.scope.retiredAt).toBeString()
  expect(await codeOf(builder.scopes.put('orders:read', stated))).toBe('invalid_request')
})

test('webhook endpoints of the builder are listed, pinged, and asked for their attempts', async () => {
  const id = `whk_${'1'.repeat(32)}`
  const now = platform.clock.now()
  const row = { id, appId: null, environment: 'production', url: 'https://builder.invalid/hooks', kinds: '*' } as const
  const unused = { status: 'disabled', reason: 'by_hand', failingSince: null, createdAt: now, updatedAt: now } as const
  await platform.database.transaction(async (q) => await q.webhookEndpoints.insert({ ...row, ...unused }))
  expect((await builder.webhooks.list()).data).toMatchObject([{ id, status: 'disabled' }])
  const { eventId, delivered } = await builder.webhooks.ping(id)
  expect(delivered).toBeFalse() // it has no secret
  expect(await Array.fromAsync(builder.webhooks.allAttempts(id))).toMatchObject([{ eventId, kind: 'ping' }])
  expect(await builder.webhooks.resend(id, { failed: true })).toEqual({ id, resent: 0 })
  expect(await codeOf(builder.webhooks.ping(`whk_${'2'.repeat(32)}`))).toBe('record_not_found')
})

const pages = () => proxy.passed.filter(({ path }) => path.startsWith('/api/management/resources/site?')).length

test('a list of several pages is read page by page, only as far as the loop goes', async () => {
  const lines = Array.from({ length: 230 }, (_, number) => siteOf(number))
  expect(await builder.resources.import(lines)).toEqual({ created: 230, updated: 0, removed: 0, installs: 0 })
  const before = pages()
  for await (const { name } of builder.resources.all('site')) if (name === 'Site 0') break
  expect(pages()).toBe(before + 1)
  const all = await Array.fromAsync(builder.resources.all('site'))
  expect(all.filter(({ externalId }) => externalId?.startsWith('i-'))).toHaveLength(230)
  expect(pages()).toBe(before + 4)
})

test('users are imported from any source too', async () => {
  const lines = Array.from({ length: 120 }, (_, n) => ({
    externalId: `l${n}`,
    email: `l${n}@b.example`,
    name: `L ${n}`,
  }))
  expect(await builder.users.import(lines)).toEqual({ created: 120, updated: 0, unchanged: 0 })
  expect(await builder.users.import(() => lines.map((line) => `${JSON.stringify(line)}\n`))).toMatchObject({
    unchanged: 120,
  })
})

test('an import takes records, text and bytes from any source, and prunes', async () => {
  async function* records() {
    for (const number of [1, 2]) yield siteOf(number)
  }
  expect(await builder.resources.import(records(), { prune: true })).toMatchObject({ created: 0, removed: 228 })
  const text = [3, 4].map((number) => `${JSON.stringify(siteOf(number))}\n`)
  expect(await builder.resources.import(text)).toMatchObject({ created: 2 })
  const stream = new Blob([JSON.stringify(siteOf(5))]).stream()
  expect(await builder.resources.import(stream)).toMatchObject({ created: 1 })
  const mixed = [siteOf(6), new TextEncoder().encode(text.join('')), siteOf(7)]
  expect(await builder.resources.import(mixed)).toMatchObject({ created: 2, updated: 0 })
})

test('an import of many megabytes is sent while its source is read', async () => {
  let made = 0
  let early = 0
  function* many() {
    for (; made < 20_000; made += 1) yield siteOf(made)
  }
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      early = made
      const body = await request.text()
      const counts = { created: body.split('\n').length - 1, updated: 0, removed: 0, installs: 0 }
      return Response.json(counts, { headers: { 'X-Request-Id': 'req_1' } })
    },
  })
  const elsewhere = clientWith({ url: `http://127.0.0.1:${server.port}` })
  expect(await elsewhere.resources.import(many())).toMatchObject({ created: 20_000 })
  expect(early).toBeLessThan(20_000)
  await server.stop(true)
})

test('an import with a wrong line changes nothing and names it; what the source throws is thrown', async () => {
  const before = await Array.fromAsync(builder.resources.all('site'))
  const wrong = builder.resources.import([siteOf(8), { ...siteOf(9), slug: 'Not a slug' }])
  expect(await wrong.catch(({ code, details }) => ({ code, lines: JSON.stringify(details) }))).toMatchObject({
    code: 'invalid_request',
    lines: expect.stringContaining('2'),
  })
  const fault = new Error('the disk is gone')
  async function* broken() {
    yield siteOf(8)
    throw fault
  }
  expect(await direct.resources.import(broken()).catch((error: unknown) => error)).toBe(fault)
  expect(await Array.fromAsync(builder.resources.all('site'))).toEqual(before)
})

test('an import is repeated if its lines can be read again, and otherwise sent once', async () => {
  const route = 'POST /api/management/resources/import'
  proxy.next(route, 'answer lost')
  expect(await builder.resources.import([siteOf(1)])).toMatchObject({ created: 0 })
  proxy.next(route, 'answer lost', { status: 503 })
  const again = async function* () {
    yield siteOf(1)
  }
  expect(await builder.resources.import(again)).toMatchObject({ created: 0 })
  proxy.next(route, 'answer lost')
  expect(await codeOf(builder.resources.import(again()))).toBe('unreachable')
})

test('installs are listed and decided', async () => {
  const user = await addUser(platform)
  const id = await installApp(platform, app, user)
  expect((await builder.installs.list({ approval: 'approved' })).data.map((row) => row.id)).toContain(id)
  expect(await Array.fromAsync(builder.installs.all())).toContainEqual(expect.objectContaining({ id, app: app.slug }))
  expect(await builder.installs.approve(id)).toMatchObject({ id, approval: 'approved' })
  expect(await codeOf(builder.installs.reject(id))).toBe('version_not_eligible')
  expect(await builder.installs.deactivate(id)).toMatchObject({ id, state: 'inactive' })
})

const redirectOf = async (path: string) =>
  (await fetch(new URL(path, world.server.url), { redirect: 'manual' })).headers.get('location') ?? ''
/** A browser that must sign in is sent to the builder with this request. */
const leave = async () => new URL(await redirectOf(await redirectOf('/account'))).searchParams.get('request') ?? ''

test('a browser that came with a request is signed in, or refused with a reason', async () => {
  const { redirectTo } = await builder.signIn.accept(await leave(), 'u/1')
  expect(redirectTo).toContain('/sign-in/complete?request=apsr_')
  expect((await builder.signIn.reject(await leave(), 'No apps.')).redirectTo).toContain('/sign-in/complete?')
})

test('a request to sign in that does not exist is refused', async () => {
  for (const answer of [builder.signIn.accept('apsr_x', 'u/1'), builder.signIn.reject('apsr_x', 'No apps.')]) {
    expect(await codeOf(answer)).toBe('record_not_found')
  }
})

test('the audit log is read to its end, and on from any position', async () => {
  const events = await Array.fromAsync(builder.audit.all())
  expect(events.map(({ action }) => action)).toContain('user.erased')
  const middle = events.at(-3)?.position ?? 0
  const later = await Array.fromAsync(builder.audit.all({ after: middle }))
  expect(later.slice(0, 2)).toEqual(events.slice(-2))
  expect((await builder.audit.read({ limit: 1 })).data).toEqual(events.slice(0, 1))
})

test('tokens of any app are introspected, and an app introspects its own', async () => {
  const token = await appToken(world.server.url, app.development)
  expect(await builder.introspect(token)).toMatchObject({ active: true, app_id: app.id, environment: 'development' })
  expect(await builder.introspect('apat_x')).toEqual({ active: false })
  const own = await clientOf(world).introspect(token)
  expect(own).toMatchObject({ active: true, sub: app.development.clientId })
  expect(own).not.toHaveProperty('app_id')
  const stranger = clientWith({ serviceKey: await newKey(['users:read']) })
  expect(await codeOf(stranger.introspect(token))).toBe('insufficient_scope')
})

test('every call is retried after a lost answer or 503, and says who calls', async () => {
  proxy.next('PUT /api/management/users/twice', 'answer lost', { status: 503 })
  const user = { email: 'twice@builder.example', name: 'Twice' }
  const { name } = await clientWith({ userAgent: 'bakery/1.0' }).users.put('twice', user)
  expect(name).toBe('Twice')
  const sent = proxy.passed.filter(({ path }) => path === '/api/management/users/twice')
  expect(sent.map(({ headers }) => headers.get('user-agent'))).toEqual(
    Array.from({ length: 3 }, () => `bakery/1.0 app-platform-client/${version}`),
  )
  proxy.next('DELETE /api/management/users/twice', 'answer lost')
  expect(await builder.users.erase('twice').catch((error: unknown) => error)).toMatchObject({ mayBeDone: true })
  expect(await codeOf(builder.users.erase('twice'))).toBe('record_not_found')
})

test('an abort and a timeout end a call', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'))
  expect(await builder.users.get('u/1', { signal: stopped }).catch(({ message }) => message)).toBe('stopped')
  const silent = Bun.serve({ port: 0, fetch: async () => await new Promise<Response>(() => undefined) })
  const waiting = clientWith({ url: `http://127.0.0.1:${silent.port}`, retry: { repeats: 0 } })
  expect(await codeOf(waiting.users.get('u/1', { timeoutMs: 50 }))).toBe('timed_out')
  expect(await codeOf(waiting.resources.import([siteOf(1)], { timeoutMs: 50 }))).toBe('timed_out')
  await silent.stop(true)
})

test('a wrong key and a missing right are refused, and no error or print shows a key', async () => {
  const wrong = clientWith({ serviceKey: `${serviceKey.slice(0, -1)}${serviceKey.endsWith('x') ? 'y' : 'x'}` })
  expect(await codeOf(wrong.users.get('u/1'))).toBe('invalid_token')
  const poor = clientWith({ serviceKey: await newKey(['users:read']) })
  const refused = await poor.users.put('u/1', ada).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'right_missing', status: 403, requestId: expect.stringMatching(/^req_/) })
  for (const shown of [builder, refused]) {
    expect(Bun.inspect(shown, { depth: 9 }) + JSON.stringify(shown)).not.toContain('apok_')
  }
})

test('an ID that a URL would drop is refused before it names another record', async () => {
  for (const id of ['', '.', '..']) {
    expect(await codeOf(builder.users.erase(id))).toBe('invalid_request')
    expect(await codeOf(builder.resources.remove('site', id))).toBe('invalid_request')
  }
})

test('a command of operators runs once, and is not sent again after a lost answer', async () => {
  const input = { name: 'Deploys', rights: ['operate'], networks: ['127.0.0.1'], expiresInDays: 1 }
  const { secret, id } = await createServiceKey(platform, trace, operator, input)
  const { commands } = clientWith({ serviceKey: secret })
  const { exitCode, stdout } = await commands.run({ arguments: ['scope', 'list', '--json'] })
  expect([exitCode, Object.keys(JSON.parse(stdout))]).toEqual([0, ['data']])
  proxy.next('POST /api/management/commands', 'answer lost')
  const words = ['scope', 'add', 'once:read', '--for', 'user', '--text', 'Once']
  expect(await codeOf(commands.run({ arguments: words }))).toBe('unreachable')
  const ran = (await auditEvents(platform)).filter(({ actorId, action }) => actorId === id && action === 'command.run')
  expect(ran.length).toBe(2)
})

test('every endpoint of the management API has a call', async () => {
  const { paths } = await readWholeApi(world.server.url)
  const described = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    path.startsWith('/api/management') ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : [],
  )
  const called = new Set(proxy.passed.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`))
  const uncalled = described.filter((route) => {
    const pattern = new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return ![...called].some((one) => pattern.test(one))
  })
  expect(described.length).toBeGreaterThan(15)
  expect(uncalled).toEqual([])
})
