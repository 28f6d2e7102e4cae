import { expect, test } from 'bun:test'
import { call, codeOf } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, grantTokens, refresh, signIn } from '../support/world.ts'

const world = await worldOfFile({
  env: { RATE_LIMIT: 'on', RATE_LIMIT_FAILED: '5/300', RATE_LIMIT_SIGN_IN: '3/300', TRUSTED_PROXIES: '127.0.0.1' },
})

test('a revocation that names its caller in a header and in the body is refused and ends nothing', async () => {
  const { url } = world.server
  const token = await appToken(url, world.app.development)
  const { refreshToken } = await grantTokens(world)
  const body = { ...world.app.development, token: refreshToken }
  const answer = await call(url, 'POST', '/oauth/revoke', { token, body })
  expect(answer.status).toBe(400)
  expect(codeOf(answer)).toBe('invalid_request')
  expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
  expect((await refresh(url, world.app, refreshToken)).status).toBe(200)
})

test('made-up client IDs of one address count together, and cost its real client nothing', async () => {
  const { url } = world.server
  const headers = { 'X-Forwarded-For': '203.0.113.7' }
  const statuses: number[] = []
  for (let index = 0; index < 8; index += 1) {
    const clientId = `apc_dev_${String(index).padStart(22, '0')}`
    const body = { clientId, clientSecret: 'x', scope: 'site:read' }
    statuses.push((await call(url, 'POST', '/token', { headers, body })).status)
  }
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
  expect(statuses.slice(6)).toEqual([429, 429])
  const body = { ...world.app.development, scope: 'site:read' }
  expect((await call(url, 'POST', '/token', { headers, body })).status).toBe(200)
})

test('an address that guesses passwords of made-up accounts is stopped, and others can still sign in', async () => {
  const { url } = world.server
  const headers = { 'X-Forwarded-For': '203.0.113.8' }
  const guesses = Array.from(
    { length: 12 },
    async (_, index) =>
      (
        await call(url, 'POST', '~/api/session', {
          headers,
          body: { email: `nobody${index}@example.com`, password: 'x'.repeat(9) },
        })
      ).status,
  )
  expect(await signIn(url, world.user)).toStartWith('apus_')
  const statuses = await Promise.all(guesses)
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
})
