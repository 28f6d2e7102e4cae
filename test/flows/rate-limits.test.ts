import { describe, expect, test } from 'bun:test'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { auditEvents } from '../support/audit-events.ts'
import { type Answer, call } from '../support/call.ts'
import {
  addEmbeddedInstall,
  embedOrigin,
  exchangeInstallCode,
  installEmbedded,
  openInstall,
} from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { worldsOfTests } from '../support/world-of-file.ts'
import {
  addApp,
  addUser,
  appToken,
  authorizeBody,
  exchange,
  authorize,
  type Login,
  signIn,
  type World,
} from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

/** Limits that only these tests reach, unless they set them lower; behind a proxy, so that addresses can be chosen. */
const roomy = {
  RATE_LIMIT: 'on',
  TRUSTED_PROXIES: '127.0.0.1,::1',
  RATE_LIMIT_TOKEN: '1000/600',
  RATE_LIMIT_FAILED: '1000/600',
  RATE_LIMIT_AUTHORIZE: '1000/600',
  RATE_LIMIT_READ: '1000/600',
  RATE_LIMIT_WRITE: '1000/600',
  RATE_LIMIT_SIGN_IN: '1000/600',
  RATE_LIMIT_ADDRESS: '100000/600',
}
/** A client ID that does not exist. */
const madeUp = (digit: number) => `apc_dev_${String(digit).repeat(22)}`

const newWorld = worldsOfTests()
const limited = async (limits: Readonly<Record<string, string>>) => await newWorld({ env: { ...roomy, ...limits } })

const from = (address: string) => ({ 'X-Forwarded-For': address })
const expectLimited = (answer: Answer): void => {
  expectRefusal(answer, 'rate_limited')
  const wait = Number(answer.headers.get('retry-after'))
  expect(Number.isInteger(wait) && wait >= 1 && wait <= 600).toBe(true)
  expect(answer.headers.get('ratelimit')).toMatch(/^"[a-z_]+";r=0;t=\d+$/)
}

describe('a limit', () => {
  test('is in every answer, counts down, and refuses with the time to wait', async () => {
    const { server, app } = await limited({ RATE_LIMIT_READ: '3/600' })
    const token = await appToken(server.url, app.development)
    for (const left of [2, 1, 0]) {
      const answer = await call(server.url, 'GET', '/me', { token })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-policy')).toBe('"read";q=3;w=600')
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"read";r=${left};t=\\d+$`))
      expect(answer.headers.get('retry-after')).toBeNull()
    }
    const refused = await call(server.url, 'GET', '/me', { token })
    expectLimited(refused)
    expect(refused.headers.get('ratelimit-policy')).toBe('"read";q=3;w=600')
  })

  test('recovers with time', async () => {
    const { server, app } = await limited({ RATE_LIMIT_READ: '1/1' })
    const token = await appToken(server.url, app.development)
    expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
    await Bun.sleep(1_100)
    expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
  })

  test('is in no answer if limits are off', async () => {
    const { server } = await limited({ RATE_LIMIT: 'off' })
    const { headers } = await call(server.url, 'GET', '/me')
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  })
})

describe('the key of each limit', () => {
  test('reads and writes by app and environment, for all its tokens, counted separately', async () => {
    const world = await limited({ RATE_LIMIT_READ: '2/600', RATE_LIMIT_WRITE: '1/600' })
    const { url } = world.server
    const other = await addApp(world.platform, world.user)
    const [one, two, live, theirs] = [
      await appToken(url, world.app.development),
      await appToken(url, world.app.development),
      await appToken(url, world.app.production),
      await appToken(url, other.development),
    ]
    await call(url, 'GET', '/me', { token: one })
    await call(url, 'GET', '/me', { token: two })
    expectLimited(await call(url, 'GET', '/me', { token: one }))
    expectLimited(await call(url, 'GET', '/versions', { token: two }))
    for (const token of [live, theirs]) expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
    expect((await call(url, 'POST', '/versions', { token: one, body: { version: '1.0.0' } })).status).toBe(201)
    expectLimited(await call(url, 'POST', '/versions', { token: one, body: { version: '1.0.1' } }))
    expectLimited(await call(url, 'POST', '/versions/rollback', { token: one, body: {} }))
    expect((await call(url, 'POST', '/versions', { token: theirs, body: { version: '1.0.0' } })).status).toBe(201)
    expectRefusal(await call(url, 'GET', '/me', { token: 'apat_x' }), 'invalid_token')
  })

  test('calls of pages in frames by install, so that nobody who opens an app uses up the share of its backend', async () => {
    const world = await limited({ RATE_LIMIT_READ: '2/600', RATE_LIMIT_TOKEN: '2/600', RATE_LIMIT_FAILED: '2/600' })
    const { server, platform, app } = world
    const { clientId } = app.production
    const origin = embedOrigin(app)
    const open = async (user: Login, install: string) =>
      await openInstall(platform, await signIn(server.url, user), install)
    const start = async (code: string) => await exchangeInstallCode(server.url, { clientId, code, origin })
    const me = async (token: string) =>
      await call(server.url, 'GET', '/oauth/me', { token, headers: { Origin: origin } })
    const [ada, bob] = [await addUser(platform), await addUser(platform)]
    const place = await addEmbeddedInstall(platform, app, ada)
    const other = await installEmbedded(platform, app, bob)
    const [one, again] = [await start(await open(ada, place)), await start(await open(ada, place))]
    const tokens = [one.body.sessionToken, again.body.sessionToken]
    for (const token of tokens) expect((await me(token)).status).toBe(200)
    for (const token of tokens) expectLimited(await me(token))
    expectLimited(await start('made up'))

    const backend = await appToken(server.url, app.production)
    for (const status of [200, 200])
      expect((await call(server.url, 'GET', '/me', { token: backend })).status).toBe(status)
    const theirs = await call(server.url, 'POST', '~/api/embedded/session', {
      body: { clientId, code: await open(bob, other) },
      headers: { Origin: origin, ...from('198.51.100.7') },
    })
    expect((await me(theirs.body.sessionToken)).status).toBe(200)
  })

  test('token calls by client ID and address, so that others cannot lock an app out', async () => {
    const world = await limited({ RATE_LIMIT_TOKEN: '3/600' })
    const { url } = world.server
    const issue = async (address: string, clientSecret = world.app.development.clientSecret) =>
      await call(url, 'POST', '/token', {
        body: { ...world.app.development, clientSecret, scope: 'site:read' },
        headers: from(address),
      })
    for (let count = 0; count < 3; count += 1) expectRefusal(await issue('203.0.113.9', 'wrong'), 'invalid_client')
    expectLimited(await issue('203.0.113.9', 'wrong'))
    expectLimited(await issue('203.0.113.9'))
    expect((await issue('203.0.113.10')).status).toBe(200)
    const body = { ...world.app.production, scope: 'site:read' }
    expect((await call(url, 'POST', '/token', { body, headers: from('203.0.113.9') })).status).toBe(200)
    const revoke = { ...world.app.development, token: 'x' }
    expectLimited(await call(url, 'POST', '/oauth/revoke', { body: revoke, headers: from('203.0.113.9') }))
    const refresh = { ...world.app.development, grantType: 'refresh_token', refreshToken: 'x' }
    expectLimited(await call(url, 'POST', '/oauth/token', { body: refresh, headers: from('203.0.113.9') }))
  })

  test('refused credentials by client ID and address, while right ones from other addresses are accepted', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '2/600' })
    const { url } = world.server
    const issue = async (address: string, clientSecret: string) =>
      await call(url, 'POST', '/token', {
        body: { ...world.app.development, clientSecret, scope: 'site:read' },
        headers: from(address),
      })
    const { clientSecret } = world.app.development
    expect((await issue('203.0.113.9', clientSecret)).status).toBe(200)
    expectRefusal(await issue('203.0.113.9', 'wrong'), 'invalid_client')
    expectRefusal(await issue('203.0.113.9', 'wrong'), 'invalid_client')
    expectLimited(await issue('203.0.113.9', 'wrong'))
    expectLimited(await issue('203.0.113.9', clientSecret))
    expect((await issue('203.0.113.10', clientSecret)).status).toBe(200)
  })

  test('made-up clients together by address, while real clients of that address are accepted', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '2/600' })
    const { url } = world.server
    const { clientSecret } = world.app.development
    const issue = async (clientId: string, secret = clientSecret) =>
      await call(url, 'POST', '/token', {
        body: { clientId, clientSecret: secret, scope: 'site:read' },
        headers: from('203.0.113.9'),
      })
    const attempts = async () => (await auditEvents(world.platform)).length
    expectRefusal(await issue(madeUp(1)), 'invalid_client')
    expectRefusal(await issue(madeUp(2)), 'invalid_client')
    expectLimited(await issue(madeUp(3)))
    const before = await attempts()
    expectLimited(await issue(madeUp(4)))
    expectLimited(await issue('not even a client ID'))
    expect(await attempts()).toBe(before)
    expect((await issue(world.app.development.clientId)).status).toBe(200)
    expectRefusal(await issue(world.app.development.clientId, 'wrong'), 'invalid_client')
  })

  test('no calls with a session, which belongs to no app', async () => {
    const world = await limited({ RATE_LIMIT_READ: '1/600' })
    const { url } = world.server
    for (const token of [await signIn(url, world.user), await signIn(url, world.user)]) {
      expectRefusal(await call(url, 'GET', '/me', { token }), 'token_type_not_allowed')
    }
  })

  test('refused bearer tokens by address, while live ones from the same address are accepted', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '2/600' })
    const { url } = world.server
    const token = await appToken(url, world.app.development)
    const guess = async (address: string) =>
      await call(url, 'GET', '/me', { token: 'apat_guess', headers: from(address) })
    expectRefusal(await guess('203.0.113.9'), 'invalid_token')
    expectRefusal(await guess('203.0.113.9'), 'invalid_token')
    expectLimited(await guess('203.0.113.9'))
    expectRefusal(await guess('203.0.113.10'), 'invalid_token')
    expect((await call(url, 'GET', '/me', { token, headers: from('203.0.113.9') })).status).toBe(200)
  })

  test('authorizations by user', async () => {
    const world = await limited({ RATE_LIMIT_AUTHORIZE: '2/600' })
    const { url } = world.server
    const [one, two] = [await signIn(url, world.user), await signIn(url, world.user)]
    const ask = async (token: string) =>
      await call(url, 'POST', '/oauth/authorize', { token, body: authorizeBody(world.app) })
    expect((await ask(one)).status).toBe(200)
    expect((await ask(two)).status).toBe(200)
    expectLimited(await ask(one))
    expectLimited(await ask(two))
  })

  test('every call by address, for IPv6 by /64, before any credential is checked', async () => {
    const world = await limited({ RATE_LIMIT_ADDRESS: '3/600' })
    const { url } = world.server
    const knock = async (address: string, path = '/me') => await call(url, 'GET', path, { headers: from(address) })
    for (const path of ['/me', '/nothing', '~/healthz'])
      expect((await knock('2001:db8:1:2::1', path)).status).not.toBe(429)
    expectLimited(await knock('2001:db8:1:2:ffff::2'))
    expectRefusal(await knock('2001:db8:1:3::1'), 'invalid_token')
    expectRefusal(
      await call(url, 'POST', '/token', {
        headers: { ...from('2001:db8:1:2::1'), 'X-Service-Api-Version': 'x' },
        body: {},
      }),
      'api_version_unsupported',
    )
  })

  test('failed sign-ins by account and address, so that an attacker does not lock the owner out', async () => {
    const world = await limited({ RATE_LIMIT_SIGN_IN: '3/600' })
    const { url } = world.server
    const { email, password } = world.user
    const tryIn = async (address: string, login: object = {}) =>
      await call(url, 'POST', '~/api/session', { body: { email, password, ...login }, headers: from(address) })
    for (let count = 0; count < 3; count += 1)
      expectRefusal(await tryIn('203.0.113.9', { password: 'wrong' }), 'invalid_login')
    expectLimited(await tryIn('203.0.113.9', { password: 'wrong' }))
    expectLimited(await tryIn('203.0.113.9'))
    expectLimited(await tryIn('203.0.113.9', { email: email.toUpperCase() }))
    for (let count = 0; count < 5; count += 1) expect((await tryIn('198.51.100.7')).status).toBe(200)
    expectRefusal(await tryIn('203.0.113.9', { email: 'someone@example.com' }), 'invalid_login')
  })
})

const knock = async (world: World, address: string) =>
  await call(world.server.url, 'GET', '/me', { headers: from(address) })

test('X-Forwarded-For counts only behind a configured proxy, and only its last untrusted address', async () => {
  const open = await limited({ TRUSTED_PROXIES: '192.0.2.1', RATE_LIMIT_ADDRESS: '2/600' })
  await knock(open, '203.0.113.1')
  await knock(open, '203.0.113.2')
  expectLimited(await knock(open, '203.0.113.3'))

  const proxied = await limited({ RATE_LIMIT_ADDRESS: '2/600' })
  await knock(proxied, '198.51.100.1, 203.0.113.1')
  await knock(proxied, '198.51.100.2, 203.0.113.1')
  expectLimited(await knock(proxied, '198.51.100.3, 203.0.113.1'))
  expectRefusal(await knock(proxied, '203.0.113.1, 198.51.100.3'), 'invalid_token')
})

test('a limited call changes nothing, and is not stored under its idempotency key', async () => {
  const world = await limited({ RATE_LIMIT_WRITE: '1/1' })
  const { url } = world.server
  const token = await appToken(url, world.app.development)
  const create = async (version: string) =>
    await call(url, 'POST', '/versions', { token, body: { version }, headers: { 'Idempotency-Key': version } })
  const answers = await Promise.all(['1.0.0', '2.0.0', '3.0.0'].map(create))
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
  const created = answers.filter(({ status }) => status === 201).length
  expect((await call(url, 'GET', '/versions', { token })).body.data.length).toBe(created)
  const refused = ['1.0.0', '2.0.0', '3.0.0'].find((_, index) => answers[index]?.status === 429)
  await Bun.sleep(1_100)
  const later = await create(refused ?? '')
  expect([later.status, later.headers.get('idempotent-replayed')]).toEqual([201, null])
})

test('limited calls do not spend a code', async () => {
  const world = await limited({ RATE_LIMIT_TOKEN: '1/1' })
  const { url } = world.server
  const session = await signIn(url, world.user)
  const codes = [await authorize(url, session, world.app), await authorize(url, session, world.app)] as const
  expect((await exchange(url, world.app, codes[0])).status).toBe(200)
  expectRefusal(await exchange(url, world.app, codes[1]), 'rate_limited')
  await Bun.sleep(1_100)
  expect((await exchange(url, world.app, codes[1])).status).toBe(200)
})

const newKeyIn = async ({ platform }: World) => {
  const input = { name: 'Builder', rights: ['users:read'], networks: [], expiresInDays: null }
  return (await createServiceKey(platform, trace, operator, input)).secret
}
const usersSeenBy = async ({ server }: World, token: string, address: string) =>
  await call(server.url, 'GET', '~/api/management/users', { token, headers: from(address) })

describe('service keys', () => {
  test('are limited each by itself, at each address', async () => {
    const world = await limited({ RATE_LIMIT_MANAGEMENT: '2/600' })
    const [one, other] = [await newKeyIn(world), await newKeyIn(world)]
    for (const token of [one, other]) {
      for (const status of [200, 200]) expect((await usersSeenBy(world, token, '198.51.100.7')).status).toBe(status)
      expectLimited(await usersSeenBy(world, token, '198.51.100.7'))
    }
    expect((await usersSeenBy(world, one, '198.51.100.8')).status).toBe(200)
  })

  test('that were never issued are limited by address, which does not stop a right one', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '2/600' })
    const right = await newKeyIn(world)
    for (const digit of ['1', '2']) {
      expectRefusal(await usersSeenBy(world, `apok_${digit.repeat(71)}`, '198.51.100.7'), 'invalid_token')
    }
    expectLimited(await usersSeenBy(world, `apok_${'3'.repeat(71)}`, '198.51.100.7'))
    expect((await usersSeenBy(world, right, '198.51.100.7')).status).toBe(200)
  })
})

test("checks of an app's tokens at the builder's API leave the app its own share of calls", async () => {
  const { server, app } = await limited({ RATE_LIMIT_READ: '2/600' })
  const token = await appToken(server.url, app.development)
  const check = async () =>
    await call(server.url, 'GET', '~/oauth/check?scope=site:read&environment=development', { token })
  for (const status of [204, 204]) expect((await check()).status).toBe(status)
  const refused = await check()
  expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable']) // as all errors below /oauth/
  expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
})
