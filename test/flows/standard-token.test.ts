import { describe, expect, test } from 'bun:test'
import { changeAppScopes, setAppStatus } from '../../src/operations/apps/apps.ts'
import { call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, exchange, grantTokens, refresh, verifier } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import {
  basic,
  codeForm,
  expectError,
  expectUncached,
  freshCode,
  inBody,
  refreshForm,
  sendForm,
  standardAppToken,
  standardTokens,
} from './support/standard.ts'

const world = await worldOfFile()
const { url } = world.server

const scope = 'profile.email:read profile:read site:read store:read'
const token = async (form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  await sendForm(url, '/oauth/token', form, { ...basic(world.app.development), ...headers })
const userOf = async (accessToken: string) => (await call(url, 'GET', '/oauth/me', { token: accessToken })).status
const appOf = async (accessToken: string) => await call(url, 'GET', '/me', { token: accessToken })

describe('the token endpoint', () => {
  test('exchanges a code for the fields of RFC 6749 and no others', async () => {
    const answer = await token(codeForm(world.app, await freshCode(world)))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expectUncached(answer)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^apua_/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^apur_/),
      scope,
    })
    expect(await userOf(answer.body.access_token)).toBe(200)
  })

  test('takes the resource of the platform, also several times, and no other', async () => {
    const form = `grant_type=client_credentials&resource=&resource=${encodeURIComponent(`http://localhost:${new URL(url).port}/api/app-platform`)}`
    const post = async (more: string) => await sendForm(url, '/oauth/token', form + more, basic(world.app.development))
    expect((await post(form.slice('grant_type=client_credentials'.length))).status).toBe(200)
    expectError(await post('&resource=https%3A%2F%2Felsewhere.example'), 'invalid_target')
  })

  test('takes an empty Authorization header for none', async () => {
    const form = { grant_type: 'client_credentials', ...inBody(world.app.development) }
    expect((await sendForm(url, '/oauth/token', form, { authorization: '' })).status).toBe(200)
    expect((await call(url, 'GET', '/me', { headers: { authorization: ' ' } })).status).toBe(401)
  })

  test('accepts the credentials in the form, and the same client ID next to the header', async () => {
    const { development } = world.app
    const form = codeForm(world.app, await freshCode(world))
    const posted = await sendForm(url, '/oauth/token', { ...form, ...inBody(development) })
    expect(posted.status).toBe(200)
    const both = await token({ ...refreshForm(posted.body.refresh_token), client_id: development.clientId })
    expect(both.status).toBe(200)
  })

  test('rotates a refresh token: the old pair ends, and the scope is narrowed on request', async () => {
    const first = await standardTokens(world)
    const second = await token({ ...refreshForm(first.refresh_token), scope: 'site:read' })
    expect(second.body).toEqual({
      access_token: expect.stringMatching(/^apua_/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^apur_/),
      scope: 'site:read',
    })
    expect([await userOf(first.access_token), await userOf(second.body.access_token)]).toEqual([401, 200])
    const third = await token(refreshForm(second.body.refresh_token))
    expect(third.body.scope).toBe(scope)
  })

  test('gives an app a token of its own, with the scopes that it asks for', async () => {
    const answer = await token({ grant_type: 'client_credentials', scope: 'store:read site:read' })
    expectUncached(answer)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^apat_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'site:read store:read',
    })
    expect((await appOf(answer.body.access_token)).body.scope).toBe('site:read store:read')
    const { production } = world.app
    const live = await sendForm(url, '/oauth/token', { grant_type: 'client_credentials' }, basic(production))
    expect((await appOf(live.body.access_token)).body.environment).toBe('production')
  })

  test('gives an app that names no scope all registered scopes that apps may have', async () => {
    expect((await token({ grant_type: 'client_credentials' })).body.scope).toBe(
      'site.content:write site:read store:read',
    )
    const app = await addApp(world.platform, world.user, 'profile:read site:read')
    const issue = async (form: Readonly<Record<string, string>> = {}) =>
      await sendForm(url, '/oauth/token', { grant_type: 'client_credentials', ...form }, basic(app.development))
    expect((await issue()).body.scope).toBe('site:read')
    expect((await issue({ scope: '' })).body.scope).toBe('site:read')
    const refused = await issue({ scope: 'store:read' })
    expectError(refused, 'invalid_scope')
    expect(refused.body.error_description).toBe('The app may not ask for the scope store:read.')
    await changeAppScopes(world.platform, trace, operator, { slug: app.slug, scopes: 'profile:read' })
    expectError(await issue(), 'invalid_scope')
  })
})

describe('an error has the form of the RFC', () => {
  test('for an unsupported grant type', async () => {
    for (const grantType of ['password', 'implicit', 'AUTHORIZATION_CODE', 'authorization_code ', 'toString', 'x']) {
      expectError(await token({ grant_type: grantType }), 'unsupported_grant_type')
    }
  })

  test('for wrong client credentials, in the header or the form', async () => {
    const { development, production } = world.app
    const form = { grant_type: 'client_credentials' }
    for (const client of [
      { ...development, clientSecret: production.clientSecret },
      { ...development, clientSecret: `${development.clientSecret}x` },
      { ...development, clientSecret: 'x' },
      { ...development, clientId: production.clientId },
      { ...development, clientId: `apc_dev_${'0'.repeat(22)}` },
      { clientId: 'x', clientSecret: 'x' },
    ]) {
      expectError(await sendForm(url, '/oauth/token', form, basic(client)), 'invalid_client')
      expectError(await sendForm(url, '/oauth/token', { ...form, ...inBody(client) }), 'invalid_client')
    }
    expectError(await sendForm(url, '/oauth/token', form), 'invalid_client')
  })

  test('for every wrong code, URI and verifier alike, and none of them spends the code', async () => {
    const { app } = world
    const form = codeForm(app, await freshCode(world))
    const other = await addApp(world.platform, world.user)
    const said = new Set<string>()
    for (const change of [
      { code: `${form.code.slice(0, -1)}${form.code.endsWith('a') ? 'b' : 'a'}` },
      { code: 'x' },
      { code: form.code.replace('apco_', 'apur_') },
      { code: 'x'.repeat(10_000) },
      { redirect_uri: `${app.redirectUri}/` },
      { redirect_uri: app.liveRedirectUri },
      { redirect_uri: app.redirectUri.toUpperCase() },
      { redirect_uri: 'x'.repeat(10_000) },
      { code_verifier: `${verifier}x` },
      { code_verifier: 'short' },
      { code_verifier: 'x'.repeat(10_000) },
    ]) {
      const answer = await token({ ...form, ...change })
      expectError(answer, 'invalid_grant')
      said.add(answer.body.error_description)
    }
    for (const client of [other.development, app.production]) {
      const answer = await sendForm(url, '/oauth/token', form, basic(client))
      expectError(answer, 'invalid_grant')
      said.add(answer.body.error_description)
    }
    expect(said.size).toBe(1)
    expect((await token(form)).status).toBe(200)
  })

  test('for a scope that is unknown, planned, not registered, not for apps, or more than was granted', async () => {
    const issue = { grant_type: 'client_credentials' }
    for (const wrong of ['nothing', 'customers:read', 'profile:read', ' ', 'site:read,store:read', 'x'.repeat(2_000)]) {
      expectError(await token({ ...issue, scope: wrong }), 'invalid_scope')
    }
    const { refresh_token: refreshToken } = await standardTokens(world)
    for (const wrong of ['site.content:write', 'nothing', 'customers:read', ' ']) {
      expectError(await token({ ...refreshForm(refreshToken), scope: wrong }), 'invalid_scope')
    }
    expect((await token(refreshForm(refreshToken))).status).toBe(200)
  })

  test('for a suspended app with the right secret, until it is active again', async () => {
    const app = await addApp(world.platform, world.user)
    const suspended = { ...world, app }
    const { refresh_token: refreshToken } = await standardTokens(suspended)
    const code = await freshCode(suspended)
    const set = async (status: 'active' | 'suspended') =>
      await setAppStatus(world.platform, trace, operator, { slug: app.slug, status })
    await set('suspended')
    const forms = [codeForm(app, code), refreshForm(refreshToken), { grant_type: 'client_credentials' }]
    for (const form of forms) {
      expectError(await sendForm(url, '/oauth/token', form, basic(app.development)), 'unauthorized_client')
      const wrong = { ...app.development, clientSecret: 'x' }
      expectError(await sendForm(url, '/oauth/token', form, basic(wrong)), 'invalid_client')
    }
    await set('active')
    for (const form of forms) {
      expect((await sendForm(url, '/oauth/token', form, basic(app.development))).status).toBe(200)
    }
  })
})

describe('PKCE cannot be omitted or weakened', () => {
  test('an exchange without the verifier, with the challenge or with a plain one is refused', async () => {
    const form = codeForm(world.app, await freshCode(world))
    const { code_verifier: _, ...without } = form
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    expectError(await token(without), 'invalid_request')
    expectError(await token({ ...form, code_verifier: '' }), 'invalid_request')
    expectError(await token({ ...form, code_verifier: challenge }), 'invalid_grant')
    expectError(await token({ ...without, code_challenge_method: 'plain' }), 'invalid_request')
    expectError(
      await token({ ...form, code_verifier: challenge, code_challenge: challenge, code_challenge_method: 'plain' }),
      'invalid_grant',
    )
    expect((await token(form)).status).toBe(200)
  })
})

describe('both APIs share codes, tokens and revocations', () => {
  test('a code of one API is exchanged and refreshed at the other', async () => {
    const standard = await standardTokens(world)
    const contract = await refresh(url, world.app, standard.refresh_token)
    expect(contract.status).toBe(200)
    expect((await token(refreshForm(contract.body.refreshToken))).status).toBe(200)
  })

  test('a refresh without a key may be repeated at the other, and gives the very same tokens', async () => {
    const { refresh_token: refreshToken } = await standardTokens(world)
    const first = (await token(refreshForm(refreshToken))).body
    const again = (await refresh(url, world.app, refreshToken)).body
    expect([again.accessToken, again.refreshToken]).toEqual([first.access_token, first.refresh_token])
    expect(await userOf(first.access_token)).toBe(200)
  })

  test('a refresh token spent two refreshes ago at one API ends its family when it is presented at the other', async () => {
    const first = await standardTokens(world)
    const second = (await refresh(url, world.app, first.refresh_token)).body
    const third = (await refresh(url, world.app, second.refreshToken)).body
    expectError(await token(refreshForm(first.refresh_token)), 'invalid_grant')
    expect(await userOf(third.accessToken)).toBe(401)
    const fourth = await grantTokens(world)
    const fifth = (await token(refreshForm(fourth.refreshToken))).body
    const sixth = (await token(refreshForm(fifth.refresh_token))).body
    expectRefusal(await refresh(url, world.app, fourth.refreshToken), 'invalid_grant')
    expect(await userOf(sixth.access_token)).toBe(401)
  })

  test('a code spent at one API ends its family when it is presented at the other', async () => {
    const code = await freshCode(world)
    const { body } = await exchange(url, world.app, code)
    expectError(await token(codeForm(world.app, code)), 'invalid_grant')
    expect(await userOf(body.accessToken)).toBe(401)
  })

  test('a token of one API is revoked at the other, in both directions', async () => {
    const standard = await standardTokens(world)
    const issued = await standardAppToken(world)
    for (const each of [standard.refresh_token, issued]) {
      await call(url, 'POST', '/oauth/revoke', { body: { ...world.app.development, token: each } })
    }
    expect([await userOf(standard.access_token), (await appOf(issued)).status]).toEqual([401, 401])
    const contract = await grantTokens(world)
    await sendForm(url, '/oauth/revoke', { token: contract.accessToken }, basic(world.app.development))
    expect(await userOf(contract.accessToken)).toBe(401)
    expectRefusal(await refresh(url, world.app, contract.refreshToken), 'invalid_grant')
  })

  test('one code, 200 exchanges at once: one winner, and the others end what it won', async () => {
    const code = await freshCode(world)
    const answers = await together(200, async (index) =>
      index % 2 === 0 ? await token(codeForm(world.app, code)) : await exchange(url, world.app, code),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(await userOf(won[0]?.body.access_token ?? won[0]?.body.accessToken)).toBe(401)
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 200) continue
      if (index % 2 === 0) expectError(answer, 'invalid_grant')
      else expectRefusal(answer, 'invalid_grant')
    }
  })

  test('one code, 200 exchanges at once at the standard API alone: one winner', async () => {
    const code = await freshCode(world)
    const answers = await together(200, async () => await token(codeForm(world.app, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) expectError(answer, 'invalid_grant')
  })
})

describe('a retry with an Idempotency-Key', () => {
  test('gives the very same tokens, of an exchange and of a refresh, in parallel too', async () => {
    const form = codeForm(world.app, await freshCode(world))
    const key = { 'Idempotency-Key': 'exchange-once' }
    const answers = await together(20, async () => await token(form, key))
    expect(answers.map(({ status }) => status)).toEqual(Array.from(answers, () => 200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    // By the other way to authenticate it is the same request.
    const posted = await sendForm(url, '/oauth/token', { ...form, ...inBody(world.app.development) }, key)
    expect(posted.body.access_token).toBe(answers[0]?.body.access_token)
    const renewing = refreshForm(posted.body.refresh_token)
    const [one, two] = await together(2, async () => await token(renewing, { 'Idempotency-Key': 'refresh-once' }))
    expect(one?.status).toBe(200)
    expect(two?.body.refresh_token).toBe(one?.body.refresh_token)
  })

  test('is reuse with another key, without one, with another body, or at the other API', async () => {
    const again: readonly ((refreshToken: string) => Promise<unknown>)[] = [
      async (refreshToken) => await token(refreshForm(refreshToken), { 'Idempotency-Key': 'k2' }),
      async (refreshToken) => await token(refreshForm(refreshToken)),
      async (refreshToken) =>
        await token({ ...refreshForm(refreshToken), scope: 'site:read' }, { 'Idempotency-Key': 'k1' }),
      async (refreshToken) =>
        await call(url, 'POST', '/oauth/token', {
          body: { grantType: 'refresh_token', ...world.app.development, refreshToken },
          headers: { 'Idempotency-Key': 'k1' },
        }),
    ]
    for (const repeat of again) {
      const { refresh_token: refreshToken } = await standardTokens(world)
      const won = await token(refreshForm(refreshToken), { 'Idempotency-Key': 'k1' })
      expect(won.status).toBe(200)
      expect(await repeat(refreshToken)).toMatchObject({ body: { error: expect.anything() } })
      expect(await userOf(won.body.access_token)).toBe(401)
    }
  })

  test('needs a well-formed key', async () => {
    const { refresh_token: refreshToken } = await standardTokens(world)
    for (const key of ['x'.repeat(256), 'a,b', 'a\u00fcb']) {
      expectError(await token(refreshForm(refreshToken), { 'Idempotency-Key': key }), 'invalid_request')
    }
    expect((await token(refreshForm(refreshToken))).status).toBe(200)
  })
})
