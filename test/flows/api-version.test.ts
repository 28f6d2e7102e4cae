import { describe, expect, test } from 'bun:test'
import { type ApiVersion, apiVersionRefusal } from '../../src/domain/api-version.ts'
import { contractRoutes } from './support/contract-routes.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { contractPath, send, sendLines } from './support/send.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const world = await worldOfFile()
const { url } = world.server

/** The request without the header that `send` adds. */
const withoutHeader = async (method: string, path: string, body = '') =>
  await sendLines(
    url,
    [
      `${method} ${contractPath}${path} HTTP/1.1`,
      ...(method === 'POST' ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
    ],
    body,
  )

describe('the version header', () => {
  for (const { method, path } of contractRoutes) {
    test(`is needed by ${method} ${path}, before anything else about the caller is looked at`, async () => {
      const answer = await withoutHeader(method, path, method === 'POST' ? '[broken' : '')
      expectRefusal(answer, 'api_version_missing')
      expect(answer.headers.get('x-service-api-version')).toBe('2026-08')
    })
  }

  for (const value of [
    '2026-07',
    '2027-01',
    '2026-8',
    '2026-08-01',
    'v2026-08',
    '2026',
    '*',
    'latest',
    '2026-08,',
    '"2026-08"',
  ]) {
    test(`must be exactly the version served: ${value} is refused and not replaced by another`, async () => {
      const answer = await send(url, 'GET', '/me', { headers: { 'X-Service-Api-Version': value } })
      expectRefusal(answer, 'api_version_unsupported')
      expect(answer.body.error.details).toEqual({ supported: ['2026-08'] })
      expect(answer.headers.get('x-service-api-version')).toBe('2026-08')
    })
  }

  test('is malformed when it is empty', async () => {
    const answer = await sendLines(url, [`GET ${contractPath}/me HTTP/1.1`, 'X-Service-Api-Version:'])
    expectRefusal(answer, 'api_version_unsupported')
  })

  test('may occur only once, even with equal values', async () => {
    const header = 'X-Service-Api-Version: 2026-08'
    const answer = await sendLines(url, [`GET ${contractPath}/me HTTP/1.1`, header, header])
    expectRefusal(answer, 'api_version_unsupported')
    expect(answer.body.error.details).toEqual({ supported: ['2026-08'] })
  })

  test('is not needed beside the contract', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/openapi-builder.json', '/docs']) {
      expect((await sendLines(url, [`GET ${path} HTTP/1.1`])).status).toBe(200)
    }
    expect((await sendLines(url, ['GET /api/session HTTP/1.1'])).status).toBe(401)
  })
})

describe('every answer of the contract names the version that was served', () => {
  const cases: readonly (readonly [
    status: number,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
  ])[] = [
    [404, 'GET', '/nothing', {}],
    [404, 'GET', '', {}],
    [405, 'DELETE', '/me', {}],
    [413, 'POST', '/token', { 'Content-Type': 'application/json' }],
    [415, 'POST', '/token', { 'Content-Type': 'text/plain' }],
    [401, 'GET', '/me', {}],
    [400, 'GET', '/me', { 'X-Service-Api-Version': 'x' }],
  ]
  for (const [status, method, path, headers] of cases) {
    test(`${status} for ${method} ${path}`, async () => {
      const body = status === 413 ? 'x'.repeat(65 * 1024) : '{}'
      const answer = await send(url, method, path, { headers, ...(method === 'POST' ? { body } : {}) })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-service-api-version')).toBe('2026-08')
    })
  }

  test('and no other answer does', async () => {
    for (const path of ['~/healthz', '~/api/session', '~/nothing', '~/api/app-platformer/me']) {
      expect((await send(url, 'GET', path)).headers.get('x-service-api-version')).toBeNull()
    }
  })
})

test('a retired version is distinguished from an unknown one, with the day it was retired', () => {
  const sunsetAt = Date.UTC(2027, 7, 1)
  const versions: readonly ApiVersion[] = [
    { name: '2026-08', status: 'retired', deprecatedAt: Date.UTC(2026, 7, 1), sunsetAt },
    { name: '2027-08', status: 'stable', deprecatedAt: null, sunsetAt: null },
  ]
  expect(apiVersionRefusal('2026-08', versions)).toMatchObject({
    code: 'api_version_retired',
    facts: { details: { sunsetAt: '2027-08-01T00:00:00.000Z' } },
  })
  expect(apiVersionRefusal('2025-01', versions)).toMatchObject({
    code: 'api_version_unsupported',
    facts: { details: { supported: ['2027-08'] } },
  })
})
