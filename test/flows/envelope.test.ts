import { describe, expect, test } from 'bun:test'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, grantTokens, signIn } from '../support/world.ts'
import { bodyRoutes, contractRoutes } from './support/contract-routes.ts'
import { expectEnvelope, expectRefusal } from './support/expect-refusal.ts'
import { contractPath, send, sendLines } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server

describe('the error envelope', () => {
  for (const path of [
    '~/nothing',
    '~/api',
    '~/api/session/',
    '~/favicon.ico',
    '/nothing',
    '/me/',
    '//me',
    '/%6de',
    '/ME',
  ]) {
    test(`answers ${path}, which is no route`, async () => {
      expectRefusal(await send(url, 'GET', path), 'route_not_found')
      expectRefusal(await send(url, 'POST', path, { body: 'not json' }), 'route_not_found')
    })
  }

  for (const { method, path } of contractRoutes) {
    test(`answers a method that ${path} does not know, and names those it does`, async () => {
      const [plain = ''] = path.split('?')
      const answer = await send(url, 'DELETE', plain)
      expectRefusal(answer, 'method_not_allowed')
      expect(answer.headers.get('allow')?.split(', ')).toContain(method)
      expect(answer.headers.get('allow')?.split(', ')).not.toContain('DELETE')
    })
  }

  test('names every method of a path in Allow', async () => {
    expect((await send(url, 'PUT', '/versions')).headers.get('allow')).toBe('GET, HEAD, POST')
    expect((await send(url, 'PUT', '~/api/session')).headers.get('allow')).toBe('DELETE, GET, HEAD, POST')
    expect((await send(url, 'OPTIONS', '/token')).headers.get('allow')).toBe('POST')
  })

  for (const { path } of bodyRoutes) {
    test(`answers a body that ${path} does not take`, async () => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      expectRefusal(await send(url, 'POST', path, { body: 'a=b', headers }), 'unsupported_media_type')
    })
  }

  for (const type of [
    '',
    'text/json',
    'application/json; charset=latin1',
    'application/jsonp',
    'multipart/form-data',
    'application/json-patch+json',
    'application/json; charset=utf8mb4',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; version=2',
    ';application/json',
  ]) {
    test(`answers the media type ${type === '' ? 'that is missing' : type}`, async () => {
      const lines = [`POST ${contractPath}/token HTTP/1.1`, 'X-Service-Api-Version: 2026-08', 'Content-Length: 2']
      const typed = type === '' ? lines : [...lines, `Content-Type: ${type}`]
      expectRefusal(await sendLines(url, typed, '{}'), 'unsupported_media_type')
    })
  }

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/json;',
    'application/json ; ; charset=utf8',
    'application/json;charset="Utf8";',
  ]) {
    test(`lets the media type ${type} through`, async () => {
      expectRefusal(
        await send(url, 'POST', '/token', { body: '{}', headers: { 'Content-Type': type } }),
        'invalid_request',
      )
    })
  }

  test('never repeats a value of the request', async () => {
    const canary = 'kanarienvogel'
    const session = await signIn(url, world.user)
    const token = await appToken(url, world.app.development)
    const user = await grantTokens(world)
    const answers = [
      await send(url, 'GET', `~/${canary}`),
      await send(url, 'GET', `/${canary}?${canary}=${canary}`),
      await send(url, 'POST', '/token', { body: canary }),
      await send(url, 'POST', '/token', {
        body: `{"clientId":"${canary}","clientSecret":"${canary}","scope":"${canary}"}`,
      }),
      await send(url, 'POST', '/token', { body: JSON.stringify({ ...world.app.development, scope: canary }) }),
      await send(url, 'GET', '/me', { token: canary }),
      await send(url, 'GET', '/me', { headers: { 'X-Service-Api-Version': canary, 'X-Request-Id': canary } }),
      await send(url, 'GET', `/versions?status=${canary}`, { token }),
      await send(url, 'GET', `/versions?cursor=${canary}`, { token }),
      await send(url, 'POST', '/versions', { token, body: `{"version":"${canary}"}` }),
      await send(url, 'POST', '/versions', { token, body: `{"version":"1.0.0","artifact":{"${canary}":1}}` }),
      await send(url, 'POST', '/versions', { token, body: '{}', headers: { 'Idempotency-Key': `${canary},` } }),
      await send(url, 'POST', '/versions/rollback', { token, body: `{"version":"${canary}"}` }),
      await send(url, 'GET', `/resources?kind=${canary}`, { token: user.accessToken }),
      await send(url, 'POST', '/oauth/token', { body: `{"grantType":"${canary}","clientId":"a","clientSecret":"b"}` }),
      await send(url, 'POST', '/oauth/authorize', {
        token: session,
        body: JSON.stringify({
          clientId: canary,
          redirectUri: canary,
          scope: canary,
          state: canary,
          codeChallenge: canary,
          codeChallengeMethod: canary,
        }),
      }),
      await send(url, 'POST', '~/api/session', { body: `{"email":"${canary}","password":"${canary}"}` }),
    ]
    for (const answer of answers) {
      expectEnvelope(answer)
      expect(answer.text).not.toContain(canary)
    }
  })
})

describe('the request ID', () => {
  test('is created by the server for every answer, and never repeats', async () => {
    const ids = new Set<string>()
    const paths = [
      '/me',
      '/nothing',
      '~/',
      '~/healthz',
      '~/metrics',
      '~/docs',
      '~/openapi.json',
      '~/openapi-builder.json',
      '~/docs/start.js',
      '~/api/session',
    ]
    for (const path of [...paths, ...paths]) {
      const id = (await send(url, 'GET', path)).headers.get('x-request-id') ?? ''
      expect(id).toMatch(/^req_[0-9a-f]{32}$/)
      ids.add(id)
    }
    expect(ids.size).toBe(2 * paths.length)
  })

  test("is never the caller's own, which is only logged, when it is at most 128 printable characters", async () => {
    const own = `mine-${'x'.repeat(123)}`
    const answer = await send(url, 'GET', '/me', { headers: { 'X-Request-Id': own } })
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain('mine-')
    await send(url, 'GET', '/me', { headers: { 'X-Request-Id': `long-${'x'.repeat(124)}` } })
    await send(url, 'GET', '/me', { headers: { 'X-Request-Id': 'with space' } })
    const seen = await logged(answer.headers.get('x-request-id') ?? '')
    expect(seen).toContain(own)
    expect(seen).not.toContain('long-')
    expect(seen).not.toContain('with space')
  })
})

/** The log once it has a line for the request: lines are written shortly after the answer. */
const logged = async (requestId: string): Promise<string> => {
  while (!world.server.log().includes(requestId)) await Bun.sleep(20)
  await Bun.sleep(50)
  return world.server.log()
}

describe('every answer of the contract', () => {
  test('may not be cached', async () => {
    const token = await appToken(url, world.app.development)
    for (const answer of [
      await send(url, 'GET', '/me', { token }),
      await send(url, 'GET', '/versions', { token }),
      await send(url, 'POST', '/versions', { token, body: '{"version":"1.0.0"}' }),
      await send(url, 'POST', '/token', { body: JSON.stringify({ ...world.app.development, scope: 'site:read' }) }),
      await send(url, 'GET', '/nothing'),
      await send(url, 'POST', '~/api/session', {
        body: JSON.stringify({ email: world.user.email, password: world.user.password }),
      }),
    ]) {
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('to HEAD is the answer to GET without the content', async () => {
    const token = await appToken(url, world.app.development)
    const got = await send(url, 'GET', '/me', { token })
    const head = await send(url, 'HEAD', '/me', { token })
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String(got.text.length))
    expect(await send(url, 'HEAD', '/me')).toMatchObject({ status: 401, text: '' })
  })
})
