import { expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, authorize, createWorld, endWorld, exchange, refresh, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { introspected } from './support/standard.ts'

const world = await worldOfFile({
  env: {
    LIFETIME_CODE: '2',
    LIFETIME_APP_TOKEN: '1',
    LIFETIME_ACCESS_TOKEN: '1',
    LIFETIME_REFRESH_TOKEN: '2',
    LIFETIME_REFRESH_RETRY: '1',
  },
})
const { url } = world.server

const expiredAfter = async (seconds: number) => await Bun.sleep(seconds * 1000 + 50)

test('everything with a lifetime is refused after it, and states its lifetime', async () => {
  const session = await signIn(url, world.user)
  const issued = await call(url, 'POST', '/token', { body: { ...world.app.development, scope: 'site:read' } })
  expect(issued.body.expiresIn).toBe(1)
  const token = await appToken(url, world.app.development)
  const tokens = (await exchange(url, world.app, await authorize(url, session, world.app))).body
  expect([tokens.expiresIn, tokens.refreshTokenExpiresIn]).toEqual([1, 2])
  const code = await authorize(url, session, world.app)

  await expiredAfter(1)
  expectRefusal(await call(url, 'GET', '/me', { token }), 'invalid_token')
  expectRefusal(await call(url, 'POST', '/versions', { token, body: { version: '1.0.0' } }), 'invalid_token')
  expectRefusal(await call(url, 'GET', '/oauth/me', { token: tokens.accessToken }), 'invalid_token')
  expectRefusal(await call(url, 'POST', '/oauth/revoke', { token: tokens.accessToken, body: {} }), 'invalid_token')
  for (const ended of [token, tokens.accessToken]) expect(await introspected(world, ended)).toEqual({ active: false })

  await expiredAfter(1)
  expect(await introspected(world, tokens.refreshToken)).toEqual({ active: false })
  expectRefusal(await exchange(url, world.app, code), 'invalid_grant')
  expectRefusal(await refresh(url, world.app, tokens.refreshToken), 'invalid_grant')
})

test('a spent refresh token ends its family even if it has expired', async () => {
  const session = await signIn(url, world.user)
  const first = (await exchange(url, world.app, await authorize(url, session, world.app))).body
  const second = (await refresh(url, world.app, first.refreshToken)).body
  await expiredAfter(2)
  expectRefusal(await refresh(url, world.app, first.refreshToken), 'invalid_grant')
  const grant = await world.platform.database.queries.grants.byId(second.grantId)
  expect(grant?.revokedAt).not.toBeNull()
})

test('a session ends at its time', async () => {
  const short = await createWorld({ env: { LIFETIME_SESSION: '1' } })
  try {
    const token = await signIn(short.server.url, short.user)
    await expiredAfter(1)
    expectRefusal(await call(short.server.url, 'GET', '~/api/session', { token }), 'login_required')
    expectRefusal(await call(short.server.url, 'POST', '/oauth/authorize', { token, body: {} }), 'login_required')
  } finally {
    await endWorld(short)
  }
})
