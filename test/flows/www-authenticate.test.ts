import { describe, expect, test } from 'bun:test'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, grantTokens, signIn } from '../support/world.ts'
import { bearerRoutes } from './support/contract-routes.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server

/** Every challenge of the contract ends with the metadata that says where to get a token (RFC 9728 section 5.1). */
const metadata =
  /,? ?resource_metadata="http:\/\/localhost:\d+\/\.well-known\/oauth-protected-resource\/api\/app-platform"$/
const challengeOf = (answer: { readonly headers: Headers }) => {
  const challenge = answer.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(metadata)
  return challenge.replace(metadata, '')
}

describe('the challenge of an endpoint for bearer tokens (RFC 6750) says', () => {
  for (const { method, path, caller } of bearerRoutes) {
    const code = caller === 'session' ? 'login_required' : 'invalid_token'
    const body = method === 'POST' ? { body: '{}' } : {}

    test(`${method} ${path}: a token is required`, async () => {
      const answer = await send(url, method, path, body)
      expectRefusal(answer, code)
      expect(challengeOf(answer)).toBe('Bearer')
    })

    test(`${method} ${path}: another scheme is no bearer token`, async () => {
      const answer = await send(url, method, path, { ...body, headers: { Authorization: 'Basic YTpi' } })
      expectRefusal(answer, code)
      expect(challengeOf(answer)).toBe('Bearer')
    })

    test(`${method} ${path}: the token is invalid`, async () => {
      for (const token of [
        'x',
        'apat_x',
        `apua_${'0'.repeat(71)}`,
        `apus_${'0'.repeat(71)}`,
        'ä',
        `apat_${'a'.repeat(5000)}`,
      ]) {
        const answer = await send(url, method, path, {
          ...body,
          headers: { Authorization: `Bearer ${encodeURI(token)}` },
        })
        expectRefusal(answer, code)
        expect(challengeOf(answer)).toBe(caller === 'session' ? 'Bearer' : 'Bearer error="invalid_token"')
      }
    })
  }
})

test('a missing scope is named in the challenge', async () => {
  const { accessToken } = await grantTokens(world, 'profile:read')
  for (const [kind, scope] of [
    ['site', 'site:read'],
    ['store', 'store:read'],
  ]) {
    const answer = await send(url, 'GET', `/resources?kind=${kind}`, { token: accessToken })
    expectRefusal(answer, 'insufficient_scope')
    expect(challengeOf(answer)).toBe(`Bearer error="insufficient_scope", scope="${scope}"`)
  }
})

test('the scheme is case-insensitive, and a live token of another kind gets 403, not 401', async () => {
  const app = await appToken(url, world.app.development)
  const { accessToken } = await grantTokens(world)
  const session = await signIn(url, world.user)
  expect((await send(url, 'GET', '/me', { headers: { Authorization: `bearer ${app}` } })).status).toBe(200)
  expect((await send(url, 'GET', '/me', { headers: { Authorization: `BEARER ${app}` } })).status).toBe(200)
  for (const [path, token] of [
    ['/me', accessToken],
    ['/me', session],
    ['/oauth/me', app],
    ['/oauth/me', session],
    ['/resources?kind=site', app],
    ['/versions', accessToken],
  ]) {
    const answer = await send(url, 'GET', path ?? '', { token: token ?? '' })
    expectRefusal(answer, 'token_type_not_allowed')
    expect(challengeOf(answer)).toBe('Bearer error="insufficient_scope"')
  }
})

test('a refused client credential carries no bearer challenge', async () => {
  const answer = await send(url, 'POST', '/token', { body: '{"clientId":"a","clientSecret":"b","scope":"site:read"}' })
  expectRefusal(answer, 'invalid_client')
  expect(answer.headers.get('www-authenticate')).toBeNull()
})
