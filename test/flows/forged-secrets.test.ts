import { afterAll, beforeAll, expect, test } from 'bun:test'
import { asRowKey, rowKeyLength } from '../../src/domain/identifier.ts'
import { mintSecret, secretKindOf, secretPrefixes } from '../../src/domain/secret.ts'
import { call } from '../support/call.ts'
import {
  addEmbeddedVersion,
  embedOrigin,
  exchangeInstallCode,
  installEmbedded,
  openInstall,
} from '../support/embedding.ts'
import {
  addApp,
  addUser,
  appToken,
  authorize,
  authorizeBody,
  createWorld,
  type Credentials,
  endWorld,
  exchange,
  grantTokens,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { basic, expectError, inBody, introspected, refreshForm, sendForm } from './support/standard.ts'

// A secret names the row that it is kept in, and so do IDs, which are no secrets: everything that takes one must compare the rest
// as well.

let world: World
let url: string
beforeAll(async () => {
  world = await createWorld()
  url = world.server.url
})
afterAll(async () => await endWorld(world))

/** The secret of the same row with other random bits, and the checksum that goes with them. */
const forged = (secret: string): string => {
  const kind = secretKindOf(secret)
  if (kind === null) throw new Error('this is no secret')
  const { length } = secretPrefixes[kind]
  const key = asRowKey(secret.slice(length, length + rowKeyLength))
  return mintSecret({ kind, key, random: crypto.getRandomValues(new Uint8Array(32)) })
}

test('the right row with other random bits is not a client secret', async () => {
  const { development, production } = world.app
  for (const credentials of [development, production]) {
    const forgery: Credentials = { ...credentials, clientSecret: forged(credentials.clientSecret) }
    const asks = { ...forgery, scope: 'site:read' }
    expectRefusal(await call(url, 'POST', '/token', { body: asks }), 'invalid_client')
    const token = await appToken(url, credentials)
    expectRefusal(await call(url, 'POST', '/oauth/revoke', { body: { ...forgery, token } }), 'invalid_client')
    for (const [form, headers] of [
      [{}, basic(forgery)],
      [inBody(forgery), {}],
    ] as const) {
      const issue = { grant_type: 'client_credentials', ...form }
      expectError(await sendForm(url, '/oauth/token', issue, headers), 'invalid_client')
      expectError(await sendForm(url, '/oauth/introspect', { token, ...form }, headers), 'invalid_client')
      expectError(await sendForm(url, '/oauth/revoke', { token, ...form }, headers), 'invalid_client')
    }
    expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
  }
})

test('the right row with other random bits is not an app token', async () => {
  const token = await appToken(url, world.app.development)
  expectRefusal(await call(url, 'GET', '/me', { token: forged(token) }), 'invalid_token')
  expectRefusal(await call(url, 'POST', '/oauth/revoke', { token: forged(token), body: {} }), 'invalid_token')
  await call(url, 'POST', '/oauth/revoke', { body: { ...world.app.development, token: forged(token) } })
  expect(await introspected(world, forged(token))).toEqual({ active: false })
  expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
})

test('the right row with other random bits is not a user access token', async () => {
  const { accessToken: token } = await grantTokens(world)
  expectRefusal(await call(url, 'GET', '/oauth/me', { token: forged(token) }), 'invalid_token')
  expectRefusal(await call(url, 'POST', '/oauth/revoke', { token: forged(token), body: {} }), 'invalid_token')
  await call(url, 'POST', '/oauth/revoke', { body: { ...world.app.development, token: forged(token) } })
  expect(await introspected(world, forged(token))).toEqual({ active: false })
  expect((await call(url, 'GET', '/oauth/me', { token })).status).toBe(200)
})

test('the right row with other random bits is not a refresh token, and it is no reuse of the true one, spent or not', async () => {
  const first = await grantTokens(world)
  expectRefusal(await refresh(url, world.app, forged(first.refreshToken)), 'invalid_grant')
  expectError(
    await sendForm(url, '/oauth/token', refreshForm(forged(first.refreshToken)), basic(world.app.development)),
    'invalid_grant',
  )
  await call(url, 'POST', '/oauth/revoke', { body: { ...world.app.development, token: forged(first.refreshToken) } })
  expect(await introspected(world, forged(first.refreshToken))).toEqual({ active: false })
  const second = await refresh(url, world.app, first.refreshToken)
  expect(second.status).toBe(200)
  expectRefusal(await refresh(url, world.app, forged(first.refreshToken)), 'invalid_grant')
  expect((await call(url, 'GET', '/oauth/me', { token: second.body.accessToken })).status).toBe(200)
})

test('the right row with other random bits is not an authorization code, and it is no reuse of the true one, spent or not', async () => {
  const code = await authorize(url, await signIn(url, world.user), world.app)
  expectRefusal(await exchange(url, world.app, forged(code)), 'invalid_grant')
  const tokens = await exchange(url, world.app, code)
  expect(tokens.status).toBe(200)
  expectRefusal(await exchange(url, world.app, forged(code)), 'invalid_grant')
  expect((await call(url, 'GET', '/oauth/me', { token: tokens.body.accessToken })).status).toBe(200)
})

test('the right row with other random bits is not a session', async () => {
  const token = await signIn(url, world.user)
  expectRefusal(await call(url, 'GET', '~/api/session', { token: forged(token) }), 'login_required')
  const request = { token: forged(token), body: authorizeBody(world.app) }
  expectRefusal(await call(url, 'POST', '/oauth/authorize', request), 'login_required')
  await call(url, 'DELETE', '~/api/session', { token: forged(token) })
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(200)
})

test('the right row with other random bits is not what opens an app in a frame: the code, and the session it is exchanged for', async () => {
  const { platform } = world
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await addEmbeddedVersion(platform, app)
  const install = await installEmbedded(platform, app, user)
  const origin = embedOrigin(app)
  const { clientId } = app.production
  const code = await openInstall(platform, await signIn(url, user), install)
  expectRefusal(await exchangeInstallCode(url, { clientId, code: forged(code), origin }), 'invalid_grant')
  const { sessionToken: token } = (await exchangeInstallCode(url, { clientId, code, origin })).body
  const headers = { Origin: origin }
  expectRefusal(await call(url, 'GET', '/oauth/me', { token: forged(token), headers }), 'invalid_token')
  expect((await call(url, 'GET', '/oauth/me', { token, headers })).status).toBe(200)
})
