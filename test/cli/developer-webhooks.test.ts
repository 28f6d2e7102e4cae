import { expect } from 'bun:test'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { networks } from '../support/webhook-world.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { type Developer, pipeline } from './support/developer.ts'

const { afterAll, beforeAll, test } = needs('openssl')

let world: World
let receiver: Receiver
let developer: Developer
beforeAll(async () => {
  receiver = await startReceiver()
  world = await createWorld({
    env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority },
  })
  developer = pipeline(world.server.url, world.app.development)
})
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

test('webhooks lists, pings, shows the attempts and sends again, and exits 1 if a ping is not taken', async () => {
  expect((await developer.run(['webhooks', 'list'])).stdout).toBe(
    'There are no webhook endpoints in development. Add one in the console.\n',
  )
  const webhooks = createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.0/8'), timeoutMs: 5_000 })
  const input = { slug: world.app.slug, environment: 'development', url: receiver.url, kinds: ['ping'] } as const
  const { id } = await addEndpoint({ ...world.platform, webhooks }, trace, operator, input)
  expect((await developer.json(['webhooks', 'list'])).data).toMatchObject([{ id, url: receiver.url }])
  expect((await developer.run(['webhooks', 'list'])).stdout).toMatch(/^ID +STATUS +REASON +URL +KINDS +CREATED\nwhk_/)

  expect((await developer.run(['completion-values', 'endpoints'])).stdout).toBe(`${id}\n`)

  const pinged = await developer.json(['webhooks', 'ping', id])
  expect(pinged).toMatchObject({ delivered: true, status: 200 })
  receiver.behave(() => 503)
  const refused = await developer.run(['webhooks', 'ping', id, '--json'])
  expect(refused.exitCode).toBe(1)
  expect(JSON.parse(refused.stdout).error.message).toContain('Answered 503.')

  const { data } = await developer.json(['webhooks', 'attempts', id])
  expect(data).toMatchObject([{ status: 503 }, { eventId: pinged.eventId, status: 200 }])
  expect((await developer.json(['webhooks', 'attempts', id, '--limit', '1'])).data.length).toBe(1)
  expect(await developer.json(['webhooks', 'resend', id, '--event', pinged.eventId])).toEqual({ id, resent: 1 })
  expect(await developer.json(['webhooks', 'resend', id, '--since', '2h'])).toEqual({ id, resent: 0 })
})

test('webhooks explains an unknown endpoint, and which events must be chosen', async () => {
  const unknown = await developer.run(['webhooks', 'ping', 'whk_none'])
  expect({ exitCode: unknown.exitCode, stdout: unknown.stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(unknown.stderr).toMatch(/^error: There is no such record\. See app-platform webhooks list\. Request ID: req_/)
  for (const flags of [[], ['--failed', '--since', '2h']]) {
    const { exitCode, stderr } = await developer.run(['webhooks', 'resend', 'whk_none', ...flags])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('one of --event, --since and --failed')
  }
})
