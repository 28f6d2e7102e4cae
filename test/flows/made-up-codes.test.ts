import { describe, expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { worldsOfTests } from '../support/world-of-file.ts'
import { appToken, authorize, exchange, refresh, signIn, type World } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { basic, codeForm, expectError, refreshForm, sendForm, standardTokens } from './support/standard.ts'

const newWorld = worldsOfTests()
const limited = async (limits: Readonly<Record<string, string>>) =>
  await newWorld({ env: { RATE_LIMIT: 'on', ...limits } })

/** More at the same time than either limit allows. */
const flood = async ({ server: { url }, app }: World) =>
  await Promise.all(Array.from({ length: 20 }, async (_, index) => await exchange(url, app, `apco_${index}`)))

describe('made-up codes of an authenticated client', () => {
  test('are refused without a limit, and cost the client no call', async () => {
    const world = await limited({ RATE_LIMIT_TOKEN: '6/600', RATE_LIMIT_FAILED: '2/600' })
    const { url } = world.server
    const { app } = world
    const session = await signIn(url, world.user)
    for (const answer of await flood(world)) {
      expectRefusal(answer, 'invalid_grant')
      expect(answer.headers.get('ratelimit')).toMatch(/^"token";r=6;/)
    }
    const tokens = (await exchange(url, app, await authorize(url, session, app))).body
    const renewed = (await refresh(url, app, tokens.refreshToken)).body
    const token = await appToken(url, app.development)
    for (const secret of [tokens, renewed]) expect(secret.accessToken).toMatch(/^apua_/)
    await flood(world)
    const form = { token: renewed.accessToken }
    const introspected = await sendForm(url, '/oauth/introspect', form, basic(app.development))
    expect(introspected.body.active).toBe(true)
    const revoke = { ...app.development, token: renewed.refreshToken }
    expect((await call(url, 'POST', '/oauth/revoke', { body: revoke })).body).toEqual({ revoked: true })
    expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
    // The share held six calls: two grants, an app token, an introspection, a revocation, and this one.
    expect((await call(url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } })).status).toBe(200)
    expectRefusal(
      await call(url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } }),
      'rate_limited',
    )
  })

  test('and made-up refresh tokens are refused likewise by the standard API', async () => {
    const world = await limited({ RATE_LIMIT_TOKEN: '3/600' })
    const { url } = world.server
    const junk = [codeForm(world.app, 'apco_x'), refreshForm('apur_x')]
    for (const form of [...junk, ...junk, ...junk]) {
      expectError(await sendForm(url, '/oauth/token', form, basic(world.app.development)), 'invalid_grant')
    }
    const tokens = await standardTokens(world)
    const renewed = await sendForm(url, '/oauth/token', refreshForm(tokens.refresh_token), basic(world.app.development))
    expect(renewed.status).toBe(200)
  })

  test('do not count with wrong secrets, which still do', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '3/600' })
    const { url } = world.server
    await flood(world)
    const wrong = { ...world.app.development, clientSecret: 'wrong', scope: 'site:read' }
    for (let count = 0; count < 3; count += 1) {
      expectRefusal(await call(url, 'POST', '/token', { body: wrong }), 'invalid_client')
    }
    expectRefusal(await call(url, 'POST', '/token', { body: wrong }), 'rate_limited')
  })
})
