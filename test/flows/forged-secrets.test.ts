import { expect, test } from 'bun:test'
import { freshDigits, keyDigitsOf, secretUnder } from '../support/forged.ts'
import { secretKindOf } from '../../src/domain/secret.ts'
import { call } from '../support/call.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addApp,
  addUser,
  appToken,
  authorize,
  authorizeBody,
  exchange,
  grantTokens,
  refresh,
  signIn,
} from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { basic, expectError, inBody, introspected, refreshForm, sendForm } from './support/standard.ts'

// A secret contains the key of its row, and so do IDs, which are not secret: everything that accepts a secret must compare the rest
// too.

const world = await worldOfFile()
const { url } = world.server

/** A secret with the same key and other random bits, and one with an unknown key, both with right checksums. */
const forgeriesOf = (secret: string): readonly string[] => {
  const kind = secretKindOf(secret)
  if (kind === null) throw new Error('this is no secret')
  return [keyDigitsOf(kind, secret), freshDigits(kind)].map((digits) => secretUnder(kind, digits))
}

/** It revokes nothing, whether as the bearer or in a request of its client, and introspection reveals nothing. */
const expectNoToken = async (forged: string): Promise<void> => {
  expectRefusal(await call(url, 'POST', '/oauth/revoke', { token: forged, body: {} }), 'invalid_token')
  const body = { ...world.app.development, token: forged }
  expect((await call(url, 'POST', '/oauth/revoke', { body })).body).toEqual({ revoked: true })
  expect(await introspected(world, forged)).toEqual({ active: false })
}

test('the key of a row is not enough to forge a client secret', async () => {
  const { development, production } = world.app
  const forgeries = [development, production].flatMap((credentials) =>
    forgeriesOf(credentials.clientSecret).map((clientSecret) => ({
      credentials,
      forgery: { ...credentials, clientSecret },
    })),
  )
  for (const { credentials, forgery } of forgeries) {
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

test('the key of a row is not enough to forge an app token', async () => {
  const token = await appToken(url, world.app.development)
  for (const forged of forgeriesOf(token)) {
    expectRefusal(await call(url, 'GET', '/me', { token: forged }), 'invalid_token')
    await expectNoToken(forged)
  }
  expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
})

test('the key of a row is not enough to forge a user access token', async () => {
  const { accessToken: token } = await grantTokens(world)
  for (const forged of forgeriesOf(token)) {
    expectRefusal(await call(url, 'GET', '/oauth/me', { token: forged }), 'invalid_token')
    await expectNoToken(forged)
  }
  expect((await call(url, 'GET', '/oauth/me', { token })).status).toBe(200)
})

test('the key of a row is not enough to forge a refresh token, and a forged one is no reuse of the genuine one', async () => {
  const { app } = world
  const first = await grantTokens(world)
  const forgeries = forgeriesOf(first.refreshToken)
  for (const forged of forgeries) {
    expectRefusal(await refresh(url, app, forged), 'invalid_grant')
    expectError(await sendForm(url, '/oauth/token', refreshForm(forged), basic(app.development)), 'invalid_grant')
    await expectNoToken(forged)
  }
  const second = await refresh(url, app, first.refreshToken)
  expect(second.status).toBe(200)
  for (const forged of forgeries) expectRefusal(await refresh(url, app, forged), 'invalid_grant')
  expect((await call(url, 'GET', '/oauth/me', { token: second.body.accessToken })).status).toBe(200)
})

test('the key of a row is not enough to forge an authorization code, and a forged one is no reuse of the genuine one', async () => {
  const code = await authorize(url, await signIn(url, world.user), world.app)
  const forgeries = forgeriesOf(code)
  for (const forged of forgeries) expectRefusal(await exchange(url, world.app, forged), 'invalid_grant')
  const tokens = await exchange(url, world.app, code)
  expect(tokens.status).toBe(200)
  for (const forged of forgeries) expectRefusal(await exchange(url, world.app, forged), 'invalid_grant')
  expect((await call(url, 'GET', '/oauth/me', { token: tokens.body.accessToken })).status).toBe(200)
})

test('the key of a row is not enough to forge a session', async () => {
  const token = await signIn(url, world.user)
  for (const forged of forgeriesOf(token)) {
    expectRefusal(await call(url, 'GET', '~/api/session', { token: forged }), 'login_required')
    const request = { token: forged, body: authorizeBody(world.app) }
    expectRefusal(await call(url, 'POST', '/oauth/authorize', request), 'login_required')
    await call(url, 'DELETE', '~/api/session', { token: forged })
  }
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(200)
})

test('the key of a row is not enough to forge an install-session code or an embedded session', async () => {
  const { platform } = world
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  const install = await addEmbeddedInstall(platform, app, user)
  const origin = embedOrigin(app)
  const { clientId } = app.production
  const code = await openInstall(platform, await signIn(url, user), install)
  for (const forged of forgeriesOf(code)) {
    expectRefusal(await exchangeInstallCode(url, { clientId, code: forged, origin }), 'invalid_grant')
  }
  const { sessionToken: token } = (await exchangeInstallCode(url, { clientId, code, origin })).body
  const headers = { Origin: origin }
  for (const forged of forgeriesOf(token)) {
    expectRefusal(await call(url, 'GET', '/oauth/me', { token: forged, headers }), 'invalid_token')
    const fromNowhere = await call(url, 'GET', '/oauth/me', { token: forged })
    expectRefusal(fromNowhere, 'invalid_token')
    expect(fromNowhere.headers.has('access-control-allow-origin')).toBe(false)
  }
  expect((await call(url, 'GET', '/oauth/me', { token, headers })).status).toBe(200)
})
