import { afterAll, expect, test } from 'bun:test'
import { createPlatformClient } from '../../src/client/index.ts'
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

test('an answer of the right version with a field of another type is refused', async () => {
  for (const wrong of [{ expiresIn: '3600' }, { expiresIn: 1e18 }, { accessToken: undefined }, { scope: null }]) {
    const client = clientAt(() => Response.json({ ...token, ...wrong }, { headers: asPlatform }))
    expect([wrong, await codeOf(client.appToken())]).toEqual([wrong, 'unexpected_answer'])
  }
})

test('unknown fields and values of a later server are accepted', async () => {
  const later = { ...token, environment: 'staging', issuedBy: { node: 7 } }
  const client = clientAt(() => Response.json(later, { headers: asPlatform }))
  expect(String((await client.appToken()).environment)).toBe('staging')
})
