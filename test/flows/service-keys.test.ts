import { fetchPatiently } from '../support/fetch-patiently.ts'
import { describe, expect, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import {
  createServiceKey,
  revokeServiceKey,
  rotateServiceKey,
} from '../../src/operations/service-keys/change-service-keys.ts'
import { auditEvents } from '../support/audit-events.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, appToken, authorizeBody, grantTokens, installApp, signIn } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const world = await worldOfFile()
const { platform, app, user } = world
const { url } = world.server
const issuer = url.replace('127.0.0.1', 'localhost')

const newKey = async (rights: readonly string[] = ['tokens:introspect'], networks: readonly string[] = []) =>
  await createServiceKey(platform, trace, operator, { name: 'Product API', rights, networks, expiresInDays: null })

const introspect = async (key: string, token: string, authorization = `Bearer ${key}`) => {
  const response = await fetchPatiently(`${url}/oauth/introspect`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ token }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const check = async (token: string | null, query = 'scope=site:read&environment=development') => {
  const headers = token === null ? undefined : { authorization: `Bearer ${token}` }
  return await fetchPatiently(`${url}/oauth/check?${query}`, { headers })
}

const about = (resource: string) => `scope=site:read&environment=development&resource=${resource}`

const ask = async (method: 'GET' | 'POST', token: string) =>
  await fetchPatiently(`${url}/oauth/userinfo`, { method, headers: { authorization: `Bearer ${token}` } })

const tokenFor = async (resource: string) => {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: app.development.clientId,
    client_secret: app.development.clientSecret,
    resource,
  })
  return await fetchPatiently(`${url}/oauth/token`, { method: 'POST', body })
}

/** Gives the user and their website the builder's own IDs. */
await platform.database.transaction(async (q) => {
  await q.users.change(user.id, { externalId: 'ada' }, platform.clock.now())
  const site = await q.resources.find(user.id, 'site', 'my-site')
  if (site !== null) await q.resources.replace({ ...site, externalId: 'blog' })
})
const { secret, id: keyId } = await newKey()

test('a key is not made with no right, or with one that does not exist, which is named by its place', async () => {
  await expect(newKey([])).rejects.toThrow('Choose at least one right.')
  await expect(newKey(['users:read', 'users:delete'])).rejects.toThrow(
    'Right 2 in the list does not exist. There are: ',
  )
  expect((await newKey(['users:write', 'users:read', 'users:write'])).rights).toEqual(['users:read', 'users:write'])
})

describe('introspection with a service key', () => {
  test('describes the live tokens of every app, with the ID of the user at the builder and where the app is installed', async () => {
    const { accessToken } = await grantTokens(world)
    expect((await introspect(secret, accessToken)).body).toMatchObject({
      active: true,
      app_id: app.id,
      client_id: app.development.clientId,
      environment: 'development',
      sub: user.id,
      external_id: 'ada',
      resources: ['site:blog'],
    })
    const other = await addApp(platform, user)
    const token = await appToken(url, other.production)
    const { body } = await introspect(secret, token)
    expect(body).toMatchObject({ active: true, app_id: other.id, environment: 'production', resources: [] })
    expect(body.external_id).toBeUndefined()
  })

  test('takes HTTP Basic with the ID of the key, and refuses that of another key', async () => {
    const token = await appToken(url, app.development)
    const basic = (id: string) => `Basic ${btoa(`${id}:${secret}`)}`
    expect((await introspect(secret, token, basic(keyId))).body.active).toBeTrue()
    expect((await introspect(secret, token, basic((await newKey()).id))).status).toBe(401)
  })

  test('calls a token inactive whose app is suspended', async () => {
    const other = await addApp(platform, user)
    const token = await appToken(url, other.development)
    await setAppStatus(platform, trace, operator, { slug: other.slug, status: 'suspended' })
    expect((await introspect(secret, token)).body).toEqual({ active: false })
  })
})

test('introspection with a service key calls everything inactive that is no live token of an app', async () => {
  const { code } = (
    await call(url, 'POST', '/oauth/authorize', { token: await signIn(url, user), body: authorizeBody(app) })
  ).body
  const { accessToken, refreshToken } = await grantTokens(world)
  const session = await signIn(url, user)
  for (const token of [secret, session, code, app.development.clientSecret, `${accessToken}x`, 'x', keyId, 'apsr_x']) {
    expect((await introspect(secret, token)).body).toEqual({ active: false })
  }
  expect((await introspect(secret, refreshToken)).body.token_type).toBeUndefined()
  await call(url, 'POST', '/oauth/revoke', { token: accessToken, body: {} })
  for (const token of [accessToken, refreshToken])
    expect((await introspect(secret, token)).body).toEqual({ active: false })
})

describe('a service key', () => {
  test('is refused on every endpoint of the contract', async () => {
    for (const path of ['/me', '/oauth/me', '/versions', '/resources?kind=site']) {
      expect((await call(url, 'GET', path, { token: secret })).status).toBe(401)
    }
  })

  test('without the right is refused with 403, which leaves an audit row', async () => {
    const { secret: reader, id } = await newKey(['audit:read'])
    const refused = await introspect(reader, await appToken(url, app.development))
    expect(refused).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
    const row = (await auditEvents(platform)).find(({ action }) => action === 'service_key.use')
    expect(row).toMatchObject({ actorId: id, outcome: 'refused', reason: 'right_missing' })
  })

  test('is refused from another network and after its revocation, at once and with an audit row that says why', async () => {
    const distant = await newKey(['tokens:introspect'], ['203.0.113.0/24'])
    const token = await appToken(url, app.development)
    expect((await introspect(distant.secret, token)).status).toBe(401)
    const near = await newKey(['tokens:introspect'], ['127.0.0.0/8', '::1/128'])
    expect((await introspect(near.secret, token)).body.active).toBeTrue()
    await revokeServiceKey(platform, trace, operator, near.id)
    expect((await introspect(near.secret, token)).status).toBe(401)
    const reasons = (await auditEvents(platform)).map(({ target, detail }) => [target, detail])
    expect(reasons).toContainEqual([distant.id, '{"because":"network"}'])
    expect(reasons).toContainEqual([near.id, '{"because":"ended"}'])
  })

  test('works beside its successor for the grace period of a rotation, and with none ends at once', async () => {
    const token = await appToken(url, app.development)
    const first = await newKey()
    const second = await rotateServiceKey(platform, trace, operator, { id: first.id, graceHours: 1 })
    expect((await introspect(first.secret, token)).status).toBe(200)
    const third = await rotateServiceKey(platform, trace, operator, { id: second.id, graceHours: 0 })
    expect((await introspect(second.secret, token)).status).toBe(401)
    expect((await introspect(third.secret, token)).status).toBe(200)
    expect(third).toMatchObject({ name: 'Product API', rights: ['tokens:introspect'] })
  })

  test.each([null, 30])(
    'gives each successor the end that was chosen (days: %p), not that of a grace period',
    async (days) => {
      const order = { name: 'Product API', rights: ['users:read'], networks: [], expiresInDays: days }
      const first = await createServiceKey(platform, trace, operator, order)
      const { expiresAt: chosen } = first
      for (const graceHours of [1, 168, 0]) {
        const next = await rotateServiceKey(platform, trace, operator, { id: first.id, graceHours })
        const after = await rotateServiceKey(platform, trace, operator, { id: next.id, graceHours: 1 })
        expect([next.expiresAt, after.expiresAt]).toEqual([chosen, chosen])
      }
    },
  )
})

/** The status, and the fields of the body with their values. */
const toldBy = async (answer: Response) => {
  const body: object = JSON.parse(await answer.text())
  return [answer.status, ...Object.entries(body).flat()]
}

describe('GET /oauth/check', () => {
  test('answers 204 and says who calls, in headers that are always there', async () => {
    const { accessToken } = await grantTokens(world)
    const ofUser = await check(accessToken)
    expect(ofUser.status).toBe(204)
    expect(ofUser.headers.get('x-app-id')).toBe(app.id)
    expect(ofUser.headers.get('x-user-external-id')).toBe('ada')
    expect(ofUser.headers.get('x-scope')).toBe('profile.email:read profile:read site:read store:read')
    const ofApp = await check(await appToken(url, app.development))
    expect([ofApp.status, ofApp.headers.get('x-user-external-id')]).toEqual([204, ''])
    expect([ofApp.headers.get('content-type'), ofApp.headers.get('cache-control')]).toEqual([null, 'no-store'])
  })

  test('refuses a revoked token on the very next request', async () => {
    const { accessToken } = await grantTokens(world)
    expect((await check(accessToken)).status).toBe(204)
    await call(url, 'POST', '/oauth/revoke', { token: accessToken, body: {} })
    const refused = await check(accessToken)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  test('refuses a missing scope with 403, and says which', async () => {
    const { accessToken } = await grantTokens(world, 'profile:read')
    const refused = await check(accessToken)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="site:read"')
  })

  test('refuses in the form of the RFCs, as every address below /oauth/: error and error_description', async () => {
    const { accessToken } = await grantTokens(world, 'profile:read')
    const description = expect.any(String)
    for (const [refused, status, error] of [
      [await check('apat_wrong'), 401, 'invalid_token'],
      [await check(null), 401, 'invalid_token'],
      [await check(accessToken), 403, 'insufficient_scope'],
      [await check(accessToken, about('site:other')), 403, 'insufficient_scope'],
      [await check(accessToken, 'scope=nothing'), 400, 'invalid_scope'],
      [await check(accessToken, 'scope=profile:read&environment='), 400, 'invalid_request'],
      [await ask('GET', await appToken(url, app.development)), 403, 'insufficient_scope'],
      [await ask('POST', 'apua_wrong'), 401, 'invalid_token'],
      [await fetchPatiently(`${url}/oauth/userinfo`, { method: 'DELETE' }), 405, 'invalid_request'],
    ] as const) {
      expect(await toldBy(refused)).toEqual([status, 'error', error, 'error_description', description])
      if (status === 403)
        expect(refused.headers.get('www-authenticate')).toStartWith('Bearer error="insufficient_scope"')
    }
  })

  test('lets development tokens pass only where they are asked for', async () => {
    const token = await appToken(url, app.development)
    const refused = await check(token, 'scope=site:read')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"') // RFC 6750 section 3
    expect((await check(await appToken(url, app.production), 'scope=site:read')).status).toBe(204)
    expect((await check(await appToken(url, app.production))).status).toBe(403)
  })

  test('needs an install of the app on the named website or store', async () => {
    const { accessToken } = await grantTokens(world)
    expect((await check(accessToken, about('site:blog'))).status).toBe(204)
    const refused = await check(accessToken, about('site:other'))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer error="insufficient_scope"',
    ])
    expect((await check(accessToken, about('store:blog'))).status).toBe(403)
    expect((await check(accessToken, about('blog'))).status).toBe(400)
    const other = await addApp(platform, user)
    const token = await appToken(url, other.development)
    expect((await check(token, about('site:blog'))).status).toBe(403)
    await installApp(platform, other, user)
    expect((await check(token, about('site:blog'))).status).toBe(204)
  })

  test('lets nothing pass by a crafted question, also after the same one has passed', async () => {
    const { accessToken } = await grantTokens(world, 'profile:read')
    const granted = await grantTokens(world)
    const status = async (query: string, token = accessToken) => (await check(token, query)).status
    for (const query of [
      'scope=site:read&scope=profile:read&environment=development',
      'scope=profile:read&environment=development&environment=production',
      'scope=profile:read&environment=Development',
      'scope=profile:read&environment=',
      'scope=profile:read%00&environment=development',
      'scope=profile:read%0Asite:read&environment=development',
      'scope=PROFILE:READ&environment=development',
      'scope=profile:read,site:read&environment=development',
      'scope[]=profile:read&environment=development',
      `scope=${'profile:read+'.repeat(200)}&environment=development`,
      'scope=profile:read&environment=development&resource=',
      'scope=profile:read&environment=development&resource=site:',
      'scope=profile:read&environment=development&resource=site:blog&resource=site:other',
    ]) {
      expect([query, await status(query)]).toEqual([query, 400])
    }
    const passing = 'scope=site:read&environment=development'
    for (const query of [passing, 'scope=site:read+profile:read&environment=development']) {
      expect(await status(query, granted.accessToken)).toBe(204)
      expect(await status(query)).toBe(403)
    }
    for (const resource of [
      'site:BLOG',
      'site:blog%20',
      'site:%',
      "site:'%20OR%201=1--",
      'site:blog:x',
      'site:bl%C3%B6g',
    ]) {
      expect(await status(`${passing}&resource=${resource}`, granted.accessToken)).toBe(403)
    }
    expect(await status(`${passing}&resource=site%3Ablog`, granted.accessToken)).toBe(204)
    for (const authorization of [
      `bearer  ${granted.accessToken} x`,
      `Basic ${granted.accessToken}`,
      granted.accessToken,
    ]) {
      expect((await fetchPatiently(`${url}/oauth/check?${passing}`, { headers: { authorization } })).status).toBe(401)
    }
    for (const more of [
      'access_token=x',
      'Resource=site:other',
      'resource[]=site:other',
      'resources=',
      'enviroment',
      '=',
    ]) {
      const refused = await check(granted.accessToken, `${passing}&${more}`)
      expect([more, refused.status, await refused.text()]).toEqual([more, 400, expect.stringContaining('resource')])
    }
  })

  test('needs a scope to be asked for, and refuses callers that are no app', async () => {
    const { accessToken } = await grantTokens(world)
    const without = await check(accessToken, '')
    expect([without.status, await without.text()]).toEqual([400, expect.stringContaining('scope: ')])
    expect((await check(accessToken, 'scope=nothing')).status).toBe(400)
    expect((await check(null)).status).toBe(401)
    expect((await check(await signIn(url, user))).status).toBe(403)
    expect((await check(secret)).status).toBe(401)
  })
})

describe('/oauth/userinfo', () => {
  test('tells by GET and by POST what the scopes allow, without a version header', async () => {
    const { accessToken } = await grantTokens(world)
    for (const method of ['GET', 'POST'] as const) {
      const answer = await ask(method, accessToken)
      expect(await answer.json()).toEqual({ sub: user.id, name: 'Ada Example', email: user.email })
    }
    const { accessToken: bare } = await grantTokens(world, 'site:read')
    expect(await (await ask('GET', bare)).json()).toEqual({ sub: user.id })
  })

  test('refuses the token of an app', async () => {
    expect((await ask('GET', await appToken(url, app.development))).status).toBe(403)
  })
})

describe('discovery', () => {
  test('a refused bearer token is told where the metadata is (RFC 9728 section 5.1)', async () => {
    const refused = await call(url, 'GET', '/me', { token: 'apat_wrong' })
    const metadata = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
    const document = JSON.parse(await (await fetchPatiently(metadata)).text())
    expect(document.resource).toBe(`${issuer}/api/app-platform`)
  })

  test('a resource that is not this API is an invalid target (RFC 8707 section 2)', async () => {
    expect((await tokenFor(`${issuer}/api/app-platform`)).status).toBe(200)
    const refused = await tokenFor('https://elsewhere.example/')
    expect([refused.status, JSON.parse(await refused.text()).error]).toEqual([400, 'invalid_target'])
  })

  test('a revocation answers with an empty JSON object', async () => {
    const token = await appToken(url, app.development)
    const body = new URLSearchParams({
      client_id: app.development.clientId,
      client_secret: app.development.clientSecret,
      token,
    })
    const answer = await fetchPatiently(`${url}/oauth/revoke`, { method: 'POST', body })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
  })
})
