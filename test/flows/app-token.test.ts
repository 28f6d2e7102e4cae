import { describe, expect, test } from 'bun:test'
import { issuable } from '../../src/domain/scope.ts'
import { createCredential, listCredentials } from '../../src/operations/credentials/credentials.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, appToken } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

const issue = async (body: object) => await call(url, 'POST', '/token', { body })

describe('POST /token', () => {
  test('answers with a bearer token and nothing else, in particular no refresh token', async () => {
    const { status, body } = await issue({ ...world.app.development, scope: 'site:read' })
    expect(status).toBe(200)
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^apat_[0-9A-Za-z]{71}$/),
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: 'site:read',
      environment: 'development',
    })
  })

  test('names the environment of the credentials', async () => {
    const { body } = await issue({ ...world.app.production, scope: 'site:read' })
    expect(body.environment).toBe('production')
  })

  test('accepts scopes in any order, with repeats and spaces, and returns them sorted', async () => {
    for (const scope of ['store:read site:read', ' site:read  store:read site:read ']) {
      expect((await issue({ ...world.app.development, scope })).body.scope).toBe('site:read store:read')
    }
  })

  for (const scope of [
    '',
    ' ',
    'nothing',
    'site:read nothing',
    'SITE:READ',
    'site:read,store:read',
    'site:read\tstore:read',
    'constructor',
    'site:read\u00a0store:read',
    'x'.repeat(2000),
  ]) {
    test(`refuses the scope ${JSON.stringify(scope.slice(0, 30))}, which names nothing`, async () => {
      expectRefusal(await issue({ ...world.app.development, scope }), 'invalid_scope', 'scope')
    })
  }

  for (const scope of [
    'store.products:read',
    'store.orders:read',
    'customers:read',
    'site:read customers:read',
    'profile:read customers:read',
  ]) {
    test(`refuses ${scope}: planned or restricted, which is told first`, async () => {
      expectRefusal(await issue({ ...world.app.development, scope }), 'scope_not_available', 'scope')
    })
  }

  test('refuses a scope for users only', async () => {
    for (const scope of ['profile:read', 'profile.email:read', 'site:read profile:read']) {
      expectRefusal(await issue({ ...world.app.development, scope }), 'scope_not_allowed', 'scope')
    }
  })

  test('refuses a scope that the app has not registered', async () => {
    const app = await addApp(world.platform, world.user, 'site:read')
    expectRefusal(await issue({ ...app.development, scope: 'store:read' }), 'scope_not_allowed', 'scope')
    expectRefusal(
      await issue({ ...app.development, scope: 'site:read site.content:write' }),
      'scope_not_allowed',
      'scope',
    )
    expect((await issue({ ...app.development, scope: 'site:read' })).status).toBe(200)
  })

  test('gives the same answer for an unknown or malformed ID and a wrong or malformed secret', async () => {
    const { development, production } = world.app
    const other = await addApp(world.platform, world.user)
    const last = development.clientSecret.at(-1) === 'a' ? 'b' : 'a'
    const wrong = [
      { clientId: 'apc_dev_0000000000000000000000', clientSecret: development.clientSecret },
      { clientId: 'nobody', clientSecret: development.clientSecret },
      { clientId: development.clientId, clientSecret: 'wrong' },
      { clientId: development.clientId, clientSecret: development.clientSecret.slice(0, -1) + last },
      { clientId: development.clientId, clientSecret: development.clientSecret.slice(0, -1) },
      { clientId: development.clientId, clientSecret: `${development.clientSecret} ` },
      { clientId: development.clientId, clientSecret: production.clientSecret },
      { clientId: development.clientId, clientSecret: other.development.clientSecret },
      { clientId: production.clientId, clientSecret: development.clientSecret },
      { clientId: `${development.clientId}x`, clientSecret: development.clientSecret },
      { clientId: development.clientId.toUpperCase(), clientSecret: development.clientSecret },
      { clientId: '\u{1F511}', clientSecret: '\u{1F511}' },
    ]
    const seen = new Set<string>()
    for (const credentials of wrong) {
      const answer = await issue({ ...credentials, scope: 'site:read' })
      expectRefusal(answer, 'invalid_client')
      const { requestId: _, ...told } = answer.body.error
      seen.add(JSON.stringify(told))
    }
    expect(seen.size).toBe(1)
  })

  test('names the scope that it refuses, or its place if there is none of that name', async () => {
    const app = await addApp(world.platform, world.user, 'site:read')
    const told = async (scope: string) => (await issue({ ...app.development, scope })).body.error.message
    expect(await told('site:read store:read')).toBe('The app may not ask for the scope store:read.')
    expect(await told('customers:read')).toBe('The scope customers:read is planned or restricted and cannot be issued.')
    expect(await told('site:read sites:read')).toBe('A scope in the list does not exist, or was retired.')
    for (const odd of ['site:list', '<script>', app.development.clientSecret])
      expect(await told(`site:read ${odd}`)).toBe(
        `Scope 2 in the list does not exist. There are: ${issuable.join(', ')}.`,
      )
  })

  test('says nothing about the scope to a caller with a wrong secret', async () => {
    expectRefusal(await issue({ ...world.app.development, clientSecret: 'wrong', scope: 'nothing' }), 'invalid_client')
  })

  test('accepts either of two live secrets, and records when each was last used', async () => {
    const app = await addApp(world.platform, world.user)
    const { slug } = app
    const input = { slug, environment: 'development', label: 'second' } as const
    const second = await createCredential(world.platform, trace, operator, input)
    expect(
      (await issue({ clientId: second.clientId, clientSecret: second.clientSecret, scope: 'site:read' })).status,
    ).toBe(200)
    const used = async () =>
      (await listCredentials(world.platform, slug)).filter(({ lastUsedAt }) => lastUsedAt !== null).map(({ id }) => id)
    expect(await used()).toEqual([second.id])
    expect((await issue({ ...app.development, scope: 'site:read' })).status).toBe(200)
    expect((await used()).length).toBe(2)
  })

  test('answers with a token that the routes of users refuse', async () => {
    const token = await appToken(url, world.app.development)
    for (const path of ['/oauth/me', '/resources?kind=site']) {
      expectRefusal(await call(url, 'GET', path, { token }), 'token_type_not_allowed')
    }
  })
})

describe('GET /me', () => {
  test('describes the app, the client and the token, and nothing else', async () => {
    const token = await appToken(url, world.app.production, 'store:read site:read')
    const { status, body } = await call(url, 'GET', '/me', { token })
    expect(status).toBe(200)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(body).toEqual({
      appId: world.app.id,
      clientId: world.app.production.clientId,
      name: 'Newsletter',
      slug: world.app.slug,
      environment: 'production',
      status: 'active',
      scope: 'site:read store:read',
      expiresAt: time,
      createdAt: time,
    })
  })

  test('refuses a token that differs from a live one in a single character', async () => {
    const token = await appToken(url, world.app.development)
    for (const at of [0, 4, 5, 20, 30, 60, token.length - 1]) {
      const other = token[at] === 'a' ? 'b' : 'a'
      const wrong = token.slice(0, at) + other + token.slice(at + 1)
      expectRefusal(await call(url, 'GET', '/me', { token: wrong }), 'invalid_token')
    }
    expectRefusal(await call(url, 'GET', '/me', { token: `${token}a` }), 'invalid_token')
    expectRefusal(await call(url, 'GET', '/me', { headers: { Authorization: token } }), 'invalid_token')
    expectRefusal(await call(url, 'GET', '/me', { token: world.app.development.clientSecret }), 'invalid_token')
  })

  test('refuses a token in the query or in a body', async () => {
    const token = await appToken(url, world.app.development)
    expectRefusal(await call(url, 'GET', `/me?access_token=${token}&accessToken=${token}`), 'invalid_token')
  })
})
