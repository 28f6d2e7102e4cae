import { formPaths, resourceMetadataPath, serverMetadataPath } from '../../src/http/paths.ts'
import { describe, expect, test } from 'bun:test'
import { readWholeApi } from '../support/api-documents.ts'
import { call } from '../support/call.ts'
import { embedOrigin } from '../support/embedding.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { authorizeBody, exchangeBody } from '../support/world.ts'
import { createTokenKinds, outcomeOf, type TokenKind } from './support/token-kinds.ts'
import { sessionCookieOf } from '../support/cookie.ts'

// Every endpoint with every kind of token, in every place where one can stand. What is expected is the contract's, written by hand.

const world = await worldOfFile()
const kinds = await createTokenKinds(world)

const onItsPage = 'bearer on its own page'

/** How a caller shows what it has. */
type Way = 'bearer' | 'bearer on its own page' | 'basic' | 'cookie' | 'cookie on a page of ours'

const headersFor = (way: Way, token: string): Record<string, string> => {
  switch (way) {
    case 'bearer':
      return { Authorization: `Bearer ${token}` }
    case 'bearer on its own page':
      return { Authorization: `Bearer ${token}`, Origin: embedOrigin(world.app) }
    case 'basic':
      return { Authorization: `Basic ${Buffer.from(`${world.app.development.clientId}:${token}`).toString('base64')}` }
    case 'cookie':
      return { Cookie: sessionCookieOf(world.server.url, token) }
    case 'cookie on a page of ours':
      return { Cookie: sessionCookieOf(world.server.url, token), 'Sec-Fetch-Site': 'same-origin' }
    default:
      return way satisfies never
  }
}

/** The answer to a token that is not accepted here. */
type Column = 'none' | TokenKind
type Expected = (column: Column, way: Way) => string

const isSession = (column: Column): boolean => column === 'session' || column === "operator's session"
const isApp = (column: Column): boolean => column === 'development app token' || column === 'production app token'
const isCookie = (way: Way): boolean => way.startsWith('cookie')
const isBearer = (way: Way): boolean => way.startsWith('bearer')

/** An embedded session is one on its own page alone. */
const embedded = (way: Way, onItsPage: string): string =>
  way === 'bearer on its own page' ? onItsPage : '403 origin_not_allowed'

const forApps =
  (development: string, production: string): Expected =>
  (column, way) => {
    if (!isBearer(way)) return '401 invalid_token'
    if (column === 'development app token') return development
    if (column === 'production app token') return production
    if (column === 'user access token' || isSession(column)) return '403 token_type_not_allowed'
    return column === 'embedded session' ? embedded(way, '403 token_type_not_allowed') : '401 invalid_token'
  }

const forEndpoints = forApps('404 record_not_found', '403 development_credentials_required')

const forUsers: Expected = (column, way) => {
  if (!isBearer(way)) return '401 invalid_token'
  if (column === 'user access token') return '200'
  if (isApp(column) || isSession(column)) return '403 token_type_not_allowed'
  return column === 'embedded session' ? embedded(way, '200') : '401 invalid_token'
}

/** For apps, and for apps that act for a user. */
const forBoth =
  (success: string): Expected =>
  (column, way) => {
    if (!isBearer(way)) return '401 invalid_token'
    if (isApp(column) || column === 'user access token') return success
    if (isSession(column)) return '403 token_type_not_allowed'
    return column === 'embedded session' ? embedded(way, '403 token_type_not_allowed') : '401 invalid_token'
  }

/** Below /oauth/, errors have the names of RFC 6750. */
const inStandardForm =
  (expected: Expected): Expected =>
  (column, way) =>
    expected(column, way).replace(/^403.*/, '403 insufficient_scope')

const forUserInfo = inStandardForm((column, way) =>
  column === 'embedded session' && isBearer(way) ? '403' : forUsers(column, way),
)

/** Tokens of development pass where they are asked for. */
const forChecks = inStandardForm((column, way) => {
  if (!isBearer(way)) return '401 invalid_token'
  if (column === 'development app token' || column === 'user access token') return '204'
  return isApp(column) || isSession(column) || column === 'embedded session' ? '403' : '401 invalid_token'
})

/** The management API takes service keys and nothing else. This one has no right here, and the body is empty. */
const forManagement =
  (refusal: string): Expected =>
  (column, way) =>
    column === 'service key' && isBearer(way) ? refusal : '401 invalid_token'

const managementCalls = [
  ['GET', 'users'],
  ['POST', 'users'],
  ['PUT', 'users/{externalId}'],
  ['GET', 'users/{externalId}'],
  ['DELETE', 'users/{externalId}'],
  ['GET', 'users/{externalId}/export'],
  ['POST', 'users/{externalId}/end-access'],
  ['GET', 'resources/{kind}'],
  ['PUT', 'resources/{kind}/{externalId}'],
  ['GET', 'resources/{kind}/{externalId}'],
  ['DELETE', 'resources/{kind}/{externalId}'],
  ['POST', 'resources/import'],
  ['GET', 'installs'],
  ['POST', 'installs/{id}/approve'],
  ['POST', 'installs/{id}/reject'],
  ['POST', 'installs/{id}/deactivate'],
  ['GET', 'apps'],
  ['POST', 'apps/{app}/transfer'],
  ['DELETE', 'apps/{app}'],
  ['GET', 'scopes'],
  ['PUT', 'scopes/{name}'],
  ['GET', 'scopes/{name}'],
  ['DELETE', 'scopes/{name}'],
  ['PUT', 'scopes/{name}/apps/{app}'],
  ['DELETE', 'scopes/{name}/apps/{app}'],
  ['GET', 'webhooks'],
  ['POST', 'webhooks/{id}/ping'],
  ['GET', 'webhooks/{id}/attempts'],
  ['POST', 'webhooks/{id}/resend'],
  ['GET', 'audit'],
  ['POST', 'commands'],
  ['POST', 'sign-in-requests/{id}/accept'],
  ['POST', 'sign-in-requests/{id}/reject'],
].map(([method = '', path = '']) => [method, `~/api/management/${path}`] as const)

const forSessions =
  (success: string): Expected =>
  (column, way) => {
    if (isCookie(way) && isSession(column)) return way === 'cookie' ? '403 origin_not_allowed' : success
    if (!isBearer(way)) return '401 login_required'
    if (isSession(column)) return success
    if (isApp(column) || column === 'user access token') return '403 token_type_not_allowed'
    return column === 'embedded session' ? embedded(way, '403 token_type_not_allowed') : '401 login_required'
  }

/** With `{}`: a token revokes itself, a user has to say what. */
const forRevocation: Expected = (column, way) => {
  if (column === 'none') return '401 invalid_client'
  if (isCookie(way)) {
    if (!isSession(column)) return '401 login_required'
    return way === 'cookie' ? '403 origin_not_allowed' : '400 invalid_request'
  }
  if (way === 'basic') return '401 invalid_token'
  if (isSession(column)) return '400 invalid_request'
  if (isApp(column) || column === 'user access token') return '200'
  return column === 'embedded session' ? embedded(way, '403 token_type_not_allowed') : '401 invalid_token'
}

type Row = {
  readonly name?: string
  readonly method: string
  readonly path: string
  readonly body?: () => unknown
  readonly expected: Expected
  /** A call that succeeds ends what it was made with. */
  readonly endsToken?: true
}
const always =
  (outcome: string): Expected =>
  () =>
    outcome

const managementRow = ([method, path]: (typeof managementCalls)[number]): Row => ({
  method,
  path,
  ...(method === 'GET' || method === 'DELETE' ? {} : { body: () => ({}) }),
  expected: forManagement(needsInput.test(`${method} ${path}`) ? '400 invalid_request' : '403 right_missing'),
})
/** Calls that ask for a query or a body, which is looked at before the rights of the key. */
const needsInput = /^PUT (?!.*\/apps\/)|\/sign-in-requests\/|^GET [^ ]*\/apps$|\/transfer$|\/commands$/

const rows: readonly Row[] = [
  { method: 'GET', path: '/me', expected: forApps('200', '200') },
  { method: 'GET', path: '/versions', expected: forApps('200', '403 development_credentials_required') },
  {
    method: 'POST',
    path: '/versions',
    body: () => ({ version: '7.0.0', activate: true }),
    expected: forApps('403 activation_not_allowed', '403 development_credentials_required'),
  },
  {
    method: 'DELETE',
    path: '/versions/{id}',
    expected: forApps('404 version_not_found', '403 development_credentials_required'),
  },
  {
    method: 'POST',
    path: '/versions/rollback',
    body: () => ({ version: '99.0.0' }),
    expected: forApps('404 version_not_found', '403 development_credentials_required'),
  },
  { method: 'GET', path: '/webhooks', expected: forApps('200', '403 development_credentials_required') },
  { method: 'POST', path: '/webhooks/{id}/ping', body: () => ({}), expected: forEndpoints },
  { method: 'GET', path: '/webhooks/{id}/attempts', expected: forEndpoints },
  { method: 'POST', path: '/webhooks/{id}/resend', body: () => ({ failed: true }), expected: forEndpoints },
  { method: 'GET', path: '/oauth/me', expected: forUsers },
  { method: 'GET', path: '/resources?kind=site', expected: forUsers },
  { method: 'GET', path: '/installs', expected: forBoth('200') },
  { method: 'GET', path: '/installs/{id}', expected: forBoth('404 install_not_found') },
  { method: 'POST', path: '/oauth/authorize', body: () => authorizeBody(world.app), expected: forSessions('200') },
  { method: 'GET', path: '~/api/session', expected: forSessions('200') },
  { method: 'DELETE', path: '~/api/session', expected: forSessions('204'), endsToken: true },
  { method: 'POST', path: '/oauth/revoke', body: () => ({}), expected: forRevocation, endsToken: true },
  // These know their callers by the body: a header is neither needed nor of any help.
  {
    method: 'POST',
    path: '/token',
    body: () => ({ ...world.app.development, scope: 'site:read' }),
    expected: always('200'),
  },
  {
    method: 'POST',
    path: '/token',
    name: 'POST /token with a wrong secret',
    body: () => ({ ...world.app.development, clientSecret: 'wrong', scope: 'site:read' }),
    expected: always('401 invalid_client'),
  },
  {
    method: 'POST',
    path: '/oauth/token',
    body: () => exchangeBody(world.app, 'apco_nothing'),
    expected: always('401 invalid_grant'),
  },
  {
    method: 'POST',
    path: '~/api/embedded/session',
    body: () => ({ clientId: world.app.production.clientId, code: 'apic_nothing' }),
    expected: always('401 invalid_grant'),
  },
  {
    method: 'POST',
    path: '~/api/session',
    body: () => ({ email: world.user.email, password: 'not the password' }),
    expected: (_, way) => (way === onItsPage ? '403 origin_not_allowed' : '401 invalid_login'),
  },
  { method: 'GET', path: '~/oauth/userinfo', expected: forUserInfo },
  { method: 'POST', path: '~/oauth/userinfo', body: () => ({}), expected: forUserInfo },
  {
    method: 'GET',
    path: '~/oauth/check?scope=site:read&environment=development',
    expected: forChecks,
  },
  ...managementCalls.map(managementRow),
  { method: 'GET', path: '~/healthz', expected: always('200') },
  { method: 'GET', path: '~/readyz', expected: always('200') },
  { method: 'GET', path: '~/apps.json', expected: always('200') },
  { method: 'GET', path: '~/metrics', expected: always('200') },
]

const ways: readonly Way[] = ['bearer', onItsPage, 'basic', 'cookie', 'cookie on a page of ours']
const entries = () => Object.entries(kinds) as readonly [TokenKind, () => Promise<string>][]

test('every endpoint of the OpenAPI documents is in the matrix', async () => {
  const { paths } = await readWholeApi(world.server.url)
  const ofClients = new Set([...formPaths, serverMetadataPath, `${resourceMetadataPath}/api/app-platform`]) // no token
  const others = Object.entries<object>(paths).filter(([path]) => !ofClients.has(path))
  const documented = others.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const here = new Set(
    rows.map(({ method, path }) => {
      const [plain = ''] = path.split('?')
      return `${method} ${plain.startsWith('~') ? plain.slice(1) : `/api/app-platform${plain}`}`
    }),
  )
  expect(documented.filter((each) => !here.has(each))).toEqual([])
})

describe('each kind of token, presented in each way, gets the answer of the contract:', () => {
  for (const { method, path, name = `${method} ${path}`, body, expected, endsToken = false } of rows) {
    test(name, async () => {
      const wrong: string[] = []
      const ask = async (column: Column, way: Way, token: string | null) => {
        const sent = body === undefined ? {} : { body: body() }
        const type = /\/import$|\/management\/users$/.test(path) ? { 'Content-Type': 'application/x-ndjson' } : {}
        const headers = { ...(token === null ? {} : headersFor(way, token)), ...type }
        const told = outcomeOf(await call(world.server.url, method, path, { ...sent, headers }))
        const right = expected(column, way)
        if (told !== right) wrong.push(`${column} as ${way}: ${told}, not ${right}`)
      }
      await ask('none', 'basic', null)
      for (const [kind, source] of entries()) {
        const token = await source()
        for (const way of ways.filter((one) => one !== onItsPage || kind.includes('embedded')))
          await ask(kind, way, endsToken ? await source() : token)
      }
      expect(wrong).toEqual([])
    })
  }
})
