import { describe, expect, test } from 'bun:test'
import { contentsOf } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, authorize, exchangeBody, grantTokens, refresh, refreshBody, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server
const other = await addApp(world.platform, world.user)

const present = async (body: object, key?: string) =>
  await call(url, 'POST', '/oauth/token', {
    body,
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  })
const whoIs = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status

describe('a refresh', () => {
  test('answers with a new pair in the form of the exchange', async () => {
    const before = await grantTokens(world)
    const { status, body } = await refresh(url, world.app, before.refreshToken)
    expect(status).toBe(200)
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^apua_/),
      tokenType: 'Bearer',
      expiresIn: 3600,
      refreshToken: expect.stringMatching(/^apur_/),
      refreshTokenExpiresIn: 2592000,
      scope: 'profile.email:read profile:read site:read store:read',
      grantId: before.grantId,
    })
    expect(body.accessToken).not.toBe(before.accessToken)
    expect(body.refreshToken).not.toBe(before.refreshToken)
  })

  test('ends the old access token at once', async () => {
    const before = await grantTokens(world)
    expect(await whoIs(before.accessToken)).toBe(200)
    const { body } = await refresh(url, world.app, before.refreshToken)
    expect(await whoIs(before.accessToken)).toBe(401)
    expect(await whoIs(body.accessToken)).toBe(200)
  })

  test('of a spent refresh token is refused and ends the whole grant', async () => {
    const first = await grantTokens(world)
    const second = (await refresh(url, world.app, first.refreshToken)).body
    const third = (await refresh(url, world.app, second.refreshToken)).body
    const bystander = await grantTokens(world)
    expectRefusal(await refresh(url, world.app, first.refreshToken), 'invalid_grant')
    expect(await whoIs(third.accessToken)).toBe(401)
    for (const { refreshToken } of [first, second, third]) {
      expectRefusal(await refresh(url, world.app, refreshToken), 'invalid_grant')
    }
    expect(await whoIs(bystander.accessToken)).toBe(200)
  })

  test('by another client changes nothing, spent or not', async () => {
    const first = await grantTokens(world)
    const wrong: readonly object[] = [other.development, world.app.production]
    for (const credentials of wrong) {
      expectRefusal(await present({ ...refreshBody(world.app, first.refreshToken), ...credentials }), 'invalid_grant')
    }
    expectRefusal(
      await present({ ...refreshBody(world.app, first.refreshToken), clientSecret: 'wrong' }),
      'invalid_client',
    )
    const second = (await refresh(url, world.app, first.refreshToken)).body
    for (const credentials of wrong) {
      expectRefusal(await present({ ...refreshBody(world.app, first.refreshToken), ...credentials }), 'invalid_grant')
    }
    expect(await whoIs(second.accessToken)).toBe(200)
    expect((await refresh(url, world.app, second.refreshToken)).status).toBe(200)
  })

  test('accepts only a refresh token, and a wrong one spends nothing', async () => {
    const tokens = await grantTokens(world)
    const last = tokens.refreshToken.at(-1) === 'a' ? 'b' : 'a'
    const twin = tokens.accessToken.replace('apua_', 'apur_')
    for (const wrong of [
      tokens.accessToken,
      twin,
      `${tokens.refreshToken.slice(0, -1)}${last}`,
      `${tokens.refreshToken} `,
      'x',
    ]) {
      expectRefusal(await refresh(url, world.app, wrong), 'invalid_grant')
    }
    expectRefusal(
      await present({ ...refreshBody(world.app, ''), refreshToken: undefined }),
      'invalid_request',
      'refreshToken',
    )
    expect((await refresh(url, world.app, tokens.refreshToken)).status).toBe(200)
  })
})

describe('the scope of a refresh', () => {
  test('may narrow the access token, and the next refresh restores it', async () => {
    const { refreshToken } = await grantTokens(world)
    const narrow = await present({ ...refreshBody(world.app, refreshToken), scope: 'site:read profile:read' })
    expect(narrow.body.scope).toBe('profile:read site:read')
    const me = (await call(url, 'GET', '/oauth/me', { token: narrow.body.accessToken })).body
    expect(me).not.toHaveProperty('email')
    expectRefusal(
      await call(url, 'GET', '/resources?kind=store', { token: narrow.body.accessToken }),
      'insufficient_scope',
    )
    const wide = await refresh(url, world.app, narrow.body.refreshToken)
    expect(wide.body.scope).toBe('profile.email:read profile:read site:read store:read')
  })

  test('never widens, and a refused refresh spends nothing', async () => {
    const { refreshToken, accessToken } = await grantTokens(world, 'site:read')
    for (const scope of [
      'site:read store:read',
      'profile:read',
      'nothing',
      ' ',
      '',
      'customers:read',
      'site.content:write',
    ]) {
      expectRefusal(await present({ ...refreshBody(world.app, refreshToken), scope }), 'invalid_scope', 'scope')
    }
    expect(await whoIs(accessToken)).toBe(200)
    expect((await refresh(url, world.app, refreshToken)).status).toBe(200)
  })
})

describe('a refresh with an Idempotency-Key', () => {
  test('may be repeated, one after the other and in parallel, and gives the very same tokens', async () => {
    const { refreshToken } = await grantTokens(world)
    const body = refreshBody(world.app, refreshToken)
    const answers = await Promise.all(Array.from({ length: 20 }, async () => await present(body, 'once')))
    answers.push(await present(body, 'once'))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const tokens = new Set(answers.map((answer) => `${answer.body.accessToken} ${answer.body.refreshToken}`))
    expect(tokens.size).toBe(1)
    expect(await whoIs(answers[0]?.body.accessToken)).toBe(200)
    expect((await refresh(url, world.app, answers[0]?.body.refreshToken)).status).toBe(200)
  })

  const second = {
    another_key: ['other', {}],
    another_body: ['once', { scope: 'site:read' }],
    no_key: [undefined, {}],
  } as const
  for (const [what, [key, change]] of Object.entries(second)) {
    test(`is reuse with ${what.replace('_', ' ')}`, async () => {
      const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
      const first = await present(body, 'once')
      expectRefusal(await present({ ...body, ...change }, key), 'invalid_grant')
      expect(await whoIs(first.body.accessToken)).toBe(401)
      expectRefusal(await present(body, 'once'), 'invalid_grant')
    })
  }

  test('is reuse when the first was sent without one', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    const first = await present(body)
    expectRefusal(await present(body, 'once'), 'invalid_grant')
    expect(await whoIs(first.body.accessToken)).toBe(401)
  })

  test('is reuse once the refresh token it gave has been presented', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    const first = await present(body, 'once')
    const next = await refresh(url, world.app, first.body.refreshToken)
    expectRefusal(await present(body, 'once'), 'invalid_grant')
    expect(await whoIs(next.body.accessToken)).toBe(401)
  })

  test('cannot be repeated even if that refresh token was refused', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    const first = await present(body, 'once')
    expectRefusal(
      await present({ ...refreshBody(world.app, first.body.refreshToken), scope: 'nothing' }),
      'invalid_scope',
    )
    expectRefusal(await present(body, 'once'), 'invalid_grant')
  })

  test('issues nothing to another client that knows the key and the token', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    const first = await present(body, 'once')
    expectRefusal(await present({ ...body, ...other.development }, 'once'), 'invalid_grant')
    expect((await present(body, 'once')).body.accessToken).toBe(first.body.accessToken)
  })

  test('issues nothing after the grant was revoked', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    const first = await present(body, 'once')
    await call(url, 'POST', '/oauth/revoke', { token: first.body.accessToken, body: {} })
    expectRefusal(await present(body, 'once'), 'invalid_grant')
  })

  test('needs a well-formed key', async () => {
    const body = refreshBody(world.app, (await grantTokens(world)).refreshToken)
    for (const key of ['x'.repeat(256), 'a,b']) expectRefusal(await present(body, key), 'invalid_request')
    expect((await present(body, 'x'.repeat(255))).status).toBe(200)
  })
})

test('neither the database, its WAL nor our log contains a code, a token, a verifier, a secret or a password', async () => {
  const session = await signIn(url, world.user)
  const code = await authorize(url, session, world.app)
  const exchanged = await present(exchangeBody(world.app, code), 'keep')
  const refreshed = await present(refreshBody(world.app, exchanged.body.refreshToken), 'keep')
  await present(refreshBody(world.app, exchanged.body.refreshToken), 'keep')
  const secrets = [
    session,
    code,
    exchangeBody(world.app, code).codeVerifier,
    exchanged.body.accessToken,
    exchanged.body.refreshToken,
    refreshed.body.accessToken,
    refreshed.body.refreshToken,
    world.app.development.clientSecret,
    world.user.password,
  ]
  const files = await contentsOf(world.server.database)
  for (const secret of secrets) {
    // The last 49 characters are the secret part; what stands before is the key of its row.
    for (const text of [secret, secret.slice(-49)]) {
      for (const { content } of files) expect(content.includes(text)).toBe(false)
      expect(world.server.log()).not.toContain(text)
    }
  }
})
