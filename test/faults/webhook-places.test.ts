import { expect } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { listAttempts, pingEndpoint } from '../../src/operations/webhooks/deliveries.ts'
import type { Resolve } from '../../src/runtime/webhook-sender.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts'
import { addApp } from '../support/world.ts'

const { afterAll, beforeAll, test } = needs('openssl')

/** Everything on this machine that must not be called: it counts who connects. */
let traps: Server[] = []
let connections = 0
let port = 0

const trap = async (host: string, at: number): Promise<Server> => {
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.on('error', reject)
  server.listen(at, host, () => resolve())
  await promise
  return server
}

/** What the resolver says, one answer after the other; the last one stays. */
let script: (readonly string[])[] = []
const resolve: Resolve = async () => (script.length > 1 ? script.shift() : script[0]) ?? []

let world: WebhookWorld
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  // The one address that is allowed is a receiver's; everything else on the loopback network is a trap.
  world = await createWebhookWorld({ allowed: ['127.0.0.1/32'], resolve })
  const first = await trap('127.0.0.2', 0)
  const address = first.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  traps = [first, await trap('127.0.0.3', port), await trap('::1', port).catch(() => first)]
})
afterAll(async () => {
  for (const server of traps) server.close()
  await receiver.down()
  await world.platform.database.close()
})

/** Every way that is known to write 127.0.0.2 and other places that are not for everybody. */
const spellings = [
  ['127.0.0.2', '127.2', '127.0.2', '0x7f000002', '0x7f.0.0.2', '0X7F.1', '2130706434', '017700000002', '0177.0.0.2'],
  ['127.0.0.02', '127.0.0.2.', '127.000.000.002', '%31%32%37.0.0.2', '127%2e0%2e0%2e2', '127。0。0。2', '①②⑦.0.0.2'],
  ['[::1]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.2]', '[::ffff:127.0.0.2]', '[::ffff:7f00:2]', '[0:0:0:0:0:ffff:7f00:2]'],
  ['[::ffff:0:127.0.0.2]', '[64:ff9b::127.0.0.2]', '[64:ff9b::7f00:2]', '[64:ff9b:1::7f00:2]', '[2002:7f00:2::]'],
  ['[2002:a00:1::1]', '[2001:0:7f00:2::1]', '[fe80::1]', '[fe80::1%25eth0]', '[fc00::1]', '[fd00:ec2::254]', '[::]'],
  [
    '0',
    '0.0.0.0',
    '0x0',
    '00',
    '10.0.0.1',
    '0xa000001',
    '167772161',
    '10.1',
    '172.16.0.1',
    '2886729729',
    '192.168.1.1',
  ],
  ['3232235777', '0xc0a80101', '169.254.169.254', '0xa9fea9fe', '2852039166', '169.254.43518', '0251.0376.0251.0376'],
  ['100.100.100.200', '100.64.0.1', '168.63.129.16', '192.0.0.192', '198.18.0.1', '203.0.113.1', '224.0.0.1'],
  ['255.255.255.255', '240.0.0.1', '[ff02::1]', '[3fff::1]', '[2001:db8::1]', '[100::1]', 'localhost', 'LOCALHOST'],
  ['localhost.', 'sub.localhost', 'ip6-localhost', 'metadata.google.internal', 'metadata', 'a'.repeat(64), 'x..y', '-'],
  [
    '',
    ' ',
    '.',
    '127.0.0.2\t',
    'ex\u00adample.com',
    'user@127.0.0.2',
    'public.example@127.0.0.2',
    '127.0.0.2\\@public.example',
  ],
  ['public.example#@127.0.0.2', 'public.example?@127.0.0.2', '[', '[]', '[::1', '::1', 'public.example:', '*.example'],
].flat()

const hostileUrls = (): readonly string[] => [
  ...spellings.flatMap((host) => [
    `https://${host}:${port}/hooks`,
    `https://${host}/`,
    `https://${host}:${port}/%2e%2e/?a=b`,
  ]),
  ...['http', 'HTTPS', 'ftp', 'file', 'gopher', 'data', 'javascript', 'https+unix', 'ws', 'https:https'].map(
    (scheme) => `${scheme}://127.0.0.2:${port}/`,
  ),
  '',
  'https:',
  'https:/',
  'https://',
  'https:///',
  '//127.0.0.2',
  '/hooks',
  'https:127.0.0.2',
  'https:\\\\127.0.0.2',
  ...[0, 65_536, -1, 99_999, '0x50', '٣'].map((odd) => `https://public.example:${odd}/`),
  ` https://127.0.0.2:${port}/`,
  `https://127.0.0.2:${port}/\n`,
  `https://127.0.0.2:${port}/#x`,
  `https://public.example/${'a'.repeat(3000)}`,
  `https://public.example:${port}/<script>`,
]

test('300 hostile URLs are refused with a reason, and none is called', async () => {
  script = [['127.0.0.2']]
  const urls = hostileUrls()
  expect(urls.length).toBeGreaterThanOrEqual(300)
  const { slug } = await addApp(world.platform, world.owner)
  for (const url of urls) {
    const input = { slug, environment: 'development', url, kinds: ['ping'] } as const
    const answer: unknown = await addEndpoint(world.platform, trace, operator, input).catch((error: unknown) => error)
    expect([url, answer]).toMatchObject([url, { code: 'invalid_request', facts: { param: 'url' } }])
  }
  expect(connections).toBe(0)
})

/** Names that answer well when they are looked at and otherwise when they are called. */
const rebindings: readonly (readonly (readonly string[])[])[] = [
  [['127.0.0.1'], ['127.0.0.2']],
  [['127.0.0.1'], ['127.0.0.1', '127.0.0.2']],
  [['127.0.0.1'], ['127.0.0.2', '127.0.0.1']],
  [['127.0.0.1'], ['::1']],
  [['127.0.0.1'], ['::ffff:127.0.0.2']],
  [['127.0.0.1'], ['::ffff:127.0.0.1']],
  [['127.0.0.1'], ['127.0.0.1', '::1']],
  [['127.0.0.1'], ['64:ff9b::7f00:2']],
  [['127.0.0.1'], ['2002:7f00:2::']],
  [['127.0.0.1'], ['169.254.169.254']],
  [['127.0.0.1'], ['10.0.0.1']],
  [['127.0.0.1'], ['0.0.0.0']],
  [['127.0.0.1'], ['::']],
  [['127.0.0.1'], ['fe80::1%lo']],
  [['127.0.0.1'], ['0x7f000002']],
  [['127.0.0.1'], ['localhost']],
  [['127.0.0.1'], ['']],
  [['127.0.0.1'], []],
  [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.3'], ['127.0.0.2']],
  [['127.0.0.1'], ['127.0.0.3'], ['127.0.0.1', '127.0.0.3']],
]

test('a host name that resolves to a private address after registration is not called, by ping or by delivery', async () => {
  for (const answers of rebindings) {
    const app = await addApp(world.platform, world.owner)
    script = [...answers]
    // A certificate would pass for `localhost`: nothing but the address keeps the call from being made.
    const endpoint = await world.endpoint(`https://localhost:${port}/hooks`, ['credential.created'], app)
    expect(await pingEndpoint(world.platform, trace, operator, endpoint.id)).toMatchObject({ delivered: false })
    const input = { slug: app.slug, environment: 'development', label: null } as const
    await createCredential(world.platform, trace, operator, input)
    const worker = world.work()
    const attempts = await eventually(
      async () => (await listAttempts(world.platform, endpoint.id, { limit: 10, cursor: null })).data,
      ({ length }) => length === 2,
    )
    await worker.stop()
    const expected = answers[1]?.length === 0 ? 'not_resolved' : 'address_refused'
    expect(attempts.map(({ error }) => error)).toEqual([expected, expected])
  }
  expect(connections).toBe(0)
})

test('the same URL is called when its address is allowed, so the traps work', async () => {
  const open = await createWebhookWorld({ allowed: ['127.0.0.0/8'], resolve: async () => ['127.0.0.2'] })
  const endpoint = await open.endpoint(`https://localhost:${port}/hooks`)
  expect(await pingEndpoint(open.platform, trace, operator, endpoint.id)).toMatchObject({ error: 'not_connected' })
  expect(connections).toBe(1)
  await open.platform.database.close()
})

test('an IP address is checked again at every call: one that was allowed before a restart is not called after it', async () => {
  const before = await createWebhookWorld({ allowed: ['127.0.0.0/8'] })
  const endpoint = await before.endpoint(`https://127.0.0.2:${port}/hooks`)
  const after = { ...before.platform, webhooks: world.platform.webhooks }
  expect(await pingEndpoint(after, trace, operator, endpoint.id)).toMatchObject({ error: 'address_refused' })
  expect(await refusalOf(pingEndpoint(after, trace, operator, 'whk_none'))).toBe('invalid_request')
  expect(connections).toBe(1)
  await before.platform.database.close()
})
