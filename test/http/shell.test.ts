import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { rawAnswer, sendRaw } from './support/raw-client.ts'
import { canary, startTestServer } from './support/shell-server.ts'

const server = startTestServer()
const version = { 'X-Service-Api-Version': '2026-08' }
const json = { ...version, 'Content-Type': 'application/json' }
const me = '/api/app-platform/me'
const echo = '/api/app-platform/echo'
const requestId = /^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/

const jsonOf = async (response: Response) => JSON.parse(await response.text())
const codeOf = async (response: Response): Promise<unknown> => (await jsonOf(response)).error?.code
const post = async (body: string | ReadableStream, headers: Record<string, string> = json, path = echo) =>
  await server.call(path, { method: 'POST', headers, body })
const raw = async (lines: readonly string[], body = '') =>
  await rawAnswer(server.port, `${lines.join('\r\n')}\r\n\r\n${body}`)
const get = async (extra: readonly string[]) =>
  await raw([`GET ${me} HTTP/1.1`, 'Host: a', 'X-Service-Api-Version: 2026-08', ...extra])
const challenge = async (code: string, headers: Record<string, string> = {}) =>
  (await server.call(`/refuses/${code}`, { headers })).headers.get('www-authenticate')
const fill = (length: number) => `{"count":1,"free":{},"x":"${'x'.repeat(length)}"}`
const lineOf = (response: { readonly headers: Headers }) =>
  server
    .logged()
    .find((line) => line['requestId'] === response.headers.get('x-request-id') && line['event'] === 'http.answered')

describe('every answer', () => {
  const calls: readonly [string, string, RequestInit, number][] = [
    ['GET', '/plain', {}, 200],
    ['HEAD', '/plain', { method: 'HEAD' }, 200],
    ['DELETE', '/plain', { method: 'DELETE' }, 204],
    ['GET', me, { headers: version }, 200],
    ['GET without version', me, {}, 400],
    ['GET', '/nowhere', {}, 404],
    ['GET', '/api/app-platform/nowhere', {}, 404],
    ['PUT', me, { method: 'PUT' }, 405],
    ['POST too large', echo, { method: 'POST', headers: json, body: 'x'.repeat(70_000) }, 413],
    ['POST without type', echo, { method: 'POST', headers: version, body: '{}' }, 415],
    ['GET', '/throws', {}, 500],
    ['GET', '/docs', {}, 200],
    ['GET', '/openapi.json', {}, 200],
  ]

  test.each(calls)('has its own request ID: %s %s', async (_, path, init, status) => {
    const first = await server.call(path, init)
    const second = await server.call(path, init)
    expect(first.status).toBe(status)
    expect(first.headers.get('x-request-id')).toMatch(requestId)
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  test.each(calls)('forbids sniffing and referrers: %s %s', async (_, path, init) => {
    const { headers } = await server.call(path, init)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.has('strict-transport-security')).toBe(false)
  })

  test.each(calls)(
    'has the served version if and only if the path belongs to the contract: %s %s',
    async (_, path, init) => {
      const { headers } = await server.call(path, init)
      expect(headers.get('x-service-api-version')).toBe(path.startsWith('/api/app-platform/') ? '2026-08' : null)
    },
  )

  test.each(calls)(
    'must not be stored if it is an error or belongs to the contract: %s %s',
    async (_, path, init, status) => {
      const { headers } = await server.call(path, init)
      if (status >= 400 || path.startsWith('/api/')) expect(headers.get('cache-control')).toBe('no-store')
    },
  )

  test.each(calls)('is logged in one line: %s %s', async (_, path, init, status) => {
    const response = await server.call(path, init)
    expect(lineOf(response)).toMatchObject({
      level: status < 500 ? 'info' : 'error',
      status,
      method: init.method ?? 'GET',
      address: '127.0.0.1',
    })
  })

  test.each(calls.filter(([, , , status]) => status >= 400))(
    'has the one body when it is an error: %s %s',
    async (_, path, init) => {
      const response = await server.call(path, init)
      const body = await jsonOf(response)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(Object.keys(body)).toEqual(['error'])
      expect(body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
      expect(body.error.requestId).toBe(response.headers.get('x-request-id'))
    },
  )

  test('has a header of its own about caches, or must not be stored', async () => {
    for (const path of ['/api/session', '/plain', '/healthz', '/metrics']) {
      expect([path, (await server.call(path)).headers.get('cache-control')]).toEqual([path, 'no-store'])
    }
    expect((await server.call('/docs')).headers.get('cache-control')).toBe('no-cache')
  })

  test('requires HTTPS from then on if the public URL has it', async () => {
    const secure = startTestServer({ publicUrl: 'https://apps.example.com' })
    expect((await secure.call('/plain')).headers.get('strict-transport-security')).toBe('max-age=31536000')
  })
})

describe('a request ID of the caller', () => {
  test('is logged and never sent back', async () => {
    const response = await server.call('/plain', { headers: { 'X-Request-Id': 'mine-1' } })
    expect(response.headers.get('x-request-id')).toMatch(requestId)
    expect(lineOf(response)).toMatchObject({ clientRequestId: 'mine-1' })
  })

  test.each(['x'.repeat(129), 'with space', 'ü'])(
    'is not even logged when it is not short printable ASCII: %p',
    async (id) => {
      const response = await raw(['GET /plain HTTP/1.1', 'Host: a', `X-Request-Id: ${id}`])
      expect(response.status).toBe(200)
      expect(lineOf(response)).not.toHaveProperty('clientRequestId')
    },
  )

  test('is withheld from the log if it looks like a secret', async () => {
    const response = await server.call('/plain', { headers: { 'X-Request-Id': 'apat_canary' } })
    expect(lineOf(response)).toMatchObject({ clientRequestId: '[withheld]' })
  })
})

describe('a route', () => {
  test.each([
    '/plain/',
    '//plain',
    '/PLAIN',
    '/pl%61in',
    '/things/',
    '/things/%zz',
    '/things/%ff',
    '/things/a/b',
    '/plain%00',
    '/plain%2f',
  ])('has one spelling: %p is 404', async (path) => {
    const response = await raw([`GET ${path} HTTP/1.1`, 'Host: a'])
    expect(response.status).toBe(404)
    expect(JSON.parse(response.body).error.code).toBe('route_not_found')
    expect(lineOf(response)).toMatchObject({ route: 'unmatched' })
  })

  test('is logged and counted by its pattern, never by its path', async () => {
    const response = await server.call('/things/canary-id?canary-query=1')
    expect(lineOf(response)).toMatchObject({ route: '/things/:id' })
    await server.call('/canary-nowhere')
    const metrics = await server.metrics()
    expect(metrics).toContain('app_platform_http_requests_total{method="GET",route="/things/:id",status="200"}')
    expect(metrics).toContain('route="unmatched",status="404"')
    expect(metrics).not.toContain('canary')
    expect(JSON.stringify(server.logged())).not.toContain('canary-')
  })

  test('lists its methods in the refusal of another one', async () => {
    const response = await server.call('/plain', { method: 'POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('DELETE, GET, HEAD')
    expect(await codeOf(response)).toBe('method_not_allowed')
  })

  test.each(['OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'])('does not answer %s', async (method) => {
    expect((await raw([`${method} /plain HTTP/1.1`, 'Host: a', 'Content-Length: 0'])).status).toBe(405)
  })

  test('answers HEAD as GET, without the body', async () => {
    const answer = await sendRaw(
      server.port,
      'HEAD /plain HTTP/1.1\r\nHost: a\r\n\r\nGET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      (text) => text.endsWith('plain'),
    )
    const [head = '', next = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(/content-length: 5/i)
    expect(next).toStartWith('HTTP/1.1 200 OK')
  })

  test('is found under a Host of any form', async () => {
    for (const host of ['a', 'localhost:1', 'apps.example.com', '[::1]:80', '192.0.2.1']) {
      expect((await raw(['GET /plain HTTP/1.1', `Host: ${host}`])).status).toBe(200)
    }
  })
})

describe('the checks come in order', () => {
  const body = 'x'.repeat(70_000)
  const plain = { 'Content-Type': 'text/plain' }

  test('the route is checked before the size', async () => {
    expect((await post(body, plain, '/nowhere')).status).toBe(404)
    expect((await post(body, plain, me)).status).toBe(405)
  })

  test('the size is checked before the media type, and both before the version', async () => {
    expect(await codeOf(await post(body, plain))).toBe('payload_too_large')
    expect(await codeOf(await post('{}', plain))).toBe('unsupported_media_type')
    expect(await codeOf(await post('{}', { 'Content-Type': 'application/json' }))).toBe('api_version_missing')
  })

  test('the version is checked before the limit, and the limit before the body', async () => {
    const { call } = startTestServer({ rateLimits: { address: { count: 1, seconds: 60 } } })
    const send = async (headers: Record<string, string>) =>
      await codeOf(await call(echo, { method: 'POST', headers, body: '{' }))
    expect(await send(json)).toBe('invalid_json')
    expect(await send({ 'Content-Type': 'application/json' })).toBe('api_version_missing')
    expect(await send(json)).toBe('rate_limited')
  })
})

describe('a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json ;  charset=UTF-8',
  ])('is accepted as %p', async (type) => {
    expect((await post('{"count":1}', { ...version, 'Content-Type': type })).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/json; charset=latin1',
    'application/jsonp',
    'json',
    'application/json; x=y',
  ])('is not accepted as %p', async (type) => {
    expect((await post('{"count":1}', { ...version, 'Content-Type': type })).status).toBe(415)
  })

  test('must have the media type JSON even if it is empty', async () => {
    expect(
      (await raw([`POST ${echo} HTTP/1.1`, 'Host: a', 'X-Service-Api-Version: 2026-08', 'Content-Length: 0'])).status,
    ).toBe(415)
    expect(await codeOf(await post(''))).toBe('invalid_json')
  })

  test('must not exceed the limit of its route, with or without an announced length', async () => {
    expect((await post(fill(60_000))).status).toBe(200)
    expect((await post(fill(66_000))).status).toBe(413)
    expect((await post(fill(66_000), json, '/api/app-platform/large')).status).toBe(200)
    expect((await post(fill(300_000), json, '/api/app-platform/large')).status).toBe(413)
    const chunked = new Blob([fill(66_000)]).stream()
    expect((await post(chunked)).status).toBe(413)
  })

  test('that is refused does not end the connection, and is not read as the next request', async () => {
    const first = `POST ${echo} HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`
    const second = 'GET /plain HTTP/1.1\r\nHost: a\r\n\r\n'
    const answer = await sendRaw(server.port, first + second, (text) => text.endsWith('plain'))
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  test('of a GET is ignored', async () => {
    expect((await raw(['GET /plain HTTP/1.1', 'Host: a', 'Content-Length: 3'], 'abc')).status).toBe(200)
  })
})

describe('a header with a single value may come once', () => {
  test.each([
    ['Host', ['GET /plain HTTP/1.1', 'Host: a', 'Host: b']],
    ['Host', ['GET /plain HTTP/1.1', 'Host: a', 'Host: a']],
    [
      'Content-Type',
      [
        `POST ${echo} HTTP/1.1`,
        'Host: a',
        'Content-Length: 0',
        'Content-Type: application/json',
        'Content-Type: application/json',
      ],
    ],
    [
      'Content-Length',
      [`POST ${echo} HTTP/1.1`, 'Host: a', 'Content-Length: 0', 'Content-Length: 0', 'Content-Type: application/json'],
    ],
    [
      'Idempotency-Key',
      [
        `POST ${echo} HTTP/1.1`,
        'Host: a',
        'X-Service-Api-Version: 2026-08',
        'Content-Type: application/json',
        'Content-Length: 0',
        'Idempotency-Key: a',
        'Idempotency-Key: a',
      ],
    ],
    [
      'Origin',
      [
        `POST ${echo} HTTP/1.1`,
        'Host: a',
        'X-Service-Api-Version: 2026-08',
        'Content-Type: application/json',
        'Content-Length: 0',
        'Origin: http://a',
        'Origin: http://b',
      ],
    ],
    [
      'Sec-Fetch-Site',
      ['DELETE /plain HTTP/1.1', 'Host: a', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-origin'],
    ],
  ])('%s', async (name, lines) => {
    const response = await raw(lines)
    expect(response.status).toBe(400)
    expect(JSON.parse(response.body).error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(name),
    })
  })

  test('Authorization', async () => {
    expect((await get(['Authorization: Bearer a'])).status).toBe(200)
    expect((await get(['Authorization: Bearer a', 'Authorization: Bearer a'])).status).toBe(400)
  })

  test('X-Service-Api-Version', async () => {
    const response = await get(['X-Service-Api-Version: 2026-08'])
    expect(JSON.parse(response.body).error).toMatchObject({
      code: 'api_version_unsupported',
      details: { supported: ['2026-08'] },
    })
  })

  test.each(['', 'a b', 'a/b', 'user@a', 'a,b', 'a:b', 'a?b', '[::1', 'a:123456'])(
    'and a Host must be one: %p',
    async (host) => {
      const response = await raw(['GET /plain HTTP/1.1', `Host: ${host}`])
      expect(response.status).toBe(400)
      expect(JSON.parse(response.body).error.code).toBe('invalid_request')
    },
  )

  test('a request without Host is refused, even in HTTP/1.0', async () => {
    expect((await raw(['GET /plain HTTP/1.0'])).status).toBe(400)
    expect((await raw(['GET /plain HTTP/1.0', 'Host: a', 'Connection: close'])).status).toBe(200)
  })
})

describe('a version', () => {
  test.each(['2026-07', '2026-08 ', 'v2026-08', '2026-08, 2026-08', 'latest', '*', ''])(
    'other than ours is refused: %p',
    async (asked) => {
      const response = await raw([`GET ${me} HTTP/1.1`, 'Host: a', `X-Service-Api-Version: ${asked}`])
      if (asked.trim() === '2026-08') return expect(response.status).toBe(200)
      expect(JSON.parse(response.body).error).toMatchObject({
        code: 'api_version_unsupported',
        details: { supported: ['2026-08'] },
      })
      expect(response.headers.get('x-service-api-version')).toBe('2026-08')
    },
  )

  test('in its overlap is announced as deprecated on every answer of the contract, including errors', async () => {
    const deprecatedAt = Date.UTC(2027, 1, 1)
    const sunsetAt = Date.UTC(2028, 1, 1)
    const aging = startTestServer({ apiVersion: { name: '2026-08', status: 'deprecated', deprecatedAt, sunsetAt } })
    for (const path of [me, '/api/app-platform/nowhere']) {
      const { headers } = await aging.call(path)
      expect(headers.get('deprecation')).toBe('@1801440000')
      expect(headers.get('sunset')).toBe('Tue, 01 Feb 2028 00:00:00 GMT')
      expect(headers.get('link')).toContain('rel="deprecation"')
    }
    expect((await aging.call('/plain')).headers.has('deprecation')).toBe(false)
    expect((await server.call(me)).headers.has('deprecation')).toBe(false)
  })

  test('is required by the contract, and nowhere else', async () => {
    expect(await codeOf(await server.call(me))).toBe('api_version_missing')
    expect((await server.call('/plain')).status).toBe(200)
  })
})

describe('a failure', () => {
  test.each(['/throws', '/throws-text', '/rejects', '/broken-answer'])(
    'of ours says nothing about itself: %p',
    async (path) => {
      const response = await server.call(path)
      const text = await response.text()
      expect(response.status).toBe(500)
      expect(JSON.parse(text).error).toEqual({
        code: 'internal_error',
        message: 'Something went wrong on our side.',
        requestId: response.headers.get('x-request-id'),
      })
    },
  )

  test('is logged under the ID that the caller got, without the parts that it quotes', async () => {
    const response = await server.call('/rejects')
    const line = server
      .logged()
      .find((each) => each['event'] === 'http.failed' && each['requestId'] === response.headers.get('x-request-id'))
    expect(line).toMatchObject({ level: 'error', cause: { name: 'TypeError', message: '"…" is bad' } })
    expect(JSON.stringify(server.logged())).not.toContain(canary)
  })

  test.each([
    ['{"count":"1"}', 'count'],
    ['{}', 'count'],
    ['{"count":1,"nested":{"name":2}}', 'nested.name'],
    ['{"count":1,"list":[{"name":"a"},{"name":2}]}', 'list.1.name'],
    ['{"count":1,"free":{"canary":"x"}}', 'free'],
    ['[]', undefined],
    ['"canary"', undefined],
  ])('of a field names the field and never its value: %p', async (body, param) => {
    const response = await post(body)
    const text = await response.text()
    expect(response.status).toBe(400)
    expect(JSON.parse(text).error.code).toBe('invalid_request')
    expect(JSON.parse(text).error.param).toBe(param)
    expect(text).not.toContain('canary')
  })

  test('of the query names the parameter and never its value', async () => {
    for (const path of ['/query', '/query?kind=canary']) {
      const response = await server.call(path)
      const text = await response.text()
      expect(response.status).toBe(400)
      expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_request', param: 'kind' })
      expect(text).not.toContain('canary')
    }
  })

  test('that is a refusal has its facts in the answer', async () => {
    const response = await server.call('/refuses/invalid_token')
    expect(await jsonOf(response)).toMatchObject({
      error: { code: 'invalid_token', param: 'token', details: { kind: 'app' } },
    })
    expect(lineOf(response)).toMatchObject({ errorCode: 'invalid_token', status: 401 })
    expect((await server.call('/refuses/rate_limited')).headers.get('retry-after')).toBe('8')
  })

  test('of a bearer token says how to authenticate (RFC 6750)', async () => {
    const token = { Authorization: 'bearer x' }
    expect(await challenge('invalid_token')).toBe('Bearer')
    expect(await challenge('invalid_token', token)).toBe('Bearer error="invalid_token"')
    expect(await challenge('login_required', token)).toBe('Bearer')
    expect(await challenge('insufficient_scope', token)).toBe(
      'Bearer error="insufficient_scope", scope="a:read b:read"',
    )
    expect(await challenge('bad_scope', token)).toBe('Bearer error="insufficient_scope"')
    expect(await challenge('invalid_client')).toBeNull()
  })
})

describe('the limit of an address', () => {
  test('is shown on every answer, and refuses with the time to wait', async () => {
    const { call } = startTestServer({ rateLimits: { address: { count: 2, seconds: 60 } } })
    const first = await call('/plain')
    expect(first.headers.get('ratelimit-policy')).toBe('"address";q=2;w=60')
    expect(first.headers.get('ratelimit')).toBe('"address";r=1;t=30')
    await call('/plain')
    const refused = await call('/plain')
    expect(refused.status).toBe(429)
    expect(await codeOf(refused)).toBe('rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 31)
    expect(refused.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/)
  })

  test('counts requests without a route as well', async () => {
    const { call } = startTestServer({ rateLimits: { address: { count: 2, seconds: 60 } } })
    for (const path of ['/nowhere', '/nowhere', '/nowhere']) expect((await call(path)).status).toBe(404)
    expect((await call('/plain')).status).toBe(429)
  })

  test('is not shown if limits are off', async () => {
    expect((await server.call('/plain')).headers.has('ratelimit')).toBe(false)
  })

  test('counts by the address that a trusted proxy saw', async () => {
    const { call } = startTestServer({
      rateLimits: { address: { count: 1, seconds: 60 } },
      trustedProxies: ['127.0.0.1'],
    })
    const from = async (address: string) => (await call('/address', { headers: { 'X-Forwarded-For': address } })).status
    expect(await from('203.0.113.1')).toBe(200)
    expect(await from('203.0.113.1')).toBe(429)
    expect(await from('203.0.113.2')).toBe(200)
  })

  test('counts by the peer if no proxy is trusted', async () => {
    const { call } = startTestServer({ rateLimits: { address: { count: 1, seconds: 60 } } })
    const from = async (address: string) => (await call('/address', { headers: { 'X-Forwarded-For': address } })).status
    expect(await from('203.0.113.1')).toBe(200)
    expect(await from('203.0.113.2')).toBe(429)
  })
})

test('pages are loaded once for all who ask meanwhile; a failure is answered, logged and tried again with the next request', async () => {
  let loads = 0
  const late = startTestServer({
    loadPages: async () => {
      loads += 1
      if (loads === 1) throw new Error('no file descriptor is free')
      await Bun.sleep(20)
      const app = new Elysia().get('/late', async () => 'here')
      return { app, refusalPage: () => null }
    },
  })
  expect(await (await late.call('/plain')).text()).toBe('plain')
  expect(loads).toBe(0)
  const failed = await late.call('/late')
  expect([failed.status, await codeOf(failed)]).toEqual([500, 'internal_error'])
  expect(late.logged().filter(({ event }) => event === 'http.failed')).toHaveLength(1)
  const answers = await Promise.all([late.call('/late'), late.call('/late'), late.call('/nowhere')])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404])
  expect(loads).toBe(2)
})
