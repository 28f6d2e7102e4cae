import { describe, expect, test } from 'bun:test'
import type { AuditEvent } from '../../db/database.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { auditEvents } from '../support/audit-events.ts'
import { sendLines } from '../flows/support/send.ts'
import { call, codeOf } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, authorize, createWorld, endWorld, exchange, exchangeBody, signIn } from '../support/world.ts'
import {
  answerOf,
  type Asked,
  askedBy,
  askPath,
  fieldsOf,
  look,
  post,
  sameOrigin,
  type Seen,
} from './support/front-door.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server
const publicUrl = `http://localhost:${new URL(url).port}`
const session = await signIn(url, world.user)

const ask = async (change: Asked = {}, more = '', who: string | null = session) =>
  await look(url, askPath(world.app, change, more), who)

/** The answer redirects and links nowhere, in particular not to the requested address. */
const expectUnanswered = (seen: Seen, unverified?: string): void => {
  expect({ status: seen.status, location: seen.location }).toEqual({ status: 400, location: null })
  expect(seen.text).toContain('This link does not work')
  expect(seen.text).not.toContain('<form')
  const links = [...seen.text.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, target = '']) => target)
  const known = /^\/(?:assets\/[a-z0-9.]+|console\/[a-z0-9-]+\/redirect-uris\?environment=[a-z]+)?$|^#main$|^data:,$/
  expect(links.filter((target) => !known.test(target))).toEqual([])
  expect(seen.text).not.toContain('http-equiv')
  // The address that was sent is shown as text only, and only if it cannot pass for a sentence.
  const isShown = unverified !== undefined && unverified.length > 3 && seen.text.includes(unverified)
  if (isShown) expect(seen.text.replace(`<code class="whole">${unverified}</code>`, '')).not.toContain(unverified)
}

/** The app gets the error at its redirect URI, with the parameters of RFC 6749 section 4.1.2.1 and RFC 9207. */
const expectRedirected = (seen: Seen, error: string, state: string | null = 'af0ifjsldkj'): void => {
  expect({ status: seen.status, text: seen.text }).toEqual({ status: 303, text: '' })
  const target = new URL(seen.location ?? '')
  expect(target.origin + target.pathname).toBe(world.app.redirectUri)
  expect(seen.location).toMatch(/^[\x21-\x7e]+$/)
  expect(Object.fromEntries(target.searchParams)).toEqual({
    error,
    error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+\.$/),
    ...(state === null ? {} : { state }),
    iss: publicUrl,
  })
  expect(seen.headers.get('cache-control')).toBe('no-store')
}

/** A redirect after a form would stay here, so a page leads on: the address, which may hold a code, is in its link alone. */
const expectLedOn = ({ status, text, location, headers }: Seen): void => {
  expect([status, headers.get('location'), headers.get('refresh')]).toEqual([200, null, `0; url=${location}`])
  expect(text.split(`href="${location?.replaceAll('&', '&amp;')}"`)).toHaveLength(2)
  expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
  expect(headers.has('content-encoding')).toBe(false)
}

/** A page shows the error, with one link to the app that carries the same error and names its host. */
const expectShown = (seen: Seen, error: string, state: string | null = 'af0ifjsldkj'): void => {
  expect({ status: seen.status, location: seen.location }).toEqual({ status: 400, location: null })
  expect(seen.text).not.toMatch(/<form|http-equiv/)
  const [, href = '', words = ''] = /<a href="(https:[^"]+)" class="button">(.*?)<\/a>/.exec(seen.text) ?? []
  expect(words).toBe(`Continue to <bdi>${new URL(world.app.redirectUri).host}</bdi>`)
  expect(seen.text.split('https:').length).toBe(2)
  expectRedirected({ ...seen, status: 303, text: '', location: href.replaceAll('&amp;', '&') }, error, state)
}

describe('the client and the redirect URI', () => {
  test('a request of an unknown client redirects nobody, signed in or not', async () => {
    for (const who of [session, null]) {
      for (const client_id of [
        null,
        '',
        'nobody',
        'apc_dev_0000000000000000000000',
        `${world.app.development.clientId} `,
        'x'.repeat(20_000),
      ]) {
        expectUnanswered(await ask({ client_id }, '', who))
      }
      expectUnanswered(await ask({}, `&client_id=${world.app.development.clientId}`, who))
      expectUnanswered(await ask({}, '&client_id=', who))
    }
  })

  test('the page tells a developer what to send instead', async () => {
    expect((await ask({ client_id: 'nobody' })).text).toContain('Send <code>client_id</code> exactly once')
    expect((await ask({ redirect_uri: '' })).text).toContain('Send <code>redirect_uri</code> exactly once')
  })

  test('a wrong client ID is named as such, by what is wrong with it', async () => {
    const other = world.app.redirectUri // right, but nobody looked
    expect((await ask({ client_id: null })).text).toContain('The client ID is missing')
    for (const client_id of ['nobody', `${world.app.development.clientId} `, world.app.slug, 'apc_dev_']) {
      expect((await ask({ client_id })).text).toContain('This is not a client ID')
    }
    const unknown = await ask({ client_id: 'apc_dev_0000000000000000000000', redirect_uri: other })
    expect(unknown.text).toContain('No app here has this client ID')
    expect(unknown.text).not.toContain(other)
  })

  test('the redirect URI that was sent is shown, unless it could pass for a sentence of ours', async () => {
    for (const redirect_uri of [
      'http://localhost:3000/cb',
      'https://evil.example/<b>',
      'https://evil.example/?a=1&b=2',
    ]) {
      const shown = redirect_uri.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      expect((await ask({ redirect_uri })).text).toContain(`<code class="whole">${shown}</code>`)
    }
    for (const redirect_uri of [
      'Your account is locked',
      'https://evil.example/Call us now',
      'x'.repeat(600),
      'https://é.example/',
    ]) {
      expect((await ask({ redirect_uri })).text).not.toContain('Your app sent this')
    }
  })

  test('only a member of the app is led to its redirect URIs, and told which environment has this one', async () => {
    const member = await addUser(world.platform)
    const own = await addApp(world.platform, member)
    const asked = async (redirect_uri: string, who: string | null) =>
      (await look(url, askPath(own, { redirect_uri }), who)).text
    const link = `/console/${own.slug}/redirect-uris?environment=development`
    const seen = await asked('https://evil.example/', await signIn(url, member))
    expect(seen).toContain(link)
    expect(seen).toContain('The client ID is that of development.')
    expect(await asked(own.liveRedirectUri, await signIn(url, member))).toContain(
      'The URI is registered for production',
    )
    for (const who of [null, session]) {
      for (const uri of ['https://evil.example/', own.liveRedirectUri]) {
        const text = await asked(uri, who)
        expect(text).not.toContain('/console')
        expect(text).not.toContain('The client ID is that of')
        expect(text).not.toContain('is registered for production')
      }
    }
  })

  test('a redirect URI that is missing, empty, repeated, too long or of another client is never answered', async () => {
    const other = await addApp(world.platform, world.user)
    const own = encodeURIComponent(world.app.redirectUri)
    for (const who of [session, null]) {
      for (const redirect_uri of [
        null,
        '',
        world.app.liveRedirectUri,
        other.redirectUri,
        'https://evil.example/',
        `${world.app.redirectUri}${'/x'.repeat(5_000)}`,
      ]) {
        expectUnanswered(await ask({ redirect_uri }, '', who), redirect_uri ?? undefined)
      }
      for (const more of [
        `&redirect_uri=${own}`,
        '&redirect_uri=',
        '&redirect_uri=https://evil.example/',
        '&redirect%5furi=x',
      ]) {
        expectUnanswered(await ask({}, more, who))
      }
      for (const bytes of ['%FF', '%', '%E0%A4%A', `${own}%00`]) {
        expectUnanswered(await ask({ redirect_uri: null }, `&redirect_uri=${bytes}`, who))
      }
    }
    const fragment = `GET ${askPath(world.app, { redirect_uri: null }, `&redirect_uri=${own}#x`)} HTTP/1.1`
    const { status, headers } = await sendLines(url, [fragment])
    expect({ status, location: headers.get('location') }).toEqual({ status: 400, location: null })
  })
})

describe('every other error', () => {
  const faults: readonly (readonly [string, Asked, string])[] = [
    ['a missing response_type', { response_type: null }, 'invalid_request'],
    ['an empty response_type', { response_type: '' }, 'invalid_request'],
    ['another response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['two response types', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['a response_type of 20,000 characters', { response_type: 'x'.repeat(20_000) }, 'unsupported_response_type'],
    ['another response_mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['a missing scope', { scope: null }, 'invalid_scope'],
    ['an empty scope', { scope: '' }, 'invalid_scope'],
    ['a blank scope', { scope: '  ' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'site:read nothing' }, 'invalid_scope'],
    ['a planned scope', { scope: 'store.products:read' }, 'invalid_scope'],
    ['a restricted scope', { scope: 'customers:read' }, 'invalid_scope'],
    ['a scope of 20,000 characters', { scope: 'site:read '.repeat(2_000) }, 'invalid_scope'],
    ['a missing challenge', { code_challenge: null }, 'invalid_request'],
    ['an empty challenge', { code_challenge: '' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'abc' }, 'invalid_request'],
    ['a long challenge', { code_challenge: 'A'.repeat(20_000) }, 'invalid_request'],
    ['no challenge method, which means plain', { code_challenge_method: null }, 'invalid_request'],
    ['the challenge method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['a request URI', { request_uri: 'https://app.example/request' }, 'request_uri_not_supported'],
  ]
  for (const [name, change, error] of faults) {
    test(`${name} is sent to the app as ${error}; before the sign-in only by a link that names the app’s host`, async () => {
      for (const who of [null, 'apus_dead']) expectShown(await ask(change, '', who), error)
      expectRedirected(await ask(change), error)
    })
  }

  test('a repeated, unreadable or too long state is an error, and is not returned', async () => {
    expectRedirected(await ask({ state: 'x'.repeat(2049) }), 'invalid_request', null)
    expectShown(await ask({ state: 'x'.repeat(2049) }, '', null), 'invalid_request', null)
    expectRedirected(await ask({}, '&state=other'), 'invalid_request', null)
    for (const bytes of ['%FF', 'a%00', '%zz'])
      expectRedirected(await ask({ state: null }, `&state=${bytes}`), 'invalid_request', null)
  })

  for (const name of [
    'response_type',
    'response_mode',
    'scope',
    'code_challenge',
    'code_challenge_method',
    'prompt',
    'request',
    'request_uri',
  ]) {
    test(`a repeated ${name} is an error, even with equal values`, async () => {
      const value = askedBy(world.app)[name] ?? 'query'
      for (const more of [value, '', 'other']) {
        expectRedirected(await ask({ [name]: value }, `&${name}=${encodeURIComponent(more)}`), 'invalid_request')
        expectShown(await ask({ [name]: value }, `&${name}=${encodeURIComponent(more)}`, null), 'invalid_request')
      }
    })
  }

  test('prompt=none does not redirect people who are not signed in or have not granted this app anything', async () => {
    const stranger = await signIn(url, await addUser(world.platform))
    const broken = { prompt: 'none', scope: 'nothing' }
    for (const who of [null, 'apus_dead']) {
      expectShown(await ask({ prompt: 'none' }, '', who), 'login_required')
      expectShown(await ask(broken, '', who), 'invalid_scope')
    }
    expectShown(await ask({ prompt: 'none' }, '', stranger), 'consent_required')
    expectShown(await ask(broken, '', stranger), 'invalid_scope')
    expectShown(await ask({ prompt: 'none consent' }, '', stranger), 'invalid_request')
  })

  test('prompt=none redirects with any error a person who has granted this app access, until they revoke it', async () => {
    const user = await addUser(world.platform)
    const token = await signIn(url, user)
    const { body } = await exchange(url, world.app, await authorize(url, token, world.app))
    expectRedirected(await ask({ prompt: 'none' }, '', token), 'consent_required')
    expectRedirected(await ask({ prompt: 'none', scope: 'nothing' }, '', token), 'invalid_scope')
    expectRedirected(await ask({ prompt: 'none consent' }, '', token), 'invalid_request')
    await call(url, 'POST', '/oauth/revoke', { token, body: { grantId: body.grantId } })
    expectShown(await ask({ prompt: 'none' }, '', token), 'consent_required')
  })

  test('is added to the existing query of the redirect URI', async () => {
    const app = await addApp(world.platform, world.user)
    const uri = `https://${app.slug}.example/cb?tenant=a%20b&x`
    await addRedirectUri(world.platform, trace, operator, { slug: app.slug, environment: 'development', uri })
    const { location } = await look(url, askPath(app, { redirect_uri: uri, scope: 'nothing' }), session)
    expect(location).toStartWith(`${uri}&error=invalid_scope&`)
  })
})

describe('a valid request', () => {
  test('of a visitor leads to the sign-in page, without the ignored parameters', async () => {
    for (const who of [null, 'apus_dead', 'x']) {
      const { status, location } = await ask({ prompt: 'login' }, '&nonce=1&nonce=2&audience=a&audience=b', who)
      expect(status).toBe(303)
      const target = new URL(location ?? '', url)
      expect(target.pathname).toBe('/sign-in')
      expect(target.searchParams.get('return_to')).toBe(askPath(world.app))
    }
  })

  test('shows the page every time, and never decides without the person', async () => {
    for (const prompt of [null, 'login', 'consent']) {
      const seen = await ask({ prompt })
      await post(url, '/oauth/authorize', { ...fieldsOf(seen), decision: 'allow' }, { session })
      expect((await ask({ prompt })).status).toBe(200)
    }
  })

  test('needs no state, and then returns none', async () => {
    for (const change of [{ state: null }, { state: '' }]) {
      const denied = { ...fieldsOf(await ask(change)), decision: 'deny' }
      expect(answerOf(await post(url, '/oauth/authorize', denied, { session }))).not.toHaveProperty('state')
      const allowed = { ...fieldsOf(await ask(change)), decision: 'allow' }
      const answer = answerOf(await post(url, '/oauth/authorize', allowed, { session }))
      expect(answer).toMatchObject({ code: expect.any(String), iss: expect.any(String) })
      expect(answer).not.toHaveProperty('state')
    }
  })

  for (const state of [
    'a&code=forged#x',
    '%41',
    ' +=?/\\"\'<script>',
    'ünïcode 🔑',
    '\n\r\t\u0001',
    '\u202Erlo',
    'x'.repeat(2048),
    '\uffee'.repeat(2048),
  ]) {
    test(`returns the state ${JSON.stringify(state.slice(0, 20))} exactly, through the page and its form`, async () => {
      const told = await ask({ state, scope: 'nothing' })
      expect(answerOf(told)['state']).toBe(state)
      const denied = await post(
        url,
        '/oauth/authorize',
        { ...fieldsOf(await ask({ state })), decision: 'deny' },
        { session },
      )
      expect(answerOf(denied)['state']).toBe(state)
      const { location } = await ask({ state }, '', null)
      const back = (await look(url, location ?? '', session)).location ?? '' // signed in: sent on at once
      expect(fieldsOf(await look(url, back, session))['request']).toContain(new URLSearchParams({ state }).toString())
    })
  }
})

/** The outcome of a decision; nothing by default. */
const grantsOfUser = async () => (await world.platform.database.queries.personal.rows('grants', world.user.id)).length
const decide = async (fields: Readonly<Record<string, string>>, options: Parameters<typeof post>[3] = {}) =>
  await post(url, '/oauth/authorize', fields, { session, ...options })

const refused = async (fields: Readonly<Record<string, string>>, options: Parameters<typeof post>[3] = {}) => {
  const before = await grantsOfUser()
  const seen = await decide(fields, options)
  expect({ status: seen.status, location: seen.location }).toEqual({ status: 403, location: null })
  expect(await grantsOfUser()).toBe(before)
  return seen
}

/** The number of codes in the metrics. */
const codesIssued = async (): Promise<number> => {
  const told = /app_platform_tokens_issued_total\{kind="authorization_code"\} (\d+)/.exec(
    (await look(url, '/metrics')).text,
  )
  return Number(told?.[1] ?? 0)
}

describe('the decision', () => {
  test('Allow gives a code that works, with state and issuer', async () => {
    const before = await codesIssued()
    const seen = await decide({ ...fieldsOf(await ask()), decision: 'allow' })
    expectLedOn(seen)
    expect(seen.location).toStartWith(`${world.app.redirectUri}?`)
    const { code = '', ...rest } = answerOf(seen)
    expect(rest).toEqual({ state: 'af0ifjsldkj', iss: publicUrl })
    const tokens = await call(url, 'POST', '/oauth/token', { body: exchangeBody(world.app, code) })
    expect(tokens.body.scope).toBe('profile:read site:read')
    expect(await codesIssued()).toBe(before + 1)
  })

  test('Deny is sent to the app, and issues nothing', async () => {
    const before = await grantsOfUser()
    const denied = await decide({ ...fieldsOf(await ask()), decision: 'deny' })
    expectLedOn(denied)
    expectRedirected({ ...denied, status: 303, text: '' }, 'access_denied')
    expect(await grantsOfUser()).toBe(before)
  })

  test('sent again is refused with a page that offers to ask again', async () => {
    const fields = fieldsOf(await ask())
    await decide({ ...fields, decision: 'deny' })
    const before = await grantsOfUser()
    for (const decision of ['allow', 'deny']) {
      const again = await decide({ ...fields, decision })
      expect({ status: again.status, location: again.location }).toEqual({ status: 422, location: null })
      expect(again.text).toContain('You have already decided')
      expect(again.text).toContain('Ask me again')
      expect(again.headers.get('cache-control')).toBe('no-store')
    }
    expect(await grantsOfUser()).toBe(before)
  })

  test('is refused when anything that was shown has been changed', async () => {
    const { request = '', ticket = '' } = fieldsOf(await ask())
    const live = { client_id: world.app.production.clientId, redirect_uri: world.app.liveRedirectUri }
    const changes: readonly Readonly<Record<string, string>>[] = [
      live,
      { client_id: world.app.production.clientId },
      { redirect_uri: world.app.liveRedirectUri },
      { redirect_uri: 'https://evil.example/' },
      { scope: 'profile:read site:read store:read' },
      { scope: 'profile:read' },
      { scope: 'site:read profile:read' },
      { state: 'af0ifjsldkJ' },
      { code_challenge: challengeOf('another-verifier-another-verifier-another-verifier') },
      { code_challenge_method: 'plain' },
      { response_type: 'token' },
      { prompt: 'none' },
    ]
    for (const change of changes) {
      const altered = new URLSearchParams(request)
      for (const [name, value] of Object.entries(change)) altered.set(name, value)
      for (const decision of ['allow', 'deny']) await refused({ ticket, request: altered.toString(), decision })
    }
    for (const other of ['', `${request}&`, `${request}&state=x`, request.replace('+', '%20'), `x=1&${request}`]) {
      await refused({ ticket, request: other, decision: 'allow' })
    }
    expectLedOn(await decide({ ticket, request, decision: 'allow' })) // and none of it has spent the ticket
  })

  test('is refused in another browser: of the same person, and of somebody else', async () => {
    const fields = { ...fieldsOf(await ask()), decision: 'allow' }
    await refused(fields, { session: await signIn(url, world.user) })
    const other = await addUser(world.platform)
    await refused(fields, { session: await signIn(url, other) })
    expect(await world.platform.database.queries.personal.rows('grants', other.id)).toEqual([])
  })

  test('is refused from any other origin, and without proof of this one', async () => {
    const fields = { ...fieldsOf(await ask()), decision: 'allow' }
    for (const site of ['cross-site', 'same-site', 'none', ''])
      await refused(fields, { headers: { 'Sec-Fetch-Site': site } })
    for (const Origin of [
      'https://evil.example',
      'null',
      `${publicUrl}.evil.example`,
      publicUrl.replace('http', 'https'),
    ]) {
      const seen = await refused(fields, { headers: { Origin } })
      expect(seen.text).not.toContain('Ask me again') // it may be the other origin that asks
    }
    await refused(fields, { headers: {} })
    await refused(fields, { headers: {}, session: null })
    expectLedOn(await decide(fields, { headers: { Origin: publicUrl } }))
  })

  test('is refused unless it is "allow" or "deny"', async () => {
    const fields = fieldsOf(await ask())
    const before = await grantsOfUser()
    for (const decision of ['', 'yes', 'Allow', 'allow ', 'true'])
      expect((await decide({ ...fields, decision })).status).toBe(400)
    expect((await decide(fields)).status).toBe(400)
    const twice = new URLSearchParams({ ...fields, decision: 'deny' }).toString()
    const headers = {
      ...sameOrigin,
      cookie: sessionCookieOf(url, session),
      'content-type': 'application/x-www-form-urlencoded',
    }
    const sent = await fetch(`${url}/oauth/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: `${twice}&decision=allow`,
    })
    expect(sent.status).toBe(400)
    expect(await grantsOfUser()).toBe(before)
  })

  test('does not count when the session has ended: the person signs in, and is asked the same again', async () => {
    const own = await signIn(url, world.user)
    const fields = fieldsOf(await ask({ state: 'kept' }, '', own))
    await call(url, 'DELETE', '~/api/session', { token: own })
    const before = await grantsOfUser()
    const isRefusal = ({ action, target }: AuditEvent) => action === 'bearer.check' && target === world.user.id
    const refusals = async () => (await auditEvents(world.platform)).filter(isRefusal)
    const refusedBefore = (await refusals()).length
    for (const who of [own, null]) {
      const seen = await decide({ ...fields, decision: 'allow' }, { session: who })
      expect(seen.status).toBe(303)
      const target = new URL(seen.location ?? '', url)
      expect(target.origin + target.pathname).toBe(`${url}/sign-in`)
      const back = target.searchParams.get('return_to') ?? ''
      expect(back).toBe(askPath(world.app, { state: 'kept' }))
      expect((await look(url, back, session)).status).toBe(200)
    }
    expect((await refusals()).slice(refusedBefore)).toMatchObject([{ reason: 'login_required' }])
    expect(await grantsOfUser()).toBe(before)
  })
})

test('HEAD answers like GET, other methods are refused, and so is a body of another type, with a page', async () => {
  const path = askPath(world.app)
  const head = await fetch(url + path, { method: 'HEAD', headers: { cookie: sessionCookieOf(url, session) } })
  expect({ status: head.status, type: head.headers.get('content-type') }).toEqual({
    status: 200,
    type: 'text/html; charset=utf-8',
  })
  expect((await fetch(url + path, { method: 'DELETE' })).status).toBe(405)
  const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...sameOrigin } }
  expect((await fetch(`${url}/oauth/authorize`, json)).status).toBe(415)
  expectUnanswered(await look(url, '/oauth/authorize'))
})

describe('switching the account', () => {
  test('signs out, and returns to the same consent page', async () => {
    const own = await signIn(url, world.user)
    const seen = await look(url, askPath(world.app), own)
    const switched = await post(
      url,
      '/oauth/authorize/switch-account',
      fieldsOf(seen, '/oauth/authorize/switch-account'),
      { session: own },
    )
    expect(switched.status).toBe(303)
    expect(new URL(switched.location ?? '', url).searchParams.get('return_to')).toBe(askPath(world.app))
    expect(switched.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(codeOf(await call(url, 'GET', '~/api/session', { token: own }))).toBe('login_required')
  })

  test('works from a page of ours alone, also an old one, and leads only to this server', async () => {
    const seen = await ask()
    const fields = fieldsOf(seen, '/oauth/authorize/switch-account')
    const later = await signIn(url, world.user)
    const { request: _, ...without } = fields
    expect((await post(url, '/oauth/authorize/switch-account', without, { session: later })).status).toBe(400)
    expect((await call(url, 'GET', '~/api/session', { token: later })).status).toBe(200)
    const old = await post(url, '/oauth/authorize/switch-account', fields, { session: later })
    expect(new URL(old.location ?? '', url).searchParams.get('return_to')).toBe(askPath(world.app))
    expect(codeOf(await call(url, 'GET', '~/api/session', { token: later }))).toBe('login_required')
    expect((await post(url, '/oauth/authorize/switch-account', fields, { session, headers: {} })).status).toBe(403)
    const own = await signIn(url, world.user)
    const ownFields = fieldsOf(await look(url, askPath(world.app), own), '/oauth/authorize/switch-account')
    const sent = await post(
      url,
      '/oauth/authorize/switch-account',
      { ...ownFields, request: '//evil.example/?x' },
      { session: own },
    )
    expect(sent.location).toStartWith('/sign-in?return_to=%2Foauth%2Fauthorize%3Fresponse_type%3Dcode')
    expect(sent.location).not.toContain('evil')
  })
})

test('decisions of a person are limited like the API, and the page says when to try again', async () => {
  const limited = await createWorld({ env: { RATE_LIMIT: 'on', RATE_LIMIT_AUTHORIZE: '2/60' } })
  const who = await signIn(limited.server.url, limited.user)
  const fields = { ...fieldsOf(await look(limited.server.url, askPath(limited.app), who)), decision: 'deny' }
  for (const status of [200, 422, 429]) {
    const seen = await post(limited.server.url, '/oauth/authorize', fields, { session: who })
    expect(seen.status).toBe(status)
    expect(seen.headers.has('retry-after')).toBe(status === 429)
    expect(seen.headers.get('content-type') ?? 'text/html').toStartWith('text/html')
  }
  await endWorld(limited)
})
