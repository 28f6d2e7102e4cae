import { expect, setDefaultTimeout } from 'bun:test'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { addEndpoint, readEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { patience, rounds } from '../support/proof.ts'
import { startServer } from '../support/running-server.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { networks } from '../support/webhook-world.ts'
import { createWorld } from '../support/world.ts'

const { test } = needs('openssl')

const kills = rounds(2)
setDefaultTimeout(patience)

const eventsPerRound = 8

test('a server that is killed repeatedly while it delivers loses no event, and repeats only the deliveries in flight', async () => {
  const receiver = await startReceiver()
  const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority }
  const world = await createWorld({ env })
  const { app } = world
  const platform = {
    ...world.platform,
    webhooks: createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.0/8'), timeoutMs: 5_000 }),
  }
  const input = {
    slug: app.slug,
    environment: 'development',
    url: receiver.url,
    kinds: ['credential.created'],
  } as const
  const endpoint = await addEndpoint(platform, trace, operator, input)
  // Slow enough that a kill meets a call in most rounds, before its answer or just after it.
  receiver.behave((call, response) => {
    setTimeout(() => response.writeHead(200).end(), (call * 7) % 40)
    return 'by itself'
  })

  const made: string[] = []
  let { server } = world
  let cuts = 0
  for (let round = 0; round < kills; round += 1) {
    for (let index = 0; index < eventsPerRound; index += 1) {
      const wanted = { slug: app.slug, environment: 'development', label: null } as const
      const { id } = await createCredential(platform, trace, operator, wanted)
      await revokeCredential(platform, trace, operator, id)
      made.push(id)
    }
    const before = receiver.received.length
    const target = before + 1 + (round % eventsPerRound)
    await eventually(
      async () => receiver.received.length,
      (length) => length >= target,
    )
    await Bun.sleep((round * 5) % 45)
    await server.kill()
    cuts += 1
    server = await startServer({ database: server.database, env })
  }
  receiver.behave(() => 200)
  const pendingNow = async () => (await readEndpoint(platform, app.id, endpoint.id)).deliveries.pending
  for (let left = Number.POSITIVE_INFINITY; ;) {
    const pending = await eventually(pendingNow, (count) => count === 0)
    if (pending === 0 || pending >= left) break // done, or nothing moves any more
    left = pending
  }
  const { deliveries } = await readEndpoint(platform, app.id, endpoint.id)
  expect(deliveries).toEqual({ pending: 0, delivered: made.length, failed: 0 })

  const told = receiver.received.map(({ body }): string => JSON.parse(body).data.credentialId)
  const firsts = told.filter((id, index) => told.indexOf(id) === index)
  expect(firsts).toEqual(made) // none lost, and in order
  // One call is under way to an endpoint at a time: a kill repeats one event at most.
  expect(told.length - made.length).toBeLessThanOrEqual(cuts)
  const bodies = new Set(receiver.received.map(({ id, body }) => `${id} ${body}`))
  expect(bodies.size).toBe(made.length) // a repeated delivery is identical, including its ID
  for (const call of receiver.received) expect(receiver.isSignedWith(call, endpoint.secret)).toBe(true)
  expect(await server.stop()).toBe(0)
  await platform.database.close()
  await receiver.down()
})
