import { describe, expect, test } from 'bun:test'
import { auditEvents } from '../support/audit-events.ts'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp } from '../support/world.ts'
import { chunked, send, sendLines } from './support/send.ts'
import {
  basic,
  basicOf,
  codeForm,
  expectError,
  type FormPath,
  formPaths,
  freshCode,
  inBody,
  refreshForm,
  sendForm,
  standardAppToken,
  standardTokens,
} from './support/standard.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server
const app = world.app
const other = await addApp(world.platform, world.user)
const tokens = await standardTokens(world)

type Request = { readonly path: FormPath; readonly name: string; readonly form: Readonly<Record<string, string>> }
/** One good request of every kind, credentials in the form; nothing in these tests may spend what they present. */
const requests = async (): Promise<readonly Request[]> => [
  {
    path: '/oauth/token',
    name: 'an exchange',
    form: { ...codeForm(app, await freshCode(world)), ...inBody(app.development) },
  },
  {
    path: '/oauth/token',
    name: 'a refresh',
    form: { ...refreshForm(tokens.refresh_token), ...inBody(app.development) },
  },
  {
    path: '/oauth/token',
    name: 'an issue',
    form: { grant_type: 'client_credentials', scope: 'site:read', ...inBody(app.development) },
  },
  {
    path: '/oauth/revoke',
    name: 'a revocation',
    form: { token: tokens.access_token, token_type_hint: 'access_token', ...inBody(app.development) },
  },
  {
    path: '/oauth/introspect',
    name: 'an introspection',
    form: { token: tokens.access_token, token_type_hint: 'access_token', ...inBody(app.development) },
  },
]
const post = async ({ path }: Request, form: Parameters<typeof sendForm>[2], headers: Record<string, string> = {}) =>
  await sendForm(url, path, form, headers)
const optional = new Set(['scope', 'token_type_hint'])
const without = (form: Readonly<Record<string, string>>, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)))
const encoded = (form: Readonly<Record<string, string>>) => new URLSearchParams(form).toString()
const nothingSpent = async () => {
  expect((await call(url, 'GET', '/oauth/me', { token: tokens.access_token })).status).toBe(200)
}

/** The audit rows of a request. */
const rowsOf = async (requestId: string) =>
  (await auditEvents(world.platform)).filter((event) => event.requestId === requestId)

/** As the contract spells it. */
const camel = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
/** Every character as its code. */
const escaped = (text: string) => text.replaceAll(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
/** The first character as its code, the rest as it is. */
const hex = (name: string) => name.charCodeAt(0).toString(16) + name.slice(1)

describe('every parameter', () => {
  test('that is repeated is refused, whether its values are equal, different or empty', async () => {
    for (const request of await requests()) {
      for (const [name, value] of Object.entries(request.form)) {
        for (const more of [`${name}=${encodeURIComponent(value)}`, `${name}=x`, `${name}=`, name, `%${hex(name)}=x`]) {
          expectError(await post(request, `${encoded(request.form)}&${more}`), 'invalid_request')
          expectError(await post(request, `${more}&${encoded(request.form)}`), 'invalid_request')
        }
      }
    }
    await nothingSpent()
  })

  test('that is missing or empty is refused', async () => {
    for (const request of await requests()) {
      for (const name of Object.keys(request.form)) {
        if (optional.has(name)) continue
        const error = name.startsWith('client_') ? 'invalid_client' : 'invalid_request'
        const left = without(request.form, name)
        expectError(await post(request, left), error)
        expectError(await post(request, { ...left, [name]: '' }), error)
        expectError(await post(request, `${encoded(left)}&${name}`), error)
      }
    }
    await nothingSpent()
  })

  test('that is too long or malformed is refused with its own error', async () => {
    const errors: Readonly<Record<string, Parameters<typeof expectError>[1]>> = {
      grant_type: 'unsupported_grant_type',
      client_id: 'invalid_client',
      client_secret: 'invalid_client',
      scope: 'invalid_scope',
      code: 'invalid_grant',
      redirect_uri: 'invalid_grant',
      code_verifier: 'invalid_grant',
      refresh_token: 'invalid_grant',
    }
    for (const request of await requests()) {
      for (const name of Object.keys(request.form)) {
        const error = errors[name]
        if (error === undefined) continue
        for (const value of [
          'x'.repeat(30_000),
          'ü'.repeat(5_000),
          ' ',
          '\u0001',
          '\ud83d\ude00',
          "'; DROP TABLE grants",
        ]) {
          expectError(await post(request, { ...request.form, [name]: value }), error)
        }
      }
    }
    await nothingSpent()
  })

  test('in the spelling of the contract is unknown here', async () => {
    for (const request of await requests()) {
      const renamed = Object.fromEntries(Object.entries(request.form).map(([name, value]) => [camel(name), value]))
      expectError(await post(request, renamed), 'invalid_client')
      for (const name of Object.keys(request.form)) {
        if (optional.has(name) || camel(name) === name) continue
        const error = name.startsWith('client_') ? 'invalid_client' : 'invalid_request'
        const { [name]: value = '', ...left } = request.form
        expectError(await post(request, { ...left, [camel(name)]: value }), error)
      }
      const shouted = Object.fromEntries(
        Object.entries(request.form).map(([name, value]) => [name.toUpperCase(), value]),
      )
      expectError(await post(request, shouted), 'invalid_client')
    }
    await nothingSpent()
  })

  test('that is unknown is ignored, and refused without its name if it is repeated', async () => {
    const form = { grant_type: 'client_credentials', clientId: 'x', resources: 'y', __proto__: 'z', toString: 'x' }
    const answer = await sendForm(url, '/oauth/token', `${encoded(form)}&&audience`, basic(app.development))
    expect(answer.status).toBe(200)
    for (const request of await requests()) {
      const refused = await post(request, `${encoded(request.form)}&canary=1&canary=2`)
      expectError(refused, 'invalid_request')
      expect(JSON.stringify(refused.body)).not.toContain('canary')
    }
    await nothingSpent()
  })

  test('in the URL is refused and never logged', async () => {
    for (const request of await requests()) {
      for (const [name, value] of Object.entries(request.form)) {
        const left = without(request.form, name)
        for (const spelling of [name, `%${hex(name)}`]) {
          const path = `${request.path}?${spelling}=${encodeURIComponent(value)}`
          expectError(await sendForm(url, path, left), 'invalid_request')
          expectError(await sendForm(url, path, request.form), 'invalid_request')
        }
      }
    }
    await nothingSpent()
    for (const secret of [app.development.clientSecret, tokens.access_token, tokens.refresh_token]) {
      expect(world.server.log()).not.toContain(secret.slice(0, 40))
    }
  })
})

describe('a client authenticates', () => {
  const issue = { grant_type: 'client_credentials' }

  test('by one method, never by header and form at once', async () => {
    for (const request of await requests()) {
      const own = request.path === '/oauth/revoke' ? [] : [basic(app.development)] // which takes the same ones by both
      for (const header of [...own, basic(other.development), { Authorization: 'Bearer x' }]) {
        expectError(await post(request, request.form, header), 'invalid_request')
      }
      const inHeader = without(request.form, 'client_id', 'client_secret')
      const assertion = { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' }
      for (const more of [assertion, { client_assertion: 'x' }]) {
        expectError(await post(request, { ...inHeader, ...more }, basic(app.development)), 'invalid_request')
        expectError(await post(request, { ...request.form, ...more }), 'invalid_request')
        expectError(await post(request, { ...inHeader, ...more }), 'invalid_client')
      }
    }
    await nothingSpent()
  })

  test('as itself: a client ID next to the header must be the same', async () => {
    for (const request of await requests()) {
      const form = without(request.form, 'client_secret')
      for (const clientId of [other.development.clientId, app.production.clientId, 'x', `${form['client_id']} `]) {
        const answer = await post(request, { ...form, client_id: clientId }, basic(app.development))
        expectError(answer, 'invalid_request')
      }
      expectError(await post(request, form, basic(other.development)), 'invalid_request')
    }
    await nothingSpent()
  })

  test('with a well-formed header; a malformed one is refused and recorded like a wrong one', async () => {
    const { clientId, clientSecret } = app.development
    const good = basic(app.development).Authorization
    const bytes = Buffer.from(`${clientId}:${clientSecret}`)
    const bad: readonly string[] = [
      'Basic',
      'Basic !!!',
      `Basic ${clientId}:${clientSecret}`,
      `${good}=`,
      `${good}====`,
      `Basic ${bytes.toString('base64url')}_`,
      `Basic ${bytes.toString('hex')}`,
      basicOf(clientId).Authorization,
      basicOf(`${clientId}%:${clientSecret}`).Authorization,
      basicOf(`${clientId}:${clientSecret}%zz`).Authorization,
      basicOf(`${clientId}:${clientSecret}%ff`).Authorization,
      basicOf(Buffer.concat([bytes, Buffer.from([0xff])])).Authorization,
      basicOf(`${clientId}:${clientSecret}\0`).Authorization,
      basicOf(`:${clientSecret}`).Authorization,
      basicOf(`${clientId}:`).Authorization,
      basicOf(':').Authorization,
      basicOf(`${clientSecret}:${clientId}`).Authorization,
      `Bearer ${tokens.access_token}`,
      `Digest username="${clientId}"`,
      'Negotiate YTpi',
      clientSecret,
    ]
    for (const Authorization of bad) {
      for (const request of await requests()) {
        const form = without(request.form, 'client_id', 'client_secret')
        const answer = await post(request, form, { Authorization })
        expectError(answer, 'invalid_client')
        const [row] = await rowsOf(answer.headers.get('x-request-id') ?? '')
        expect(row).toMatchObject({ outcome: 'refused', reason: 'invalid_client' })
      }
    }
    await nothingSpent()
  })

  test('with a form-encoded ID and secret, in any equivalent spelling', async () => {
    const { clientId, clientSecret } = app.development
    for (const pair of [
      `${clientId}:${clientSecret}`,
      `${escaped(clientId)}:${escaped(clientSecret)}`,
      `${clientId.replace('_', '%5F')}:${clientSecret.replace('_', '%5f')}`,
    ]) {
      expect((await sendForm(url, '/oauth/token', issue, basicOf(pair))).status).toBe(200)
    }
    expect(
      (
        await sendForm(url, '/oauth/token', issue, {
          Authorization: basic(app.development).Authorization.replace('Basic', 'bASIC'),
        })
      ).status,
    ).toBe(200)
  })

  test('once; two Authorization headers are refused', async () => {
    const body = encoded(issue)
    const answer = await sendLines(
      url,
      [
        'POST /oauth/token HTTP/1.1',
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
        `Authorization: ${basic(app.development).Authorization}`,
        `Authorization: ${basic(other.development).Authorization}`,
      ],
      body,
    )
    expectError(answer, 'invalid_request')
  })

  test('not by a session or a cookie', async () => {
    const headers = { Cookie: sessionCookieOf(url, 'apus_x'), 'Sec-Fetch-Site': 'same-origin' }
    for (const path of formPaths) {
      expectError(await sendForm(url, path, { ...issue, token: 'x' }, headers), 'invalid_client')
    }
  })
})

describe('a body', () => {
  test('of another media type is refused, including JSON', async () => {
    for (const request of await requests()) {
      for (const type of [
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded; charset=latin1',
        'application/x-www-form-urlencoded-x',
        'x',
      ]) {
        expectError(await post(request, request.form, { 'Content-Type': type }), 'invalid_request', 415)
      }
      const head = [`POST ${request.path} HTTP/1.1`, 'Content-Length: 3']
      expectError(await sendLines(url, head, 'a=b'), 'invalid_request', 415)
    }
    await nothingSpent()
  })

  test('may name its charset', async () => {
    for (const charset of ['charset=utf-8', 'charset=UTF-8', 'charset="utf-8"']) {
      const headers = { ...basic(app.development), 'Content-Type': `application/x-www-form-urlencoded;${charset}` }
      const answer = await sendForm(url, '/oauth/token', { grant_type: 'client_credentials' }, headers)
      expect(answer.status).toBe(200)
    }
  })

  test('is decoded strictly', async () => {
    for (const request of await requests()) {
      for (const more of ['x=%', 'x=%f', 'x=%zz', 'x=%ff', 'x=%00', '%ff=x', 'x=%ED%A0%80', 'x=\0']) {
        expectError(await post(request, `${encoded(request.form)}&${more}`), 'invalid_request')
      }
      const body = new Uint8Array([...Buffer.from(`${encoded(request.form)}&x=`), 0xff])
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      expectError(await send(url, 'POST', `~${request.path}`, { body, headers }), 'invalid_request')
      expectError(await post(request, `\ufeff${encoded(request.form)}`), 'invalid_request')
      expectError(await post(request, JSON.stringify(request.form)), 'invalid_client')
      expectError(await post(request, ''), 'invalid_client')
    }
    await nothingSpent()
  })

  test('that is too large is refused, with and without a length', async () => {
    for (const path of formPaths) {
      const headers = { ...basic(app.development), 'Content-Type': 'application/x-www-form-urlencoded' }
      const body = `token=${'x'.repeat(64 * 1024)}`
      expectError(await send(url, 'POST', `~${path}`, { body, headers }), 'invalid_request', 413)
      const stream = chunked(Buffer.from(body))
      expectError(await send(url, 'POST', `~${path}`, { body: stream, headers }), 'invalid_request', 413)
    }
  })
})

describe('a method', () => {
  test('other than POST is refused, even with the credentials in the URL', async () => {
    for (const path of formPaths) {
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        const headers = { Origin: 'https://elsewhere.example', Accept: 'text/html' }
        const answer = await send(url, method, `~${path}?${encoded(inBody(app.development))}`, { headers })
        expectError(answer, 'invalid_request', 405)
        expect(answer.headers.get('allow')).toBe('POST')
      }
      expect((await send(url, 'HEAD', `~${path}`)).status).toBe(405)
    }
  })
})

test('the version header has no effect', async () => {
  for (const version of ['1999-01', 'x', '']) {
    const headers = { ...basic(app.development), 'X-Service-Api-Version': version }
    const answer = await sendForm(url, '/oauth/introspect', { token: await standardAppToken(world) }, headers)
    expect(answer.body.active).toBe(true)
    expect(answer.headers.has('x-service-api-version')).toBe(false)
  }
})

test('no error repeats a value of the request', async () => {
  const canary = 'kanarienvogel'
  const forms = [
    { [canary]: canary },
    { grant_type: canary, token: canary },
    { grant_type: 'refresh_token', refresh_token: canary, scope: canary },
  ]
  for (const path of formPaths) {
    for (const form of forms) {
      for (const headers of [
        basic(app.development),
        basicOf(`${canary}:${canary}`),
        { Authorization: `Basic ${canary}` },
      ]) {
        const answer = await sendForm(url, path, { ...form, scope: canary, token_type_hint: canary }, headers)
        expect(answer.text).not.toContain(canary)
        expect(JSON.stringify([...answer.headers])).not.toContain(canary)
      }
    }
  }
  expect(world.server.log()).not.toContain(canary)
})
