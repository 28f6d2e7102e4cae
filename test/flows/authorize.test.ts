import { describe, expect, test } from 'bun:test'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, appToken, authorizeBody, exchangeBody, grantTokens, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server
const session = await signIn(url, world.user)

const ask = async (change: object = {}) =>
  await call(url, 'POST', '/oauth/authorize', { token: session, body: { ...authorizeBody(world.app), ...change } })

describe('POST /oauth/authorize', () => {
  test('answers with a code and its redirect target, and nothing else', async () => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body).toEqual({
      code: expect.stringMatching(/^apco_[0-9A-Za-z]{71}$/),
      state: 'af0ifjsldkj',
      redirectUri: world.app.redirectUri,
      redirectTo: expect.any(String),
      scope: 'profile.email:read profile:read site:read store:read',
      expiresIn: 300,
    })
    const target = new URL(body.redirectTo)
    expect(target.origin + target.pathname).toBe(world.app.redirectUri)
    expect([...target.searchParams.keys()].toSorted()).toEqual(['code', 'iss', 'state'])
    expect(target.searchParams.get('code')).toBe(body.code)
    expect(target.searchParams.get('state')).toBe('af0ifjsldkj')
    expect(target.searchParams.get('iss')).toBe(`http://localhost:${new URL(url).port}`)
    expect(target.hash).toBe('')
  })

  test('gives a new code and a new grant every time', async () => {
    const codes = new Set([(await ask()).body.code, (await ask()).body.code, (await ask()).body.code])
    expect(codes.size).toBe(3)
  })

  for (const state of [
    'a&code=forged#x',
    '%41%00',
    ' +=?/\\"\'<script>',
    'ünïcode 🔑 \u{10FFFF}',
    '\n\r\t\u0001',
    '?',
    '\u202Erlo',
    'x'.repeat(2048),
  ]) {
    test(`echoes the state ${JSON.stringify(state.slice(0, 24))} exactly`, async () => {
      const { status, body } = await ask({ state })
      expect(status).toBe(200)
      expect(body.state).toBe(state)
      const target = new URL(body.redirectTo)
      expect(target.searchParams.getAll('state')).toEqual([state])
      expect(target.searchParams.getAll('code')).toEqual([body.code])
      expect(target.hash).toBe('')
      expect(body.redirectTo).toMatch(/^[\x21-\x7e]+$/)
    })
  }

  test('refuses a state that is empty or longer than 2048 characters', async () => {
    expectRefusal(await ask({ state: '' }), 'invalid_request', 'state')
    expectRefusal(await ask({ state: 'x'.repeat(2049) }), 'invalid_request', 'state')
  })

  for (const consent of [false, 'true', 1, null, [], [true], {}, 'yes', undefined]) {
    test(`takes ${JSON.stringify(consent) ?? 'nothing'} for no consent`, async () => {
      expectRefusal(await ask({ consent }), 'consent_required', 'consent')
    })
  }

  test('accepts S256 and no other method', async () => {
    for (const codeChallengeMethod of ['plain', 's256', 'S512', 'S256 ', 'none']) {
      expectRefusal(await ask({ codeChallengeMethod }), 'unsupported_code_challenge_method', 'codeChallengeMethod')
    }
  })

  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
  for (const codeChallenge of [
    challenge.slice(1),
    `${challenge}A`,
    `${challenge}=`,
    challenge.replace('-', '+'),
    challenge.replace('-', '/'),
    challenge.replace('E', 'é'),
    ` ${challenge.slice(1)}`,
    'x'.repeat(128),
    `${challenge}\n`,
  ]) {
    test(`takes no challenge such as ${JSON.stringify(codeChallenge.slice(0, 48))}`, async () => {
      expectRefusal(await ask({ codeChallenge }), 'invalid_request', 'codeChallenge')
    })
  }

  test('accepts the code challenge of the RFC', async () => {
    expect((await ask({ codeChallenge: challenge })).status).toBe(200)
  })

  test('refuses an unknown client', async () => {
    for (const clientId of ['nobody', 'apc_dev_0000000000000000000000', world.app.development.clientId.slice(0, -1)]) {
      expectRefusal(await ask({ clientId }), 'invalid_client')
    }
  })

  test('refuses scopes that do not exist, cannot be issued or are not registered', async () => {
    for (const scope of ['nothing', ' ', 'site:read nothing'])
      expectRefusal(await ask({ scope }), 'invalid_scope', 'scope')
    expectRefusal(await ask({ scope: 'site:read customers:read' }), 'scope_not_available', 'scope')
    const app = await addApp(world.platform, world.user, 'site:read')
    const body = { ...authorizeBody(app), scope: 'site:read store:read' }
    expectRefusal(await call(url, 'POST', '/oauth/authorize', { token: session, body }), 'scope_not_allowed', 'scope')
  })

  test('never redirects with a refusal', async () => {
    for (const answer of [
      await ask({ consent: false }),
      await ask({ redirectUri: 'https://evil.example/' }),
      await ask({ scope: 'nothing' }),
    ]) {
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.text).not.toContain('redirectTo')
      expect(answer.text).not.toContain('https://')
    }
  })
})

describe('the redirect URI', () => {
  test('is compared byte for byte', async () => {
    const uri = world.app.redirectUri
    const others = [
      `${uri}/`,
      `${uri}?`,
      `${uri}#`,
      `${uri}?a=b`,
      uri.toUpperCase(),
      uri.replace('https://', 'HTTPS://'),
      uri.replace('https://', 'http://'),
      uri.replace('.example', '.EXAMPLE'),
      uri.replace('.example', '.example:443'),
      uri.replace('.example', '.example.'),
      uri.replace('https://', 'https://user@'),
      uri.replace('/dev/', '/./dev/'),
      uri.replace('/dev/', '/x/../dev/'),
      uri.replace('/dev/', '//dev/'),
      uri.replace('/dev', '/%64ev'),
      ` ${uri}`,
      `${uri} `,
      `${uri}\n`,
      uri.replace('callback', 'callbаck'), // a Cyrillic а
      uri.slice(0, -1),
      '*',
      'https://*',
    ]
    for (const redirectUri of others) expectRefusal(await ask({ redirectUri }), 'invalid_redirect_uri', 'redirectUri')
  })

  test('is registered for one environment of an app', async () => {
    const { app } = world
    expectRefusal(await ask({ redirectUri: app.liveRedirectUri }), 'invalid_redirect_uri')
    expectRefusal(await ask({ clientId: app.production.clientId }), 'invalid_redirect_uri')
    expect((await ask({ clientId: app.production.clientId, redirectUri: app.liveRedirectUri })).status).toBe(200)
    const other = await addApp(world.platform, world.user)
    expectRefusal(await ask({ redirectUri: other.redirectUri }), 'invalid_redirect_uri')
  })

  test('is refused once it is removed', async () => {
    const app = await addApp(world.platform, world.user)
    const body = authorizeBody(app)
    expect((await call(url, 'POST', '/oauth/authorize', { token: session, body })).status).toBe(200)
    const input = { slug: app.slug, environment: 'development', uri: app.redirectUri } as const
    await removeRedirectUri(world.platform, trace, operator, input)
    expectRefusal(await call(url, 'POST', '/oauth/authorize', { token: session, body }), 'invalid_redirect_uri')
  })

  test('keeps its own query, to which the answer is added', async () => {
    const { app } = world
    const uri = `https://${app.slug}.example/cb?tenant=a%20b`
    await addRedirectUri(world.platform, trace, operator, { slug: app.slug, environment: 'development', uri })
    const { body } = await ask({ redirectUri: uri })
    expect(body.redirectTo).toStartWith(`${uri}&`)
    expect(new URL(body.redirectTo).searchParams.getAll('code')).toEqual([body.code])
  })
})

const ofSession = (token: string) => sessionCookieOf(world.server.url, token)
const byCookie = async (headers: Readonly<Record<string, string>>, cookie = ofSession(session)) =>
  await send(url, 'POST', '/oauth/authorize', {
    body: JSON.stringify(authorizeBody(world.app)),
    headers: { Cookie: cookie, ...headers },
  })
const publicUrl = () => `http://localhost:${new URL(url).port}`

describe('the caller is the signed-in user', () => {
  test('by cookie, with proof that the request comes from this origin', async () => {
    expect((await byCookie({ 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
    expect((await byCookie({ Origin: publicUrl() })).status).toBe(200)
    expect((await byCookie({ Origin: publicUrl() }, `a=b; ${ofSession(session)}; c=d`)).status).toBe(200)
  })

  test('and not by cookie alone', async () => {
    const others = [
      'http://evil.example',
      'null',
      `${publicUrl()}/`,
      publicUrl().replace('http:', 'https:'),
      url,
      `${publicUrl()}.evil.example`,
      '',
    ]
    expectRefusal(await byCookie({}), 'origin_not_allowed')
    for (const Origin of others) expectRefusal(await byCookie({ Origin }), 'origin_not_allowed')
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      expectRefusal(await byCookie({ 'Sec-Fetch-Site': site }), 'origin_not_allowed')
    }
  })

  test('and not by a cookie that is ended or of another name', async () => {
    const proof = { 'Sec-Fetch-Site': 'same-origin' }
    const dead = [
      ofSession(''),
      ofSession('x'),
      ofSession(`${session}x`),
      ofSession(session).toUpperCase(),
      `session=${session}`,
      `__Host-session=${session}`,
    ]
    for (const cookie of dead) {
      const answer = await byCookie(proof, cookie)
      expectRefusal(answer, 'login_required')
      expect(answer.headers.get('www-authenticate')).toStartWith('Bearer resource_metadata=')
    }
    expectRefusal(await byCookie({}, ofSession('x')), 'login_required')
    // Of two with the right name, the one of a live session counts: programs of the same host can set the other.
    for (const cookie of [
      ['x', session],
      [session, 'x'],
      [session, session],
    ].map((both) => both.map(ofSession).join('; '))) {
      expect((await byCookie(proof, cookie)).status).toBe(200)
    }
  })

  test('and a live token of another kind is forbidden', async () => {
    for (const token of [await appToken(url, world.app.development), (await grantTokens(world)).accessToken]) {
      expectRefusal(
        await call(url, 'POST', '/oauth/authorize', { token, body: authorizeBody(world.app) }),
        'token_type_not_allowed',
      )
    }
  })

  test('and a bearer token takes precedence over the cookie, even if it has ended', async () => {
    const headers = { 'Sec-Fetch-Site': 'same-origin', Authorization: 'Bearer apus_dead' }
    expectRefusal(await byCookie(headers), 'login_required')
  })
})

test('a refused authorization leaves no working code', async () => {
  const refused = await ask({ consent: false })
  expectRefusal(refused, 'consent_required')
  expectRefusal(
    await call(url, 'POST', '/oauth/token', { body: exchangeBody(world.app, refused.body.code ?? 'apco_none') }),
    'invalid_grant',
  )
})
