import { describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { join } from 'node:path'
import { isErrorCode, statusOf } from '../../src/domain/errors.ts'
import { manifestDifference } from '../../src/domain/manifest-difference.ts'
import { type Answer, call, type Json } from '../support/call.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { documentPaths } from '../support/api-documents.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addApp,
  appToken,
  authorizeBody,
  createWorld,
  endWorld,
  exchangeBody,
  grantTokens,
  refreshBody,
  signIn,
} from '../support/world.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { operator, trace } from '../support/operator.ts'
import { codesOf, createPromises, responseTo } from '../support/promised-answers.ts'
import { withoutReferences } from '../support/without-references.ts'
import { contractRoutes } from './support/contract-routes.ts'
import { contractPath, send } from './support/send.ts'
import { sessionCookieOf } from '../support/cookie.ts'

/** The document with one line for each operation and each part, so that its text is not longer than what it says. */
const lines = (value: unknown, depth: number): string =>
  depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([name, part]) => `${JSON.stringify(name)}: ${lines(part, depth - 1)}`)
        .join(',\n')}\n}`

/** The documents as they were agreed. */
const goldenOf = (path: string): string => join(import.meta.dir, path.replace('.json', '.golden.json'))

const world = await worldOfFile()
const { url } = world.server
/** With a fixed host in the place of the test server's. */
const documentOf = async (base: string, path: string): Promise<Json> => {
  const { text } = await send(base, 'GET', `~${path}`)
  return JSON.parse(
    text.replaceAll(/http:\/\/localhost:\d+/g, 'https://platform.example').replaceAll(/app-platform-\d+-/g, '__Host-'),
  )
}
const documents = await Promise.all(
  documentPaths.map(async (path) => ({ path, document: await documentOf(url, path) }) as const),
)
const complete = { paths: Object.assign({}, ...documents.map(({ document }) => withoutReferences(document).paths)) }
const promises = createPromises(complete)

const short = (value: unknown): string => JSON.stringify(value).slice(0, 200)

/** The places where a document is not as agreed, such as `removed paths["/healthz"].get: {…}`; key order is no difference. */
const differences = (agreed: Json, document: Json): readonly string[] =>
  Array.from(manifestDifference(agreed, document), (change) => {
    const place = `${change.kind} ${change.path}`
    if (change.kind === 'added') return `${place}: ${short(change.after)}`
    if (change.kind === 'removed') return `${place}: ${short(change.before)}`
    return `${place}: ${short(change.before)} is now ${short(change.after)}`
  })

type Operation = { readonly name: string; readonly path: string; readonly method: string; readonly told: Json }
const operations = (paths: Json = complete.paths): readonly Operation[] =>
  Object.entries<Json>(paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, told]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      told,
    })),
  )
const schemasOf = ({ told }: Operation): readonly (readonly [place: string, schema: Json])[] => [
  ...(told.parameters ?? []).map((parameter: Json) => [`parameter ${parameter.name}`, parameter]),
  ...Object.entries<Json>(told.requestBody?.content ?? {}).map(
    ([type, media]) => [`body ${type}`, media.schema] as const,
  ),
  ...Object.entries<Json>(told.responses).flatMap(([status, response]) =>
    Object.entries<Json>(response.content ?? {}).map(([type, media]) => [`${status} ${type}`, media.schema] as const),
  ),
]

describe.each(documents)('the document $path', ({ path, document }) => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
  })

  test('matches the golden document', async () => {
    if (process.env['UPDATE_GOLDEN'] === '1') await Bun.write(goldenOf(path), `${lines(document, 3)}\n`)
    const found = differences(await Bun.file(goldenOf(path)).json(), document)
    expect(found, 'If this change is meant: UPDATE_GOLDEN=1 bun test test/flows/openapi.test.ts').toEqual([])
  })

  test('is the same on a server that has handled other requests before', async () => {
    const other = await createWorld()
    await grantTokens(other)
    await appToken(other.server.url, other.app.development)
    expect(await documentOf(other.server.url, path)).toEqual(document)
    await endWorld(other)
  })

  test('has models with names for every body, and each is used', () => {
    const text = JSON.stringify(document)
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
    const bodies = operations(document.paths).flatMap(({ name, told }) =>
      [told.requestBody, ...Object.values<Json>(told.responses)].flatMap((part: Json) =>
        Object.values<Json>(part?.content ?? {}).map(({ schema }) => [name, schema.anyOf ?? [schema]] as const),
      ),
    )
    const unnamed = bodies.filter(([, schemas]) => schemas.some(({ $ref }: Json) => $ref === undefined))
    const imports = ['POST /api/management/users', 'POST /api/management/resources/import']
    const plain = new Set(['POST /oauth/revoke', 'GET /metrics', ...imports]) // an empty object, and text
    expect(unnamed.map(([name]) => name).filter((name) => !plain.has(name) && !name.includes('well-known'))).toEqual([])
    expect(text).not.toMatch(/"(?:activate|publish|submit)":/) // fields that an upload must not have
  })

  test('has operations that its readers can call, and no security scheme that none of them takes', () => {
    const schemes = new Set(operations(document.paths).flatMap(({ told }) => told.security.flatMap(Object.keys)))
    expect(Object.keys(document.components.securitySchemes).toSorted()).toEqual([...schemes].toSorted())
    expect(schemes.has('serviceKey')).toBe(true) // introspection, in both
    const onlyForTheBuilder = operations(document.paths).filter(({ told }) =>
      told.security.every((way: object) => Object.hasOwn(way, 'serviceKey')),
    )
    expect(onlyForTheBuilder.length > 0).toBe(path === '/openapi-builder.json')
  })

  test('names no other host', () => {
    const hosts = [...JSON.stringify(document).matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host = '']) => host)
    const others = hosts.filter((host) => !/(?:^|\.)example(?:\.com)?$/.test(host))
    expect([...new Set(others)]).toEqual(['opensource.org']) // the licence
  })
})

describe('the two documents', () => {
  test('have every endpoint of the contract, and a name of its own for each operation', () => {
    const inContract = contractRoutes.map(({ method, path }) => `${method} ${contractPath}${path.split('?')[0]}`)
    const missing = new Set(inContract).difference(new Set(operations().map(({ name }) => name)))
    expect([...missing]).toEqual([])
    const ids = operations().map(({ told }) => told.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('describe every field', () => {
    const faults: string[] = []
    const visit = (place: string, field: Json): void => {
      if (typeof field.description !== 'string' || field.description === '') faults.push(`${place} has no description`)
      const inner = field.items ?? field
      for (const [name, child] of Object.entries<Json>(inner.properties ?? {})) visit(`${place}.${name}`, child)
    }
    for (const operation of operations()) {
      for (const [place, schema] of schemasOf(operation)) {
        if (place.startsWith('parameter')) visit(`${operation.name} ${place}`, schema)
        for (const { properties } of schema.anyOf ?? [schema]) {
          for (const [name, child] of Object.entries<Json>(properties ?? {}))
            visit(`${operation.name} ${place} ${name}`, child)
        }
      }
    }
    expect(faults).toEqual([])
  })

  test('give a whole example of every body, which fits its schema', () => {
    const faults = operations().flatMap(({ name, told }) =>
      [told.requestBody, ...Object.values<Json>(told.responses)].flatMap((part: Json) =>
        Object.values<Json>(part?.content ?? {}).flatMap(({ schema, examples }) => {
          if (schema.type === 'string' || Object.keys(schema.properties ?? {}).length === 0) return [] // metrics, metadata
          const fault = promises.misfit(schema, examples?.whole?.value)
          return fault === null ? [] : [`${name}: ${fault}`]
        }),
      ),
    )
    expect(faults).toEqual([])
  })

  test('name the models that people look for', () => {
    const names = documents.flatMap(({ document }) => Object.keys(document.components.schemas))
    expect(names).toContainValues(['Version', 'Resource', 'Error', 'AppToken', 'UserTokens', 'ManagedUser'])
  })

  test('name every error code of every operation under its own status', () => {
    for (const operation of operations()) {
      if (operation.path.startsWith('/oauth/')) continue // in the format of the RFCs
      const errors = Object.keys(operation.told['x-error-codes'])
      const described = Object.keys(operation.told.responses).filter((status) => Number(status) >= 400)
      expect([operation.name, errors]).toEqual([operation.name, expect.arrayContaining([...described, '429', '500'])])
      for (const status of errors) {
        const codes = codesOf(operation.told, status)
        expect([operation.name, codes.length > 0, responseTo(operation.told, status)?.content]).toEqual([
          operation.name,
          true,
          { 'application/json': expect.anything() },
        ])
        for (const code of codes) expect(isErrorCode(code) ? String(statusOf(code)) : code).toBe(status)
      }
    }
  })

  test('ask for the version header on every endpoint of the contract and on no other', () => {
    for (const { name, path, told } of operations()) {
      const header = (told.parameters ?? []).find((parameter: Json) => parameter.name === 'X-Service-Api-Version')
      expect([name, header?.required ?? false]).toEqual([name, path.startsWith(contractPath)])
    }
  })
})

/** How an answer differs from what the document promises; null when it does not. */
const faultOf = (method: string, path: string, { status, body }: Answer): string | null => {
  const [plain = ''] = path.split('?')
  const fault = promises.faultOf(method, plain.startsWith('~') ? plain.slice(1) : contractPath + plain, status, body)
  return fault === null ? null : `${method} ${path}: ${fault}`
}

/** What a page of an app in a frame sends with every call. */
const pageInAFrame = async (session: string) => {
  const { platform, user } = world
  const app = await addApp(platform, user)
  const code = await openInstall(platform, session, await addEmbeddedInstall(platform, app, user))
  const origin = embedOrigin(app)
  const { body } = await exchangeInstallCode(url, { clientId: app.production.clientId, code, origin })
  return { token: body.sessionToken, headers: { Origin: origin } }
}

test('every answer of a long walk matches the documents', async () => {
  const { app, user } = world
  const faults: (string | null)[] = []
  const session = await signIn(url, user)
  const token = await appToken(url, app.development)
  const live = await appToken(url, app.production)
  const profile = (await grantTokens(world, 'profile:read')).accessToken
  const walk = async (method: string, path: string, request: Parameters<typeof call>[3] = {}): Promise<Answer> => {
    const answer = await call(url, method, path, request)
    faults.push(faultOf(method, path, answer))
    return answer
  }
  const raw = async (path: string, request: Parameters<typeof send>[3]) =>
    faults.push(faultOf('POST', path, await send(url, 'POST', path, request)))

  for (const path of ['~/healthz', '~/readyz', '~/metrics']) await walk('GET', path)
  await walk('POST', '~/api/session', { body: { email: user.email, password: user.password } })
  await walk('POST', '~/api/session', { body: { email: user.email, password: 'wrong' } })
  await walk('POST', '~/api/session', { body: {} })
  await walk('POST', '~/api/session', {
    body: { email: user.email, password: 'x' },
    headers: { Origin: 'https://evil.example' },
  })
  for (const method of ['GET', 'DELETE']) {
    await walk(method, '~/api/session')
    await walk(method, '~/api/session', { token })
    await walk(method, '~/api/session', { headers: { Cookie: sessionCookieOf(url, session) } })
  }
  await walk('GET', '~/api/session', { token: session })
  await walk('DELETE', '~/api/session', { token: await signIn(url, user) })

  await walk('POST', '/token', { body: { ...app.development, scope: 'site:read' } })
  for (const scope of ['', 'nothing', 'customers:read', 'profile:read'])
    await walk('POST', '/token', { body: { ...app.development, scope } })
  await walk('POST', '/token', { body: { clientId: 'x', clientSecret: 'x', scope: 'x' } })
  for (const bearer of [token, live, session, profile, 'x']) {
    await walk('GET', '/me', { token: bearer })
    await walk('GET', '/oauth/me', { token: bearer })
    await walk('GET', '/resources?kind=site', { token: bearer })
    await walk('GET', '/resources?kind=x', { token: bearer })
    await walk('GET', '/versions?limit=0', { token: bearer })
    await walk('POST', '/versions/rollback', { token: bearer, body: { version: '9.9.9' } })
    await walk('POST', '/oauth/authorize', { token: bearer, body: authorizeBody(app) })
    await walk('POST', '/oauth/revoke', {
      token: bearer === profile ? 'x' : bearer,
      body: { grantId: bearer === session ? 'x' : '' },
    })
  }
  const upload = {
    version: '1.0.0',
    notes: 'x',
    manifest: { a: [1] },
    scopes: ['site:read'],
    artifact: { filename: 'a', contentBase64: 'aGk=' },
  }
  const writer = await appToken(url, app.development)
  await walk('POST', '/versions', { token: writer, body: upload, headers: { 'Idempotency-Key': 'one' } })
  await walk('POST', '/versions', { token: writer, body: { version: '1.0.0' }, headers: { 'Idempotency-Key': 'one' } })
  for (const change of [
    {},
    { version: '2.0.0' },
    { version: 'x' },
    { submit: 1 },
    { scopes: ['x'] },
    { scopes: ['customers:read'] },
  ]) {
    await walk('POST', '/versions', { token: writer, body: { ...upload, ...change } })
  }
  await walk('GET', '/versions', { token: writer })
  await walk('GET', '/versions?limit=1&status=draft', { token: writer })
  for (const body of [
    { dryRun: true },
    {},
    {},
    { version: '1.0.0' },
    { environment: 'production', version: '2.0.0' },
    { dryRun: 1 },
  ]) {
    await walk('POST', '/versions/rollback', { token: writer, body })
  }

  const { code } = (await walk('POST', '/oauth/authorize', { token: session, body: authorizeBody(app) })).body
  for (const change of [
    { consent: 1 },
    { redirectUri: 'https://x.example/' },
    { codeChallengeMethod: 'plain' },
    { scope: 'x' },
    { scope: 'customers:read' },
    { clientId: 'x' },
  ]) {
    await walk('POST', '/oauth/authorize', { token: session, body: { ...authorizeBody(app), ...change } })
  }
  await walk('POST', '/oauth/authorize', { body: authorizeBody(app) })
  await walk('POST', '/oauth/authorize', {
    headers: { Cookie: sessionCookieOf(url, session) },
    body: authorizeBody(app),
  })
  const { body } = await walk('POST', '/oauth/token', { body: exchangeBody(app, code) })
  const refreshed = (await walk('POST', '/oauth/token', { body: refreshBody(app, body.refreshToken) })).body
  for (const change of [
    { grantType: 'x' },
    { clientSecret: 'x' },
    { scope: 'x' },
    { refreshToken: 'x' },
    { refreshToken: 5 },
  ]) {
    await walk('POST', '/oauth/token', { body: { ...refreshBody(app, refreshed.refreshToken), ...change } })
  }
  await walk('GET', '/oauth/me', { token: refreshed.accessToken })
  const page = await pageInAFrame(session)
  for (const path of ['/oauth/me', '/resources?kind=site', '/resources?kind=store']) await walk('GET', path, page)
  for (const kind of ['site', 'store']) await walk('GET', `/resources?kind=${kind}`, { token: refreshed.accessToken })
  await walk('POST', '/oauth/revoke', { body: { ...app.development, token: refreshed.refreshToken } })
  for (const refused of [{}, app.development, { ...app.development, clientSecret: 'x', token: 'x' }])
    await walk('POST', '/oauth/revoke', { body: refused })
  await walk('POST', '/oauth/revoke', { headers: { Cookie: sessionCookieOf(url, 'x') }, body: {} })
  await walk('POST', '/oauth/revoke', { headers: { Cookie: sessionCookieOf(url, session) }, body: {} })
  await walk('POST', '/oauth/revoke', { token: session, body: { grantId: body.grantId } })

  const form = async (path: string, fields: Readonly<Record<string, string>>) =>
    await raw(path, {
      body: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
  const standardClient = { client_id: app.development.clientId, client_secret: app.development.clientSecret }
  for (const fields of [
    {},
    { grant_type: 'client_credentials' },
    { grant_type: 'x' },
    { token: writer },
    { token: 'x' },
  ])
    for (const path of ['~/oauth/token', '~/oauth/introspect', '~/oauth/revoke'])
      for (const client of [standardClient, { ...standardClient, client_secret: 'x' }, {}])
        await form(path, { ...fields, ...client })
  await form('~/oauth/token', { ...standardClient, grant_type: 'refresh_token', refresh_token: 'x' })
  await form('~/oauth/token', { ...standardClient, grant_type: 'client_credentials', resource: 'https://x.example/' })
  const pair = await grantTokens(world, 'profile:read profile.email:read')
  for (const method of ['GET', 'POST'])
    for (const bearer of [pair.accessToken, 'x']) await walk(method, '~/oauth/userinfo', { token: bearer })
  for (const query of [
    'scope=profile:read&environment=development',
    'scope=profile:read',
    'scope=x',
    'scope=site:read&environment=development',
    '',
  ])
    await walk('GET', `~/oauth/check?${query}`, { token: pair.accessToken })

  const key = async (rights: readonly string[]) =>
    (
      await createServiceKey(world.platform, trace, operator, {
        name: 'Builder',
        rights,
        networks: [],
        expiresInDays: null,
      })
    ).secret
  const builder = await key(serviceRights)
  const weak = await key(['sign-in'])
  const management = async (method: string, path: string, sent: unknown = undefined, bearer = builder) =>
    await walk(method, `~/api/management${path}`, { token: bearer, ...(sent === undefined ? {} : { body: sent }) })
  const ada = { email: 'ada@builder.example', name: 'Ada' }
  const site = { ownerExternalId: 'u1', name: 'Bakery', slug: 'bakery', status: 'published' }
  for (const sent of [ada, ada, {}, { ...ada, email: user.email }]) await management('PUT', '/users/u1', sent)
  for (const sent of [site, site, {}]) await management('PUT', '/resources/site/7', sent)
  for (const path of ['/users', '/users?limit=0', '/users/u1', '/users/u2', '/users/u1/export', '/installs', '/audit'])
    for (const bearer of [builder, weak, 'x']) await management('GET', path, undefined, bearer)
  for (const path of ['/resources/site', '/resources/x', '/resources/site/7', '/resources/site/8'])
    await management('GET', path)
  const scopes = { path: '/scopes/orders:read', sent: { for: 'both', text: 'List your orders' } }
  for (const sent of [scopes.sent, scopes.sent, { for: 'user', text: 'Other' }, {}])
    await management('PUT', scopes.path, sent)
  for (const path of ['/scopes', scopes.path, '/scopes/other:read']) await management('GET', path)
  for (const path of [
    `${scopes.path}/apps/${world.app.slug}`,
    `${scopes.path}/apps/none`,
    '/scopes/other:read/apps/none',
  ])
    for (const method of ['PUT', 'DELETE']) await management(method, path)
  for (const path of [scopes.path, '/scopes/other:read']) await management('DELETE', path)
  const hook = await world.platform.database.transaction(async (q) => {
    const now = world.platform.clock.now()
    const id = `whk_${'1'.repeat(32)}`
    const row = {
      id,
      appId: null,
      environment: 'production',
      url: 'https://builder.example/hooks',
      kinds: '*',
    } as const
    const unused = {
      status: 'disabled',
      reason: 'by_hand',
      failingSince: null,
      createdAt: now,
      updatedAt: now,
    } as const
    await q.webhookEndpoints.insert({ ...row, ...unused })
    return id
  })
  const spare = await addApp(world.platform, user)
  await linkUser(world.platform, trace, operator, { email: user.email, externalId: 'owner' })
  for (const query of ['?ownerExternalId=owner', '?ownerExternalId=nobody', ''])
    await management('GET', `/apps${query}`)
  for (const to of ['u1', 'nobody', 7]) await management('POST', `/apps/${spare.slug}/transfer`, { toExternalId: to })
  for (const slug of [spare.slug, spare.slug, 'none']) await management('DELETE', `/apps/${slug}`)
  const { secret: operates } = await createServiceKey(world.platform, trace, operator, {
    name: 'Deploys',
    rights: ['operate'],
    networks: ['127.0.0.1'],
    expiresInDays: 1,
  })
  for (const words of [['app', 'list'], ['app', 'suspend', 'none'], ['app'], []])
    await management('POST', '/commands', { arguments: words }, operates)
  await management('GET', '/webhooks')
  for (const id of [hook, `whk_${'0'.repeat(32)}`]) {
    await management('GET', `/webhooks/${id}/attempts`)
    await management('POST', `/webhooks/${id}/ping`)
    for (const sent of [{ failed: true }, {}]) await management('POST', `/webhooks/${id}/resend`, sent)
  }
  for (const { id } of (await management('GET', '/installs')).body.data)
    for (const step of ['approve', 'reject', 'deactivate']) await management('POST', `/installs/${id}/${step}`)
  await management('POST', `/installs/ins_${'0'.repeat(32)}/approve`)
  for (const answer of [{ externalId: 'u1' }, {}]) await management('POST', '/sign-in-requests/x/accept', answer)
  await management('POST', '/sign-in-requests/x/reject', { reason: 'No.' })
  await walk('POST', '~/api/management/resources/import', {
    token: builder,
    body: { kind: 'site', externalId: '8', ...site, slug: 'other' },
    headers: { 'Content-Type': 'application/x-ndjson' },
  })
  for (const email of ['ada@builder.example', 'nobody']) {
    await walk('POST', '~/api/management/users', {
      token: builder,
      body: { ...ada, externalId: 'u1', email },
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
  }
  for (const path of ['/users/u1/end-access', '/users/u2/end-access']) await management('POST', path, {})
  for (const path of ['/resources/site/7', '/resources/site/7', '/users/u1', '/users/u2'])
    await management('DELETE', path)

  for (const { method, path } of contractRoutes) {
    await walk(method, path, { headers: { 'X-Service-Api-Version': 'x' }, ...(method === 'POST' ? { body: {} } : {}) })
    if (method !== 'POST') continue
    const bearer = path.startsWith('/versions') ? writer : session
    await raw(path, { body: '{', ...(path === '/token' || path === '/oauth/token' ? {} : { token: bearer }) })
    await raw(path, { body: '{}', headers: { 'Content-Type': 'text/plain' } })
    await raw(path, { body: 'x'.repeat(17 * 1024 * 1024) })
  }
  expect(faults.length).toBeGreaterThan(200)
  expect([...new Set(faults)].filter((fault) => fault !== null)).toEqual([])
})

describe('the page of the document', () => {
  test('and everything it loads come from this server', async () => {
    const page = await send(url, 'GET', '~/docs')
    expect(page.status).toBe(200)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*/)
    const namespace = "xmlns='http://www.w3.org/2000/svg'" // of the icon; browsers load nothing from there
    expect(page.text.replace(namespace, '')).not.toMatch(/https?:\/\/|src="\/\/|href="\/\//)
    const assets = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(assets).toContain('/docs/swagger-ui-bundle.js')
    for (const path of assets) {
      const asset = await send(url, 'GET', `~${path}`)
      expect([path, asset.status]).toEqual([path, 200])
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('uses no external validator', async () => {
    expect((await send(url, 'GET', '~/docs/start.js')).text).toContain('validatorUrl: null')
  })
})
