import { expect } from 'bun:test'
import { createCredential, revokeCredential } from '../../../src/operations/credentials/credentials.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addEndpoint } from '../../../src/operations/webhooks/endpoints.ts'
import { hiddenFields, plainBrowser, signedInBrowser } from '../../pages/support/plain-browser.ts'
import { askPostgres } from '../../support/beside.ts'
import { type Answer, call, codeOf } from '../../support/call.ts'
import { eventually, together } from '../../support/crash.ts'
import { needs } from '../../support/needs.ts'
import { operator, trace } from '../../support/operator.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { type RunningServer, startServer } from '../../support/running-server.ts'
import { type Receiver, startReceiver } from '../../support/webhook-receiver.ts'
import { networks } from '../../support/webhook-world.ts'
import {
  addUser,
  type AppInWorld,
  appToken,
  authorize,
  createWorld,
  exchange,
  refresh,
  signIn,
  type World,
} from '../../support/world.ts'
import { createWebhookSender } from '../../../src/runtime/webhook-sender.ts'

const { afterAll, afterEach, beforeAll, beforeEach, test } = needs('postgres', 'openssl')
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(() => receiver.behave(() => 200))
afterAll(async () => await receiver.down())

type Two = World & { readonly other: RunningServer; readonly database: string }

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end()
})

/** Two servers, each a process of its own, on one database. Without sticky routing: each test goes from one to the other. */
const twoServers = async (name: string, env: Readonly<Record<string, string>> = {}): Promise<Two> => {
  const database = await postgresDatabase(name)
  const options = { database, env, ownProcess: true }
  const world = await createWorld(options)
  const other = await startServer(options)
  ending.push(async () => await world.platform.database.close(), world.server.stop, other.stop)
  return { ...world, other, database }
}

const from = (address: string) => ({ 'X-Forwarded-For': address })
const issue = async ({ url }: RunningServer, { development }: AppInWorld, address: string, clientSecret?: string) =>
  await call(url, 'POST', '/token', {
    body: { ...development, ...(clientSecret !== undefined && { clientSecret }), scope: 'site:read' },
    headers: from(address),
  })
const post = async ({ url }: RunningServer, { email, password }: { email: string; password: string }) =>
  await call(url, 'POST', '~/api/session', { body: { email, password }, headers: from('203.0.113.9') })
const isLimited = (answer: Answer) => answer.status === 429
const limits = { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.1,::1', RATE_LIMIT_TOKEN: '10000/600' }

test('refused credentials are counted by both servers together, for this client at this address alone', async () => {
  const { server, other, app } = await twoServers('failed', { ...limits, RATE_LIMIT_FAILED: '6/600' })
  const wrong = async (at: RunningServer) => codeOf(await issue(at, app, '203.0.113.9', 'wrong'))
  for (const at of [server, other, server, other, server, other]) expect(await wrong(at)).toBe('invalid_client')
  for (const at of [server, other]) {
    const answer = await eventually(async () => await issue(at, app, '203.0.113.9'), isLimited)
    expect(codeOf(answer)).toBe('rate_limited')
    expect((await issue(at, app, '203.0.113.10')).status).toBe(200)
  }
})

test('failed sign-ins are counted by both servers together, and those that succeed by none', async () => {
  const { server, other, user, platform } = await twoServers('sign-ins', { ...limits, RATE_LIMIT_SIGN_IN: '4/600' })
  const honest = await addUser(platform)
  for (let tried = 0; tried < 12; tried += 1) {
    expect((await post(tried % 2 === 0 ? server : other, honest)).status).toBe(200)
  }
  for (const at of [server, other, server, other]) {
    expect(codeOf(await post(at, { ...user, password: 'wrong guess' }))).toBe('invalid_login')
  }
  for (const at of [server, other]) {
    const seen = await eventually(async () => await post(at, user), isLimited)
    expect(codeOf(seen)).toBe('rate_limited')
    expect((await post(at, honest)).status).toBe(200)
  }
})

test('who signs in at one server consents at another, and codes and tokens go from one to the other', async () => {
  const { server, other, user, app } = await twoServers('sticky')
  const session = await signIn(server.url, user)
  const code = await authorize(other.url, session, app)
  const first = await exchange(server.url, app, code)
  expect(first.status).toBe(200)
  const second = await refresh(other.url, app, first.body.refreshToken)
  expect(second.status).toBe(200)
  const { accessToken } = second.body
  expect((await call(server.url, 'GET', '/resources', { token: accessToken, query: { kind: 'site' } })).status).toBe(
    200,
  )
  const token = await appToken(other.url, app.development)
  expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
  const revoked = await call(server.url, 'POST', '/oauth/revoke', { body: { ...app.development, token: accessToken } })
  expect(revoked.status).toBe(200)
  expect(codeOf(await call(other.url, 'GET', '/resources', { token: accessToken, query: { kind: 'site' } }))).toBe(
    'invalid_token',
  )
  const ended = await call(server.url, 'DELETE', '~/api/session', { token: session })
  expect(ended.status).toBeLessThan(300)
  expect((await call(other.url, 'POST', '/oauth/authorize', { token: session, body: {} })).status).toBe(401)
})

test('a page of one server acts at another: the visit, the form, and that it acts once', async () => {
  const { server, other, user, app, database } = await twoServers('pages')
  const there = await signedInBrowser(server.url, user)
  const here = plainBrowser(other.url)
  for (const [name, value] of there.cookies) here.cookies.set(name, value)
  const path = `/console/${app.slug}/credentials`
  const fields = {
    ...hiddenFields((await there.get(`${path}/new`)).text, path),
    environment: 'development',
    label: 'laptop',
  }
  expect((await here.follow(await here.post(path, fields))).text).toMatch(/aps_dev_\w+/)
  const again = await there.post(path, fields)
  expect(again.text).toContain('See the credentials')
  expect(again.text).not.toMatch(/aps_dev_\w+/)
  expect(await askPostgres(database, "SELECT 1 FROM credentials WHERE label = 'laptop'", [])).toHaveLength(1)
  expect((await here.get(path)).text).toContain('laptop')
})

test('the same idempotency key at two servers at once has one effect, and later the same answer from both', async () => {
  const { server, other, app } = await twoServers('idempotent')
  const token = await appToken(server.url, app.development)
  const create = async (at: RunningServer, key: string, version: string) =>
    await call(at.url, 'POST', '/versions', { token, body: { version }, headers: { 'Idempotency-Key': key } })
  for (let round = 0; round < 20; round += 1) {
    const version = `1.0.${round}`
    const answers = await together(6, async (index) => await create(index % 2 === 0 ? server : other, version, version))
    const done = answers.filter(({ status }) => status === 201)
    expect(answers.filter(({ status }) => status !== 201).map(codeOf)).toEqual(
      Array.from({ length: 6 - done.length }, () => 'idempotency_in_progress'),
    )
    expect(done.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    const [first] = done
    for (const at of [server, other]) {
      const again = await create(at, version, version)
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
      expect(again.body).toEqual(first?.body)
    }
    for (const answer of done) expect(answer.body).toEqual(first?.body)
    expect(codeOf(await create(other, version, '9.9.9'))).toBe('idempotency_key_reused')
  }
  const versions = (await call(other.url, 'GET', '/versions', { token })).body.data
  expect(versions.map(({ revision }: { readonly revision: number }) => revision)).toEqual(versions.map(() => 1))
})

const envOf = () => ({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority })

/** Two servers that may call the receiver, with endpoints of an app for the events of new secrets. */
const delivering = async (name: string, paths: readonly string[]) => {
  const two = await twoServers(name, envOf())
  const { app, database } = two
  const allowed = networks('127.0.0.0/8')
  const webhooks = createWebhookSender({ resolve: async () => [], allowed, timeoutMs: 5_000 })
  const platform: Platform = { ...two.platform, webhooks }
  for (const path of paths) {
    const url = receiver.url.replace('/hooks', path)
    const input = { slug: app.slug, environment: 'development', url, kinds: ['credential.created'] } as const
    await addEndpoint(platform, trace, operator, input)
  }
  return {
    ...two,
    /** Causes an event, and gives the ID that it names. */
    tell: async () => {
      const wanted = { slug: app.slug, environment: 'development', label: null } as const
      const { id } = await createCredential(platform, trace, operator, wanted)
      await revokeCredential(platform, trace, operator, id)
      return id
    },
    leases: async () =>
      await askPostgres<{ left: number }>(
        database,
        "SELECT held_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left FROM leases WHERE name LIKE 'webhooks %'",
        [],
      ),
    endLeases: async () =>
      await askPostgres(database, "UPDATE leases SET held_until = 0 WHERE name LIKE 'webhooks %'", []),
    toldAt: (path: string) =>
      receiver.received
        .filter((each) => each.path === path)
        .map(({ body }): string => JSON.parse(body).data.credentialId),
  }
}
const least = (count: number) => (told: readonly string[]) => told.length >= count

test('two servers send each event once to each endpoint, in order', async () => {
  const paths = ['/once/1', '/once/2', '/once/3', '/once/4']
  const { tell, toldAt, leases } = await delivering('once', paths)
  receiver.behave((_call, response) => {
    setTimeout(() => response.writeHead(200).end(), 300) // so that both servers look while a call is under way
    return 'by itself'
  })
  const told: string[] = []
  for (let event = 0; event < 12; event += 1) told.push(await tell())
  for (const path of paths) {
    await eventually(async () => toldAt(path), least(told.length))
    expect(toldAt(path)).toEqual(told)
  }
  await eventually(leases, (held) => held.length === 0)
  for (const path of paths) expect(toldAt(path)).toEqual(told)
})

test('another server goes on with the webhooks of one that was killed, at most a minute later, and in order', async () => {
  const { server, other, tell, toldAt, leases, endLeases } = await delivering('killed', ['/killed'])
  await other.stop()
  receiver.behave(() => 'by itself') // the first server waits for an answer
  const first = await tell()
  await eventually(async () => toldAt('/killed'), least(1))
  const next = await startServer({ database: server.database, env: envOf(), ownProcess: true })
  ending.push(next.stop)
  const second = await tell()
  receiver.behave(() => 200)
  await server.kill()
  const [lease, ...others] = await leases()
  expect(others).toEqual([])
  expect(lease?.left).toBeGreaterThan(0)
  expect(lease?.left).toBeLessThan(59_000)
  await Bun.sleep(2_500)
  expect(toldAt('/killed')).toEqual([first]) // the lease keeps others away
  await endLeases() // as time does
  await eventually(async () => toldAt('/killed'), least(3))
  expect(toldAt('/killed')).toEqual([first, first, second])
})

test('another server goes on at once with the webhooks of one that was stopped', async () => {
  const { server, other, tell, toldAt } = await delivering('stopped', ['/stopped'])
  await other.stop()
  const first = await tell()
  await eventually(async () => toldAt('/stopped'), least(1))
  const next = await startServer({ database: server.database, env: envOf(), ownProcess: true })
  ending.push(next.stop)
  await server.stop()
  const second = await tell()
  await eventually(async () => toldAt('/stopped'), least(2))
  expect(toldAt('/stopped')).toEqual([first, second])
})

test('an endpoint that could not be called because of the database is called once that answers again', async () => {
  const { server, other, database, tell, toldAt } = await delivering('hidden', ['/hidden'])
  await other.stop()
  await askPostgres(database, 'ALTER TABLE webhook_secrets RENAME TO hidden', [])
  const first = await tell()
  await eventually(async () => server.log().includes('"event":"webhook.failed"'), Boolean)
  await askPostgres(database, 'ALTER TABLE hidden RENAME TO webhook_secrets', [])
  await eventually(async () => toldAt('/hidden'), least(1))
  expect(toldAt('/hidden')).toEqual([first])
})

test('an endpoint that asks for a pause is called by no server until it ends', async () => {
  const { tell, toldAt, leases, endLeases } = await delivering('paused', ['/paused'])
  receiver.behave(() => ({ status: 503, headers: { 'Retry-After': '3600' } }))
  const first = await tell()
  const second = await tell()
  await eventually(async () => toldAt('/paused'), least(1))
  const [lease] = await eventually(leases, (held) => held.some(({ left }) => left > 60_000))
  expect(lease?.left).toBeGreaterThan(3_000_000)
  await Bun.sleep(2_500)
  expect(toldAt('/paused')).toEqual([first])
  await endLeases()
  await eventually(async () => toldAt('/paused'), least(2))
  expect(toldAt('/paused')).toEqual([first, second])
})
