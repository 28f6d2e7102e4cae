import { describe, expect, test } from 'bun:test'
import type { Answer } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { authorizeBody, exchangeBody, refreshBody, signIn } from '../support/world.ts'
import { callerTokens, tokenFor } from './support/caller-tokens.ts'
import { bodyRoutes } from './support/contract-routes.ts'
import { expectEnvelope, expectRefusal } from './support/expect-refusal.ts'
import { chunked, contractPath, send, sendLines, type Sent } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server
const tokens = await callerTokens(world)

const post = async (path: string, body: NonNullable<Sent['body']>): Promise<Answer> =>
  await send(url, 'POST', path, { ...tokenFor(path, tokens), body })

const text = new TextEncoder()
const around = (bytes: readonly number[]) =>
  new Uint8Array([...text.encode('{"version":"'), ...bytes, ...text.encode('"}')])

const notJson: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {
  'nothing at all': '',
  'only spaces': '  ',
  'an object that does not end': '{"a":1',
  'text after the object': '{} x',
  'single quotes': "{'a':1}",
  'a trailing comma': '{"a":1,}',
  'a comment': '{/* a */}',
  'a byte order mark': '\uFEFF{}',
  'a number beyond all doubles': '{"a":1e999}',
  NaN: '{"a":NaN}',
  'a raw control character in a string': '{"a":"\u0001"}',
  'invalid UTF-8': around([0xc3, 0x28]),
  'UTF-8 that is cut off': around([0xe2, 0x82]),
  'overlong UTF-8': around([0xc0, 0xaf]),
  'a lone surrogate in raw bytes': around([0xed, 0xa0, 0x80]),
  'a lone high surrogate by escape': String.raw`{"a":"\ud800"}`,
  'a lone low surrogate by escape': String.raw`{"a":"x\udc00y"}`,
  'a lone surrogate in a key': String.raw`{"\ud800":1}`,
  'a lone surrogate in a field that is ignored': String.raw`{"version":"1.0.0","ignored":{"a":["\ud800"]}}`,
  'NUL by escape': String.raw`{"a":"\u0000"}`,
  'NUL in a key': String.raw`{"\u0000":1}`,
  'raw NUL': '{"a":"\0"}',
  'two equal keys': '{"version":"1.0.0","version":"1.0.0"}',
  'two equal keys, one escaped': String.raw`{"version":"1.0.0","\u0076ersion":"2.0.0"}`,
  'two equal keys far inside': '{"version":"1.0.0","manifest":{"a":[{"b":1,"b":2}]}}',
  'the key __proto__': '{"__proto__":{"consent":true}}',
  'the key __proto__ inside, escaped': String.raw`{"manifest":{"\u005f_proto__":1}}`,
  'more levels than anyone needs': `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  'objects nested too deep': `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`,
  'UTF-16': new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
}

for (const { path } of bodyRoutes) {
  describe(`POST ${path} takes strict JSON in UTF-8`, () => {
    for (const [what, body] of Object.entries(notJson)) {
      test(`and no ${what}`, async () => expectRefusal(await post(path, body), 'invalid_json'))
    }

    for (const body of ['[]', '[{"version":"1.0.0"}]', '"text"', '5', 'true', 'null']) {
      test(`and an object, not ${body}`, async () => expectRefusal(await post(path, body), 'invalid_request'))
    }

    const limit = path === '/versions' ? 16 * 1024 * 1024 : 64 * 1024
    test('up to its limit, with a length and without', async () => {
      const within = text.encode(`{"notes":"${'x'.repeat(limit - 12)}"}`)
      expect(within.length).toBe(limit)
      const beyond = text.encode(`{"notes":"${'x'.repeat(limit - 11)}"}`)
      for (const body of [within, chunked(within)]) {
        const answer = await post(path, body)
        expect(answer.status).not.toBe(413)
        if (answer.status >= 400) expectEnvelope(answer)
      }
      expectRefusal(await post(path, beyond), 'payload_too_large')
      expectRefusal(await post(path, chunked(beyond)), 'payload_too_large')
    })
  })
}

test('a body whose length is too large is refused before it is sent', async () => {
  const lines = [
    `POST ${contractPath}/token HTTP/1.1`,
    'X-Service-Api-Version: 2026-08',
    'Content-Type: application/json',
  ]
  expectRefusal(await sendLines(url, [...lines, 'Content-Length: 99999999999']), 'payload_too_large')
})

/** Values of every type of JSON. */
const values = { null: null, 'a number': 5, true: true, 'a string': 'x', 'a list': ['x'], 'an object': { x: 'x' } }
type Kind = keyof typeof values
const anything: readonly Kind[] = ['null', 'a number', 'true', 'a string', 'a list', 'an object']
const allBut = (...right: readonly Kind[]) => anything.filter((kind) => !right.includes(kind))
const string = allBut('a string')

/** Every field of every body with what it must not be. */
const fields = (): readonly (readonly [
  path: string,
  whole: object,
  wrong: Readonly<Record<string, readonly Kind[]>>,
])[] => [
  [
    '/token',
    { ...world.app.development, scope: 'site:read' },
    { clientId: string, clientSecret: string, scope: string },
  ],
  [
    '/versions',
    { version: '5.0.0', artifact: { filename: 'a', contentBase64: 'aGVsbG8=' } },
    { version: string, notes: string, manifest: allBut('an object'), scopes: anything, artifact: anything },
  ],
  [
    '/versions/rollback',
    {},
    { versionId: string, version: string, environment: anything, reason: string, dryRun: allBut('true') },
  ],
  [
    '/oauth/authorize',
    authorizeBody(world.app),
    {
      clientId: string,
      redirectUri: string,
      scope: string,
      state: string,
      codeChallenge: string,
      codeChallengeMethod: string,
    },
  ],
  [
    '/oauth/token',
    exchangeBody(world.app, 'apco_x'),
    {
      grantType: string,
      clientId: string,
      clientSecret: string,
      code: string,
      redirectUri: string,
      codeVerifier: string,
    },
  ],
  ['/oauth/token', refreshBody(world.app, 'apur_x'), { refreshToken: string, scope: string }],
  [
    '/oauth/revoke',
    { ...world.app.development, token: 'x' },
    { clientId: string, clientSecret: string, token: string, tokenTypeHint: string, grantId: string },
  ],
  ['~/api/session', { email: 'a@example.com', password: 'x' }, { email: string, password: string }],
]

test('no field accepts or coerces a value of another type', async () => {
  for (const [path, whole, wrong] of fields()) {
    for (const [field, kinds] of Object.entries(wrong)) {
      for (const kind of kinds) {
        const answer = await post(path, JSON.stringify({ ...whole, [field]: values[kind] }))
        const isScopeName = field === 'scopes' && kind === 'a list' // a list of names, one of which does not exist
        expect({ path, field, kind, status: answer.status, code: answer.body.error?.code }).toEqual({
          path,
          field,
          kind,
          status: 400,
          code: isScopeName ? 'invalid_scope' : 'invalid_request',
        })
        expectEnvelope(answer)
      }
    }
  }
})

test('an object that cannot be converted to text is refused like any other', async () => {
  const token = { ...world.app.development, scope: 'site:read' }
  for (const wrong of [{ toString: 1 }, { toString: null, valueOf: null }, [{ toString: 1 }], { toJSON: 1 }]) {
    for (const [path, body, param] of [
      ['/token', { ...token, scope: wrong }, 'scope'],
      ['/versions', { version: wrong }, 'version'],
      ['/versions', { version: '6.0.0', scopes: [wrong] }, 'scopes.0'],
      ['/oauth/authorize', { ...authorizeBody(world.app), state: wrong }, 'state'],
      ['~/api/session', { email: wrong, password: 'x' }, 'email'],
      ['~/api/embedded/session', { clientId: wrong, code: 'x' }, 'clientId'],
    ] as const) {
      expectRefusal(await post(path, JSON.stringify(body)), 'invalid_request', param)
    }
  }
})

test('the field at fault is named', async () => {
  for (const [path, whole, wrong] of fields()) {
    for (const [field, kinds] of Object.entries(wrong)) {
      for (const kind of kinds.filter((candidate) => candidate === 'a number')) {
        const { error } = (await post(path, JSON.stringify({ ...whole, [field]: values[kind] }))).body
        expect([path, error.param]).toEqual([path, field])
      }
    }
  }
  const nested = await post(
    '/versions',
    JSON.stringify({ version: '1.0.0', artifact: { filename: 5, contentBase64: 'aGVsbG8=' } }),
  )
  expectRefusal(nested, 'invalid_request', 'artifact.filename')
})

test('every required field is reported when it is missing or empty', async () => {
  const needed: Readonly<Record<string, readonly string[]>> = {
    '/token': ['clientId', 'clientSecret', 'scope'],
    '/versions': ['version'],
    '/oauth/authorize': ['clientId', 'redirectUri', 'scope', 'state', 'codeChallenge', 'codeChallengeMethod'],
    '/oauth/token': ['grantType', 'clientId', 'clientSecret', 'code', 'redirectUri', 'codeVerifier', 'refreshToken'],
    '~/api/session': ['email', 'password'],
  }
  for (const [path, whole] of fields()) {
    for (const field of (needed[path] ?? []).filter((name) => Object.hasOwn(whole, name))) {
      for (const change of [{ [field]: undefined }, { [field]: '' }]) {
        const answer = await post(path, JSON.stringify({ ...whole, ...change }))
        expect([path, field, answer.status]).toEqual([path, field, 400])
        expect(answer.body.error.param).toBe(field)
      }
    }
  }
})

test('fields that the contract does not know are ignored', async () => {
  const extra = { unknown: 1, toString: 'x', constructor: null, nested: { a: [1] } }
  const token = await post('/token', JSON.stringify({ ...world.app.development, scope: 'site:read', ...extra }))
  expect([token.status, Object.keys(token.body).toSorted()]).toEqual([
    200,
    ['accessToken', 'environment', 'expiresIn', 'scope', 'tokenType'],
  ])
  expect((await post('/versions', JSON.stringify({ version: '7.0.0', ...extra }))).status).toBe(201)
  expect((await post('/oauth/authorize', JSON.stringify({ ...authorizeBody(world.app), ...extra }))).status).toBe(200)
  expect((await post('/versions/rollback', JSON.stringify({ version: '7.0.0', ...extra }))).status).toBe(409)
})

const start = (method: string, path: string) => [
  `${method} ${contractPath}${path} HTTP/1.1`,
  'X-Service-Api-Version: 2026-08',
]

describe('a single-value header may not repeat', () => {
  const bodied = ['Content-Type: application/json', 'Content-Length: 2']

  test('Authorization', async () => {
    const header = `Authorization: Bearer ${tokens.app}`
    expectRefusal(await sendLines(url, [...start('GET', '/me'), header, header]), 'invalid_request')
    expectRefusal(await sendLines(url, [...start('GET', '/me'), header, 'Authorization: Bearer x']), 'invalid_request')
  })
  test('Content-Type', async () => {
    expectRefusal(
      await sendLines(url, [...start('POST', '/token'), ...bodied, 'Content-Type: application/json'], '{}'),
      'invalid_request',
    )
  })
  test('Content-Length', async () => {
    expectRefusal(
      await sendLines(url, [...start('POST', '/token'), ...bodied, 'Content-Length: 2'], '{}'),
      'invalid_request',
    )
  })
  test('Host', async () => {
    expectRefusal(await sendLines(url, [...start('GET', '/me'), 'Host: elsewhere.example']), 'invalid_request')
  })
  for (const header of ['Idempotency-Key: a', 'Origin: https://a.example', 'Sec-Fetch-Site: same-origin']) {
    test(header.split(':')[0] ?? '', async () => {
      const lines = [...start('POST', '/versions'), `Authorization: Bearer ${tokens.app}`, ...bodied, header, header]
      expectRefusal(await sendLines(url, lines, '{}'), 'invalid_request')
    })
  }
})

describe('a query parameter may not repeat', () => {
  const cases: readonly (readonly [path: string, query: string, param: string])[] = [
    ['/resources', 'kind=site&kind=store', 'kind'],
    ['/resources', 'kind=site&kind=site', 'kind'],
    ['/resources', 'kind=site&limit=1&limit=2', 'limit'],
    ['/resources', 'kind=site&limit=1&%6cimit=2', 'limit'],
    ['/versions', 'limit=1&limit=1', 'limit'],
    ['/versions', '?limit=1&limit=1', 'limit'], // as URLSearchParams has it: `?` at the start is not of the name
    ['/versions', 'status=draft&status=active', 'status'],
    ['/versions', 'cursor=a&cursor=b', 'cursor'],
  ]
  for (const [path, query, param] of cases) {
    test(`${path}?${query}`, async () => {
      const token = path === '/versions' ? tokens.app : tokens.user
      expectRefusal(await send(url, 'GET', `${path}?${query}`, { token }), 'invalid_request', param)
    })
  }

  test('and an unknown one is ignored', async () => {
    expect((await send(url, 'GET', '/versions?a=1&a=2&limit[]=5&kind=x', { token: tokens.app })).status).toBe(200)
  })
})

describe('a token of 64 KB', () => {
  const huge = 'a'.repeat(64_000)
  test('in a body is refused like any other', async () => {
    expectRefusal(
      await post('/token', JSON.stringify({ ...world.app.development, clientSecret: huge, scope: 'site:read' })),
      'invalid_client',
    )
    expectRefusal(
      await post('/token', JSON.stringify({ ...world.app.development, clientId: huge, scope: 'site:read' })),
      'invalid_client',
    )
    expectRefusal(await post('/token', JSON.stringify({ ...world.app.development, scope: huge })), 'invalid_scope')
    expectRefusal(await post('/oauth/token', JSON.stringify(refreshBody(world.app, huge))), 'invalid_grant')
    expectRefusal(await post('/oauth/token', JSON.stringify(exchangeBody(world.app, huge))), 'invalid_grant')
    expect((await post('/oauth/revoke', JSON.stringify({ ...world.app.development, token: huge }))).body).toEqual({
      revoked: true,
    })
  })
  test('in a header is refused like any other', async () => {
    expectRefusal(await send(url, 'GET', '/me', { token: huge }), 'invalid_token')
    expectRefusal(await send(url, 'GET', '/me', { token: `apat_${huge}` }), 'invalid_token')
    expectRefusal(await send(url, 'GET', '/oauth/me', { token: `apua_${'a'.repeat(12_000)}` }), 'invalid_token')
  })
})

/** The head of a call whose body does not end. */
const endless = (method: string, path: string) => [
  `${method} ${path} HTTP/1.1`,
  'Content-Type: application/json',
  'Transfer-Encoding: chunked',
]

describe('an unexpected body is not read', () => {
  // The chunk never comes: reading the body would wait for it.
  test('before an unauthenticated caller is refused, or at all', async () => {
    expectRefusal(await sendLines(url, endless('DELETE', '/api/session'), 'ff\r\n['), 'login_required')
    const asked = await sendLines(url, endless('OPTIONS', '/api/embedded/session'), 'ff\r\n[')
    expect(asked.status).toBe(204)
    const lines = [...endless('DELETE', '/api/session'), `Authorization: Bearer ${await signIn(url, world.user)}`]
    expect((await sendLines(url, lines, 'ff\r\n[')).status).toBe(204)
  })
})
