import { afterAll, expect, test } from 'bun:test'
import { createManagementClient, createPlatformClient } from '../../src/client/index.ts'
import { quick } from './support/client.ts'

const token = {
  accessToken: 'apat_of_another',
  tokenType: 'Bearer',
  expiresIn: 3600,
  scope: 'site:read',
  environment: 'development',
}
const asPlatform = { 'X-Service-Api-Version': '2026-08' }
const servers: ReturnType<typeof Bun.serve>[] = []
afterAll(async () => void (await Promise.all(servers.map(async (server) => await server.stop(true)))))

const clientAt = (answer: (path: string) => Response) => {
  const server = Bun.serve({ port: 0, fetch: ({ url }) => answer(new URL(url).pathname.split('/').at(-1) ?? '') })
  servers.push(server)
  const credentials = { clientId: 'apc_dev_x', clientSecret: 'aps_dev_x', appScope: 'site:read' }
  return createPlatformClient({ url: `http://127.0.0.1:${server.port}`, ...credentials, retry: quick })
}
const codeOf = async (call: Promise<unknown>) => await call.then(String, ({ code }) => code)

test('an answer without the version of the contract is refused', async () => {
  expect(await codeOf(clientAt(() => Response.json(token)).appToken())).toBe('unexpected_answer')
  const later = { headers: { 'X-Service-Api-Version': '2027-08' } }
  expect(await codeOf(clientAt(() => Response.json(token, later)).appToken())).toBe('unexpected_answer')
  const client = clientAt(() => Response.json(token, { headers: asPlatform }))
  expect((await client.appToken()).accessToken).toBe(token.accessToken)
})

test('an endless answer is refused before it fills the memory', async () => {
  let sentMiB = 0
  const client = clientAt(() => {
    const body = new ReadableStream({
      pull: (controller) => {
        sentMiB += 1
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    return new Response(body, { headers: asPlatform })
  })
  expect(await codeOf(client.appToken())).toBe('unexpected_answer')
  expect(sentMiB).toBeLessThan(128)
})

test('a list that repeats its cursor fails instead of looping forever', async () => {
  const page = { data: [], nextCursor: 'again', current: { development: null, production: null } }
  const client = clientAt((path) => Response.json(path === 'token' ? token : page, { headers: asPlatform }))
  expect(await codeOf(Array.fromAsync(client.versions.all()))).toBe('unexpected_answer')
})

/** The code of each call of a server of the contract that gives this answer. */
const codesWith = async (answer: unknown): Promise<Readonly<Record<string, unknown>>> => {
  const { endpoints } = clientAt(() => Response.json(answer, { headers: { ...asPlatform, 'X-Request-Id': 'req_1' } }))
  const calls = {
    appToken: endpoints.issueAppToken({ clientId: 'x', clientSecret: 'x', scope: 'x' }),
    userTokens: endpoints.issueUserTokens({
      grantType: 'refresh_token',
      clientId: 'x',
      clientSecret: 'x',
      refreshToken: 'x',
    }),
    introspection: endpoints.introspect({ token: 'x' }),
    revocation: endpoints.revoke({}),
    list: endpoints.listVersions({}, { bearer: 'x' }),
    record: endpoints.identifyApp({ bearer: 'x' }),
  }
  const codes = Object.entries(calls).map(async ([name, call]) => [name, await codeOf(call)] as const)
  return Object.fromEntries(await Promise.all(codes))
}

test('an answer that is no object is refused by every call', async () => {
  for (const answer of [null, [], 'x', 1, true]) {
    expect([answer, [...new Set(Object.values(await codesWith(answer)))]]).toEqual([answer, ['unexpected_answer']])
  }
})

test('an answer without a part of its tokens, without its verdict, or without the items of a list is refused', async () => {
  const pair = { ...token, refreshToken: 'apur_x', refreshTokenExpiresIn: 60, grantId: 'grt_x' }
  const whole = { ...pair, active: true, revoked: true, data: [], nextCursor: null }
  const taken = Object.values(await codesWith(whole)).filter((code) => code === 'unexpected_answer')
  expect(taken).toEqual([])
  const needed: Readonly<Record<string, readonly string[]>> = {
    accessToken: ['appToken', 'userTokens'],
    expiresIn: ['appToken', 'userTokens'],
    scope: ['appToken', 'userTokens'],
    refreshToken: ['userTokens'],
    refreshTokenExpiresIn: ['userTokens'],
    grantId: ['userTokens'],
    active: ['introspection'],
    revoked: ['revocation'],
    data: ['list'],
    nextCursor: ['list'],
  }
  for (const [field, calls] of Object.entries(needed)) {
    for (const wrong of [undefined, 0.5, {}, [1], -1, 1e18]) {
      const codes = Object.entries(await codesWith({ ...whole, [field]: wrong }))
      const refused = codes.flatMap(([name, code]) => (code === 'unexpected_answer' ? [name] : []))
      expect([field, wrong, refused]).toEqual([field, wrong, calls])
    }
  }
  for (const revoked of [false, 'true', null])
    expect((await codesWith({ revoked }))['revocation']).toBe('unexpected_answer')
})

test('an audit log that does not say where it goes on is refused instead of read again and again', async () => {
  for (const next of [undefined, null, '2', 0.5]) {
    const page = { data: [{ position: 1 }], next }
    const server = Bun.serve({ port: 0, fetch: () => Response.json(page, { headers: { 'X-Request-Id': 'req_1' } }) })
    servers.push(server)
    const builder = createManagementClient({ url: `http://127.0.0.1:${server.port}`, serviceKey: 'x', retry: quick })
    expect([next, await codeOf(Array.fromAsync(builder.audit.all()))]).toEqual([next, 'unexpected_answer'])
  }
})

test('unknown fields and values of a later server are accepted', async () => {
  const later = { ...token, environment: 'staging', issuedBy: { node: 7 } }
  const client = clientAt(() => Response.json(later, { headers: asPlatform }))
  expect(String((await client.appToken()).environment)).toBe('staging')
})
