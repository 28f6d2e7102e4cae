import { describe, expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addApp,
  authorize,
  authorizeBody,
  exchange,
  exchangeBody,
  refresh,
  signIn,
  verifier,
} from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server
const session = await signIn(url, world.user)
const other = await addApp(world.platform, world.user)

const freshCode = async () => await authorize(url, session, world.app)
const present = async (body: object, headers: Readonly<Record<string, string>> = {}) =>
  await call(url, 'POST', '/oauth/token', { body, headers })
const whoIs = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status

describe('exchanging a code', () => {
  test('answers with a pair of tokens and nothing else', async () => {
    const { status, body } = await exchange(url, world.app, await freshCode())
    expect(status).toBe(200)
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^apua_[0-9A-Za-z]{71}$/),
      tokenType: 'Bearer',
      expiresIn: 3600,
      refreshToken: expect.stringMatching(/^apur_[0-9A-Za-z]{71}$/),
      refreshTokenExpiresIn: 2592000,
      scope: 'profile.email:read profile:read site:read store:read',
      grantId: expect.stringMatching(/^grt_[0-9a-f]{32}$/),
    })
  })

  test('identifies the user behind the access token, as far as the scopes allow', async () => {
    const meOf = async (scope: string) => {
      const { body } = await exchange(url, world.app, await authorize(url, session, world.app, scope))
      return (await call(url, 'GET', '/oauth/me', { token: body.accessToken })).body
    }
    const always = {
      id: world.user.id,
      appId: world.app.id,
      clientId: world.app.development.clientId,
      grantId: expect.stringMatching(/^grt_/),
      expiresAt: expect.stringMatching(/Z$/),
    }
    expect(await meOf('site:read')).toEqual({ ...always, scope: 'site:read' })
    expect(await meOf('profile:read')).toEqual({
      ...always,
      scope: 'profile:read',
      name: 'Ada Example',
      pictureUrl: null,
    })
    expect(await meOf('profile.email:read')).toEqual({
      ...always,
      scope: 'profile.email:read',
      email: world.user.email,
    })
  })

  test('works in production with the production credentials and URI, and never with a mixture', async () => {
    const { production, development, redirectUri, liveRedirectUri } = world.app
    const body = { ...authorizeBody(world.app), clientId: production.clientId, redirectUri: liveRedirectUri }
    const { code } = (await call(url, 'POST', '/oauth/authorize', { token: session, body })).body
    const live = { ...exchangeBody(world.app, code), ...production, redirectUri: liveRedirectUri }
    expectRefusal(await present({ ...live, ...development }), 'invalid_grant')
    expectRefusal(await present({ ...live, redirectUri }), 'invalid_grant')
    expectRefusal(await present({ ...live, clientId: development.clientId }), 'invalid_client')
    expect((await present(live)).status).toBe(200)
  })

  test('gets the same refusal for every wrong code, URI and verifier, and none of them spends the code', async () => {
    const code = await freshCode()
    const right = exchangeBody(world.app, code)
    const last = code.at(-1) === 'a' ? 'b' : 'a'
    const wrong: readonly object[] = [
      { codeVerifier: `${verifier}x` },
      { codeVerifier: verifier.slice(0, -1) },
      { codeVerifier: 'x'.repeat(43) },
      { codeVerifier: 'x'.repeat(128) },
      { codeVerifier: 'x'.repeat(200) },
      { codeVerifier: 'short' },
      { codeVerifier: `${verifier} ` },
      { codeVerifier: authorizeBody(world.app).codeChallenge },
      { redirectUri: `${world.app.redirectUri}/` },
      { redirectUri: world.app.liveRedirectUri },
      { redirectUri: 'https://elsewhere.example/' },
      { code: code.slice(0, -1) + last },
      { code: code.slice(0, -1) },
      { code: `${code} ` },
      { code: 'apco_nothing' },
      { code: code.replace('apco_', 'apur_') },
      { ...other.development },
    ]
    const messages = new Set<string>()
    for (const change of wrong) {
      const answer = await present({ ...right, ...change })
      expectRefusal(answer, 'invalid_grant')
      messages.add(answer.body.error.message)
      expect(answer.body.error.param).toBeUndefined()
    }
    expect(messages.size).toBe(1)
    expectRefusal(await present({ ...right, clientSecret: 'wrong' }), 'invalid_client')
    expectRefusal(await present({ ...right, grantType: 'password' }), 'unsupported_grant_type', 'grantType')
    expectRefusal(await present({ ...right, codeVerifier: undefined }), 'invalid_request', 'codeVerifier')
    expectRefusal(await present({ ...right, redirectUri: '' }), 'invalid_request', 'redirectUri')
    expect((await present(right)).status).toBe(200)
  })

  test('a wrong grant type is reported before missing fields', async () => {
    for (const grantType of [
      'client_credentials',
      'password',
      'AUTHORIZATION_CODE',
      'authorization_code ',
      'urn:x',
      'toString',
    ]) {
      expectRefusal(await present({ ...world.app.development, grantType }), 'unsupported_grant_type', 'grantType')
    }
  })
})

describe('a spent code', () => {
  test('presented again by its own client is refused and revokes what it issued', async () => {
    const code = await freshCode()
    const { body } = await exchange(url, world.app, code)
    expectRefusal(await exchange(url, world.app, code), 'invalid_grant')
    expect(await whoIs(body.accessToken)).toBe(401)
    expectRefusal(await refresh(url, world.app, body.refreshToken), 'invalid_grant')
  })

  test('revokes its grant after a refresh too, and even with a wrong verifier', async () => {
    const code = await freshCode()
    const first = await exchange(url, world.app, code)
    const second = await refresh(url, world.app, first.body.refreshToken)
    expect(await whoIs(second.body.accessToken)).toBe(200)
    expectRefusal(await present({ ...exchangeBody(world.app, code), codeVerifier: 'x'.repeat(43) }), 'invalid_grant')
    expect(await whoIs(second.body.accessToken)).toBe(401)
    expectRefusal(await refresh(url, world.app, second.body.refreshToken), 'invalid_grant')
  })

  test('presented by another client, or without the right secret, changes nothing', async () => {
    const code = await freshCode()
    const { body } = await exchange(url, world.app, code)
    expectRefusal(await present({ ...exchangeBody(world.app, code), ...other.development }), 'invalid_grant')
    expectRefusal(await present({ ...exchangeBody(world.app, code), ...world.app.production }), 'invalid_grant')
    expectRefusal(await present({ ...exchangeBody(world.app, code), clientSecret: 'wrong' }), 'invalid_client')
    expect(await whoIs(body.accessToken)).toBe(200)
    expect((await refresh(url, world.app, body.refreshToken)).status).toBe(200)
  })

  test('does not change other grants of the same user and app', async () => {
    const bystander = (await exchange(url, world.app, await freshCode())).body
    const code = await freshCode()
    await exchange(url, world.app, code)
    expectRefusal(await exchange(url, world.app, code), 'invalid_grant')
    expect(await whoIs(bystander.accessToken)).toBe(200)
  })
})

describe('an exchange with an Idempotency-Key', () => {
  test('may be repeated and gives the very same tokens', async () => {
    const body = exchangeBody(world.app, await freshCode())
    const first = await present(body, { 'Idempotency-Key': 'k1' })
    const again = await present(body, { 'Idempotency-Key': 'k1' })
    expect(again.status).toBe(200)
    expect([again.body.accessToken, again.body.refreshToken]).toEqual([first.body.accessToken, first.body.refreshToken])
    expect(await whoIs(first.body.accessToken)).toBe(200)
  })

  for (const [what, key, change] of [
    ['another key', 'k2', {}],
    ['another body', 'k1', { codeVerifier: `${verifier.slice(0, -1)}x` }],
    ['no key', undefined, {}],
  ] as const) {
    test(`is reuse with ${what}`, async () => {
      const body = exchangeBody(world.app, await freshCode())
      const first = await present(body, { 'Idempotency-Key': 'k1' })
      const headers: Readonly<Record<string, string>> = key === undefined ? {} : { 'Idempotency-Key': key }
      expectRefusal(await present({ ...body, ...change }, headers), 'invalid_grant')
      expect(await whoIs(first.body.accessToken)).toBe(401)
    })
  }

  test('cannot be repeated once its refresh token was presented', async () => {
    const body = exchangeBody(world.app, await freshCode())
    const first = await present(body, { 'Idempotency-Key': 'k1' })
    const next = await refresh(url, world.app, first.body.refreshToken)
    expectRefusal(await present(body, { 'Idempotency-Key': 'k1' }), 'invalid_grant')
    expect(await whoIs(next.body.accessToken)).toBe(401)
  })

  test('spends nothing if the request is wrong: the right one under the same key still works', async () => {
    const body = exchangeBody(world.app, await freshCode())
    expectRefusal(
      await present({ ...body, codeVerifier: 'x'.repeat(43) }, { 'Idempotency-Key': 'k1' }),
      'invalid_grant',
    )
    expect((await present(body, { 'Idempotency-Key': 'k1' })).status).toBe(200)
  })
})
