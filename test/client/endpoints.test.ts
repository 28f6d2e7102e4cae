import { expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppPlatformError, artifactOf } from '../../src/client/index.ts'
import {
  appIdentity,
  appTokenResponse,
  authorizeResponse,
  revokeResponse,
  tokenResponse,
  userIdentity,
} from '../../src/http/contract/oauth.ts'
import { attemptList, pingResult, resendResult, webhookEndpointList } from '../../src/http/contract/webhooks.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { operator, trace } from '../support/operator.ts'
import { installList, resourceList } from '../../src/http/contract/resources.ts'
import { rollbackResponse, versionList, versionRecord } from '../../src/http/contract/versions.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { authorizeBody, exchangeBody, signIn } from '../support/world.ts'
import { clientOf } from './support/client.ts'

const world = await worldOfFile()

const faultsOf = (schema: TSchema, value: unknown) =>
  [...Value.Errors(schema, value)].map(({ path, message }) => path + message)

test('every endpoint returns its documented type', async () => {
  const client = clientOf(world)
  const { endpoints } = client
  const { development, slug } = world.app
  // A reserved name without an address (RFC 2606): a ping of it fails here and leaves this machine for nowhere.
  const input = { slug, environment: 'development', url: 'https://app.invalid/hooks', kinds: ['ping'] } as const
  const resolvable = { ...world.platform, webhooks: { ...world.platform.webhooks, check: async () => null } }
  const endpoint = await addEndpoint(resolvable, trace, operator, input)
  const issued = await endpoints.issueAppToken({ ...development, scope: 'site:read' })
  const bearer = issued.accessToken
  const artifact = await artifactOf('app.txt', new TextEncoder().encode('hello'))
  const first = await endpoints.createVersion({ version: '1.0.0', artifact }, { bearer })
  await endpoints.createVersion({ version: '1.1.0', notes: 'Second', scopes: ['site:read'] }, { bearer })
  const session = await signIn(world.server.url, world.user)
  const authorized = await endpoints.authorize(authorizeBody(world.app), { bearer: session })
  const tokens = await endpoints.issueUserTokens(exchangeBody(world.app, authorized.code))
  const user = { bearer: tokens.accessToken }
  const answers: readonly (readonly [schema: TSchema, answer: unknown])[] = [
    [appTokenResponse, issued],
    [appIdentity, await endpoints.identifyApp({ bearer })],
    [versionRecord, first],
    [versionList, await endpoints.listVersions({ limit: 1, status: 'draft' }, { bearer })],
    [rollbackResponse, await endpoints.rollBackVersion({ version: '1.0.0' }, { bearer })],
    [authorizeResponse, authorized],
    [tokenResponse, tokens],
    [userIdentity, await endpoints.identifyUser(user)],
    [resourceList, await endpoints.listResources({ kind: 'site' }, user)],
    [installList, await endpoints.listInstalls({ kind: 'site' }, user)],
    [installList, await client.installs.list({ state: 'active' })],
    [revokeResponse, await endpoints.revoke({}, user)],
    [webhookEndpointList, await client.webhooks.list()],
    [pingResult, await client.webhooks.ping(endpoint.id)],
    [attemptList, await client.webhooks.attempts(endpoint.id, { limit: 1 })],
    [resendResult, await client.webhooks.resend(endpoint.id, { failed: true })],
  ]
  expect((await Array.fromAsync(client.webhooks.allAttempts(endpoint.id))).length).toBe(1)
  expect(answers.map(([schema, answer]) => faultsOf(schema, answer))).toEqual(answers.map(() => []))
  expect(first.artifact?.sha256).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')
})

test('a refusal is an error with code, status, request ID, field and details', async () => {
  const client = clientOf(world)
  const { accessToken } = await client.appToken()
  const wrong = await client.endpoints.listResources({ kind: 'site' }, { bearer: accessToken }).catch((error) => error)
  expect(wrong).toBeInstanceOf(AppPlatformError)
  expect(wrong).toMatchObject({ code: 'token_type_not_allowed', status: 403, param: null, retryAfter: null })
  expect(wrong.requestId).toMatch(/^req_[0-9a-f]{32}$/)
  expect(String(wrong)).toBe(`AppPlatformError: ${wrong.message} (token_type_not_allowed, request ${wrong.requestId})`)
  const invalid = await client.versions.create({ version: 'one' }).catch((error) => error)
  expect(invalid).toMatchObject({ code: 'invalid_request', status: 400, param: 'version' })
})

test('all items are read page by page, and no page is requested before it is needed', async () => {
  const client = clientOf(world)
  for (let patch = 0; patch < 5; patch += 1) await client.versions.create({ version: `3.0.${patch}` })
  const versions = await Array.fromAsync(client.versions.all())
  expect(versions.slice(0, 5).map(({ version }) => version)).toEqual(['3.0.4', '3.0.3', '3.0.2', '3.0.1', '3.0.0'])
  expect((await client.versions.list({ limit: 2 })).data.length).toBe(2)
})

const clientMade = (url: string, insecureHttp = false) => {
  try {
    clientOf(world, url, { insecureHttp })
    return 'made'
  } catch (error) {
    return error instanceof AppPlatformError ? error.code : String(error)
  }
}

test('plain HTTP is allowed to this machine only, unless insecureHttp is set', () => {
  for (const url of ['http://127.0.0.1:1', 'http://localhost:1/', 'http://[::1]:1', 'https://platform.example'])
    expect([url, clientMade(url)]).toEqual([url, 'made'])
  for (const url of [
    'http://platform.example',
    'http://10.0.0.1',
    'http://localhost.evil.example',
    'http://127.0.0.1.nip.io',
    'http://app.localhost',
  ])
    expect([url, clientMade(url)]).toEqual([url, 'insecure_url'])
  expect(clientMade('http://platform.example', true)).toBe('made')
  for (const url of [
    'https://user:pass@platform.example',
    'https://platform.example/api',
    'ftp://platform.example',
    'x',
  ])
    expect([url, clientMade(url).startsWith('TypeError')]).toEqual([url, true])
})
