import { expect } from 'bun:test'
import { listEndpoints } from '../../src/operations/webhooks/endpoints.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { addApp, createWorld, endWorld, type World } from '../support/world.ts'
import { signedInBrowser } from './support/plain-browser.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('openssl')

let world: World
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  const env = {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: receiver.authority,
    RATE_LIMIT: 'on',
    RATE_LIMIT_AUTHORIZE: '3/300',
  }
  world = await createWorld({ env })
})
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

test('pings and new endpoints of all apps of a developer share one limit on outgoing calls', async () => {
  const developer = await signedInBrowser(world.server.url, world.user)
  const [one, other] = [await addApp(world.platform, world.user), await addApp(world.platform, world.user)]
  const add = async (slug: string) =>
    await developer.submit(`/console/${slug}/webhooks/new`, `/console/${slug}/webhooks`, {
      url: receiver.url,
      kinds: ['ping'],
    })
  expect((await add(one.slug)).status).toBe(303)
  const [endpoint] = await listEndpoints(world.platform, one.slug)
  const page = `/console/${one.slug}/webhooks/${endpoint?.id}`
  const ping = async () => await developer.submit(page, `${page}/ping`)
  for (const pinged of [await ping(), await ping()]) expect(pinged.status).toBe(303)
  const refused = await ping()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await add(other.slug)).status).toBe(429)
  expect(receiver.received).toHaveLength(2)
  expect(await listEndpoints(world.platform, other.slug)).toEqual([])
})
