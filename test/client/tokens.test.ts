import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createAppTokens } from '../../src/client/tokens.ts'
import type { UserSession, UserTokenSet } from '../../src/client/index.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, createWorld, endWorld, refresh, type World } from '../support/world.ts'
import { clientOf, consent } from './support/client.ts'
import { type FlakyProxy, startFlakyProxy } from './support/flaky-proxy.ts'

let world: World
let proxy: FlakyProxy
beforeAll(async () => void (world = await createWorld()))
afterAll(async () => await endWorld(world))
beforeEach(async () => void (proxy = await startFlakyProxy(world.server.url)))
afterEach(() => proxy.close())

const sent = (route: string) => proxy.passed.filter(({ method, path }) => `${method} ${path}` === route)
const refreshes = () => sent('POST /oauth/token').filter(({ body }) => body.includes('refresh_token'))

/** A user who consented, and all tokens stored for them. */
const authorized = async (onTokens?: (tokens: UserTokenSet) => void | Promise<void>) => {
  const stored: UserTokenSet[] = []
  const client = clientOf(world, proxy.url)
  const keep = async (tokens: UserTokenSet) => {
    await onTokens?.(tokens)
    stored.push(tokens)
  }
  const started = await client.startAuthorization({
    redirectUri: world.app.redirectUri,
    scope: 'profile:read site:read',
  })
  const user = await client.finishAuthorization(await consent(world, started.url), started, keep)
  /** The same user in a later process, with an expired access token. */
  const later = (tokens: UserTokenSet): UserSession =>
    client.user({ ...tokens, accessTokenExpiresAt: new Date(0).toISOString() }, keep)
  return { client, user, stored, later, first: user.tokens() }
}

test('concurrent calls request one app token, which is kept', async () => {
  const client = clientOf(world, proxy.url)
  await Promise.all(Array.from({ length: 20 }, async () => await client.me()))
  await client.me()
  expect(sent('POST /token').length).toBe(1)
  expect(sent('GET /me').length).toBe(21)
})

/** Tokens of the real server, with a clock that the test controls. */
const onOwnClock = () => {
  const clock = { now: Date.now() }
  const { endpoints } = clientOf(world, proxy.url)
  const issue = async () => await endpoints.issueAppToken({ ...world.app.development, scope: 'site:read' })
  return { clock, tokens: createAppTokens(issue, () => clock.now) }
}

test('an app token is renewed a minute before it expires', async () => {
  const { clock, tokens } = onOwnClock()
  const first = await tokens.get()
  expect(first.expiresAt.getTime()).toBe(clock.now + 3_600_000)
  clock.now += 3_539_999
  expect(await tokens.get()).toBe(first)
  clock.now += 1
  expect((await tokens.get()).accessToken).not.toBe(first.accessToken)
})

test('if renewal fails, the old app token is used until it expires', async () => {
  const { clock, tokens } = onOwnClock()
  const first = await tokens.get()
  const refused = Array.from({ length: 10 }, () => ({ status: 503 }))
  proxy.next('POST /token', ...refused)
  clock.now += 3_599_999
  expect(await tokens.get()).toBe(first)
  clock.now += 1
  expect((await tokens.get().catch((error) => error)).status).toBe(503)
  expect((await tokens.get()).accessToken).not.toBe(first.accessToken)
})

test('an app token that was revoked early is replaced, and the call is repeated', async () => {
  const app = await addApp(world.platform, world.user)
  const { platform } = world
  const other = { slug: app.slug, environment: 'development', label: null } as const
  const { id, clientId, clientSecret } = await createCredential(platform, trace, operator, other)
  const client = clientOf(world, proxy.url, { clientId, clientSecret })
  await client.me()
  await client.revoke((await client.appToken()).accessToken)
  expect((await client.versions.create({ version: '1.0.0' })).version).toBe('1.0.0')
  await revokeCredential(platform, trace, operator, id)
  // The secret is revoked too: one more try, then the refusal.
  expect((await client.me().catch((error) => error)).code).toBe('invalid_client')
})

test('concurrent calls with an expired access token cause one refresh', async () => {
  const { first, later, stored } = await authorized()
  const user = later(first)
  await Promise.all(Array.from({ length: 20 }, async () => await user.me()))
  expect(refreshes().length).toBe(1)
  expect(stored.length).toBe(2)
  expect(stored[1]?.refreshToken).not.toBe(first.refreshToken)
  expect(user.tokens()).toEqual(stored[1] ?? first)
})

test('all who refresh with one token get the same new tokens: at once, after another, and in another process', async () => {
  const { first, later, stored } = await authorized()
  const users = Array.from({ length: 8 }, () => later(first))
  expect(new Set(await Promise.all(users.map(async (user) => (await user.me()).id)))).toEqual(new Set([world.user.id]))
  expect((await later(first).me()).id).toBe(world.user.id)
  const elsewhere = clientOf(world).user({ ...first, accessTokenExpiresAt: new Date(0).toISOString() }, () => undefined)
  expect((await elsewhere.me()).id).toBe(world.user.id)
  expect(new Set(stored.slice(1).map(({ refreshToken }) => refreshToken)).size).toBe(1)
  expect(elsewhere.tokens().refreshToken).toBe(stored[1]?.refreshToken ?? '')
  expect((await later(stored[1] ?? first).me()).id).toBe(world.user.id) // and the grant goes on
})

test('if a refresh fails for now, the old access token is used until it expires', async () => {
  const { first, later } = await authorized()
  const soon = { ...first, accessTokenExpiresAt: new Date(Date.now() + 30_000).toISOString() }
  const renewable = { ...soon, issuedAt: new Date(Date.now() - 3_570_000).toISOString() }
  const user = clientOf(world, proxy.url).user(renewable, () => undefined)
  const lost = Array.from({ length: 5 }, () => 'request lost' as const)
  const busy = [{ status: 429, headers: { 'retry-after': '3600' } }]
  for (const mishaps of [lost, lost.map(() => ({ status: 503 })), busy]) {
    proxy.next('POST /oauth/token', ...mishaps)
    expect((await user.me()).id).toBe(world.user.id)
  }
  const ended = later(first)
  proxy.next('POST /oauth/token', ...Array.from({ length: 5 }, () => ({ status: 503 })))
  expect((await ended.me().catch((error) => error)).status).toBe(503)
})

test('a refresh whose answer is lost repeatedly returns the same tokens', async () => {
  const { first, later, stored } = await authorized()
  proxy.next('POST /oauth/token', 'answer lost', 'answer lost', { status: 503 })
  expect((await later(first).me()).id).toBe(world.user.id)
  expect(refreshes().length).toBe(4)
  expect(new Set(refreshes().map(({ headers, body }) => headers.get('idempotency-key') + body)).size).toBe(1)
  expect(stored.length).toBe(2)
})

test('an incomplete refresh is continued by the next call under the same key', async () => {
  const { first, later } = await authorized()
  const user = later(first)
  proxy.next('POST /oauth/token', ...Array.from({ length: 5 }, () => 'answer lost' as const))
  expect((await user.me().catch((error) => error)).code).toBe('unreachable')
  expect((await user.me()).id).toBe(world.user.id)
  expect(new Set(refreshes().map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1)
})

test('a refresh with an unreadable answer is also continued under the same key', async () => {
  const { first, later } = await authorized()
  const user = later(first)
  proxy.next('POST /oauth/token', 'answer blanked')
  expect((await user.me().catch((error) => error)).code).toBe('unexpected_answer')
  expect((await user.me()).id).toBe(world.user.id) // under another key this would be reuse, and the grant would end
})

test('new tokens are stored before they are used, and none is lost if storing fails', async () => {
  let isFull = false
  const { first, later, stored } = await authorized(() => {
    if (isFull) throw new Error('disk full')
  })
  const user = later(first)
  isFull = true
  const calls = sent('GET /oauth/me').length
  expect((await user.me().catch((error) => error)).message).toBe('disk full')
  expect((await user.me().catch((error) => error)).message).toBe('disk full')
  expect(sent('GET /oauth/me').length).toBe(calls)
  expect(user.tokens().refreshToken).toBe(first.refreshToken)
  isFull = false
  expect((await user.me()).id).toBe(world.user.id)
  expect(refreshes().length).toBe(1)
  expect(stored.length).toBe(2)
})

test('an abort ends the wait of one caller, not the refresh that others wait for', async () => {
  const gate = Promise.withResolvers<void>()
  let isSlow = false
  const { first, later } = await authorized(async () => await (isSlow ? gate.promise : undefined))
  const user = later(first)
  isSlow = true
  const impatient = new AbortController()
  const gone = user.me({ signal: impatient.signal }).catch((error) => error.message)
  const patient = user.me()
  impatient.abort(new Error('gone'))
  expect(await gone).toBe('gone')
  gate.resolve()
  expect((await patient).id).toBe(world.user.id)
  expect(refreshes().length).toBe(1)
})

test('a call after the end of the grant fails with invalid_grant', async () => {
  const { user, client, first } = await authorized()
  await user.me()
  await client.revoke(first.accessToken)
  expect((await user.me().catch((error) => error)).code).toBe('invalid_grant')
})

test('tokens that were stored as JSON can be used again', async () => {
  const { stored, later } = await authorized()
  const kept = JSON.parse(JSON.stringify(stored.at(-1)))
  const user = later(kept)
  const sites = await Array.fromAsync(user.allResources({ kind: 'site' }))
  expect(sites.map(({ slug }) => slug)).toEqual(['my-site'])
  const { refreshToken } = user.tokens()
  await user.revoke()
  expect((await refresh(world.server.url, world.app, refreshToken)).status).toBe(401)
})
