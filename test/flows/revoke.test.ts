import { describe, expect, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, appToken, authorize, exchange, grantTokens, refresh, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server
const other = await addApp(world.platform, world.user)

const revoke = async (body: object, token?: string) =>
  await call(url, 'POST', '/oauth/revoke', { body, ...(token === undefined ? {} : { token }) })
const byApp = async (token: string, app = world.app) => await revoke({ ...app.development, token })
const whoIs = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status
const revoked = { status: 200, body: { revoked: true } }

describe('an app revokes', () => {
  test('a grant by its access token, and nothing of the grant works again', async () => {
    const tokens = await grantTokens(world)
    expect(await byApp(tokens.accessToken)).toMatchObject(revoked)
    expect(await whoIs(tokens.accessToken)).toBe(401)
    expectRefusal(await refresh(url, world.app, tokens.refreshToken), 'invalid_grant')
  })

  test('a grant by its refresh token, spent or not', async () => {
    const first = await grantTokens(world)
    const second = (await refresh(url, world.app, first.refreshToken)).body
    expect(await byApp(first.refreshToken)).toMatchObject(revoked)
    expect(await whoIs(second.accessToken)).toBe(401)
    const third = await grantTokens(world)
    expect(await byApp(third.refreshToken)).toMatchObject(revoked)
    expect(await whoIs(third.accessToken)).toBe(401)
  })

  test('a grant by an access token that was refreshed away', async () => {
    const first = await grantTokens(world)
    const second = (await refresh(url, world.app, first.refreshToken)).body
    expect(await byApp(first.accessToken)).toMatchObject(revoked)
    expect(await whoIs(second.accessToken)).toBe(401)
  })

  test('a grant by its code, spent or not, which another client cannot', async () => {
    const session = await signIn(url, world.user)
    const unspent = await authorize(url, session, world.app)
    expectRefusal(await byApp(unspent, other), 'token_not_owned')
    expect(await byApp(unspent)).toMatchObject(revoked)
    expectRefusal(await exchange(url, world.app, unspent), 'invalid_grant')
    const spent = await authorize(url, session, world.app)
    const { body } = await exchange(url, world.app, spent)
    expect(await byApp(spent)).toMatchObject(revoked)
    expect(await whoIs(body.accessToken)).toBe(401)
  })

  test('an app token, which ends alone', async () => {
    const [one, two] = [await appToken(url, world.app.development), await appToken(url, world.app.development)]
    const tokens = await grantTokens(world)
    expect(await byApp(one)).toMatchObject(revoked)
    expectRefusal(await call(url, 'GET', '/me', { token: one }), 'invalid_token')
    expect((await call(url, 'GET', '/me', { token: two })).status).toBe(200)
    expect(await whoIs(tokens.accessToken)).toBe(200)
  })

  test('an ended or unknown token without an error', async () => {
    const tokens = await grantTokens(world)
    const last = tokens.accessToken.at(-1) === 'a' ? 'b' : 'a'
    await byApp(tokens.accessToken)
    for (const token of [
      tokens.accessToken,
      tokens.refreshToken,
      'nothing',
      `${tokens.accessToken.slice(0, -1)}${last}`,
      'apat_x',
    ]) {
      expect(await byApp(token)).toMatchObject(revoked)
    }
    expect((await revoke({ ...world.app.development, token: 'x', tokenTypeHint: 'something_else' })).status).toBe(200)
  })

  test("not another app's token, which goes on working", async () => {
    const tokens = await grantTokens(world)
    const token = await appToken(url, world.app.development)
    for (const foreign of [tokens.accessToken, tokens.refreshToken, token]) {
      expectRefusal(await byApp(foreign, other), 'token_not_owned')
    }
    expect(await whoIs(tokens.accessToken)).toBe(200)
    expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
  })

  test('nothing if its secret is wrong', async () => {
    const tokens = await grantTokens(world)
    const { clientId } = world.app.development
    for (const clientSecret of ['wrong', other.development.clientSecret, world.app.production.clientSecret]) {
      expectRefusal(await revoke({ clientId, clientSecret, token: tokens.accessToken }), 'invalid_client')
    }
    expect(await whoIs(tokens.accessToken)).toBe(200)
  })

  test('even while it is suspended', async () => {
    const app = await addApp(world.platform, world.user)
    const code = await authorize(url, await signIn(url, world.user), app)
    const { body } = await exchange(url, app, code)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expect(await byApp(body.refreshToken, app)).toMatchObject(revoked)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'active' })
    expect(await whoIs(body.accessToken)).toBe(401)
  })
})

describe('a token revokes', () => {
  test('itself if it is an app token', async () => {
    const token = await appToken(url, world.app.production)
    expect(await revoke({}, token)).toMatchObject(revoked)
    expectRefusal(await call(url, 'GET', '/me', { token }), 'invalid_token')
    expectRefusal(await revoke({}, token), 'invalid_token')
  })

  test('its whole grant if it is a user access token', async () => {
    const tokens = await grantTokens(world)
    expect(await revoke({}, tokens.accessToken)).toMatchObject(revoked)
    expect(await whoIs(tokens.accessToken)).toBe(401)
    expectRefusal(await refresh(url, world.app, tokens.refreshToken), 'invalid_grant')
    const again = await revoke({}, tokens.accessToken)
    expectRefusal(again, 'invalid_token')
    expect(again.headers.get('www-authenticate')).toStartWith('Bearer error="invalid_token"')
  })

  test('nothing if it has ended, even with right credentials in the body', async () => {
    const tokens = await grantTokens(world)
    expectRefusal(await revoke({ ...world.app.development, token: tokens.accessToken }, 'apua_dead'), 'invalid_token')
    expect(await whoIs(tokens.accessToken)).toBe(200)
  })
})

describe('a user revokes', () => {
  test('a grant of their own, by session token or cookie with proof', async () => {
    const session = await signIn(url, world.user)
    const [one, two] = [await grantTokens(world), await grantTokens(world)]
    expect(await revoke({ grantId: one.grantId }, session)).toMatchObject(revoked)
    expect([await whoIs(one.accessToken), await whoIs(two.accessToken)]).toEqual([401, 200])
    const body = JSON.stringify({ grantId: two.grantId })
    const headers = { Cookie: sessionCookieOf(url, session) }
    expectRefusal(await send(url, 'POST', '/oauth/revoke', { body, headers }), 'origin_not_allowed')
    expect(await whoIs(two.accessToken)).toBe(200)
    const proven = { ...headers, 'Sec-Fetch-Site': 'same-origin' }
    expect(await send(url, 'POST', '/oauth/revoke', { body, headers: proven })).toMatchObject(revoked)
    expect(await whoIs(two.accessToken)).toBe(401)
    expect(await revoke({ grantId: two.grantId }, session)).toMatchObject(revoked)
  })

  test("not another user's grant, which does not exist for them", async () => {
    const tokens = await grantTokens(world)
    const stranger = await signIn(url, await addUser(world.platform, 'Bob Example'))
    const foreign = await revoke({ grantId: tokens.grantId }, stranger)
    const unknown = await revoke({ grantId: `grt_${'0'.repeat(32)}` }, stranger)
    expectRefusal(foreign, 'grant_not_found', 'grantId')
    expectRefusal(unknown, 'grant_not_found', 'grantId')
    expectRefusal(await revoke({ grantId: 'x' }, stranger), 'grant_not_found')
    expectRefusal(await revoke({}, stranger), 'invalid_request', 'grantId')
    expect(await whoIs(tokens.accessToken)).toBe(200)
  })
})

test('a call without credentials is told to authenticate', async () => {
  for (const body of [
    {},
    { token: 'x' },
    { grantId: 'grt_x' },
    { clientId: world.app.development.clientId, token: 'x' },
  ]) {
    expectRefusal(await revoke(body), 'invalid_client')
  }
  expectRefusal(await revoke(world.app.development), 'invalid_request', 'token')
})

test('a grant whose code was not exchanged yet is revoked with it', async () => {
  const session = await signIn(url, world.user)
  const code = await authorize(url, session, world.app)
  const grant = (await world.platform.database.queries.personal.rows('grants', world.user.id)).at(-1)
  expect(await revoke({ grantId: grant?.id }, session)).toMatchObject(revoked)
  expectRefusal(await exchange(url, world.app, code), 'invalid_grant')
})
