import { expect } from 'bun:test'
import type { WebhookWorker } from '../../src/jobs/deliver-webhooks.ts'
import { auditStamp, recordEvent } from '../../src/operations/audit/event.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { listAttempts, resendEvents } from '../../src/operations/webhooks/deliveries.ts'
import {
  listEndpoints,
  readEndpoint,
  setEndpointStatus,
  rotateWebhookSecret,
} from '../../src/operations/webhooks/endpoints.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts'
import { addApp } from '../support/world.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('openssl')

const hour = 3_600_000
const day = 24 * hour

let world: WebhookWorld
let receiver: Receiver
let worker: WebhookWorker | null = null
beforeAll(async () => void (world = await createWebhookWorld({ timeoutMs: 1_500 })))
afterEach(async () => {
  await worker?.stop()
  worker = null
  await receiver.down()
  expect(world.failures).toEqual([])
})
afterAll(async () => await world.platform.database.close())

/** A new app, so that its endpoints get no events of an earlier test. */
const freshApp = async () => await addApp(world.platform, world.owner)
type App = Awaited<ReturnType<typeof freshApp>>

/** Makes events: each a secret that is made and revoked. Gives the IDs of the secrets. */
const makeEvents = async ({ slug }: App, count: number, { platform } = world): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const input = { slug, environment: 'development', label: null } as const
    const { id } = await createCredential(platform, trace, operator, input)
    await revokeCredential(platform, trace, operator, id)
    ids.push(id)
  }
  return ids
}
const credentialsOf = ({ received }: Receiver): readonly string[] =>
  received.map(({ body }) => JSON.parse(body).data.credentialId)
const arrivals = async (count: number) =>
  await eventually(
    async () => receiver.received.length,
    (length) => length >= count,
  )
const attemptsOf = async (id: string) => (await listAttempts(world.platform, id, { limit: 100, cursor: null })).data
/** Waits until so many attempts have been written down. */
const attempted = async (id: string, count: number) =>
  await eventually(
    async () => await attemptsOf(id),
    (attempts) => attempts.length >= count,
  )
const stateOf = async (app: App, id: string) => await readEndpoint(world.platform, app.id, id)

const start = async (kinds: readonly string[] = ['credential.created']) => {
  receiver = await startReceiver()
  const app = await freshApp()
  const endpoint = await world.endpoint(receiver.url, kinds, app)
  return { app, endpoint }
}

describe('events', () => {
  test('arrive in order, once, with signatures that the reference library accepts', async () => {
    const { app, endpoint } = await start()
    const made = await makeEvents(app, 20)
    worker = world.work()
    await arrivals(20)
    await worker.stop()
    expect(credentialsOf(receiver)).toEqual([...made])
    for (const call of receiver.received) {
      expect(receiver.isSignedWith(call, endpoint.secret)).toBe(true)
      expect(call.headers['webhook-id']).toBe(call.id)
      expect(call.headers['content-type']).toBe('application/json')
      expect(call.body).not.toContain('apat_')
      expect(call.body).not.toContain(endpoint.secret)
    }
    expect((await stateOf(app, endpoint.id)).deliveries).toEqual({ pending: 0, delivered: 20, failed: 0 })
  })

  test('are signed with both secrets during the grace period of a rotation, and then with the new one only', async () => {
    const { app, endpoint } = await start()
    const { secret } = await rotateWebhookSecret(world.platform, trace, operator, { id: endpoint.id, graceHours: 24 })
    await makeEvents(app, 1)
    worker = world.work()
    await arrivals(1)
    world.pass(25 * hour)
    await makeEvents(app, 1)
    await arrivals(2)
    const [during, after] = receiver.received
    if (during === undefined || after === undefined) throw new Error('too few calls')
    expect(secret).not.toBe(endpoint.secret)
    expect([endpoint.secret, secret].map((key) => receiver.isSignedWith(during, key))).toEqual([true, true])
    expect(after.headers['webhook-signature']?.split(' ')).toHaveLength(1)
    expect([endpoint.secret, secret].map((key) => receiver.isSignedWith(after, key))).toEqual([false, true])
  })

  test("are signed with the machine's clock, which receivers share, even if the time that the platform trusts is ahead", async () => {
    const { app, endpoint } = await start()
    world.pass(hour)
    await makeEvents(app, 1)
    worker = world.work()
    const before = Math.floor(Date.now() / 1_000)
    await arrivals(1)
    const [call] = receiver.received
    if (call === undefined) throw new Error('nothing came')
    expect(receiver.isSignedWith(call, endpoint.secret)).toBe(true) // the reference library compares it with its own clock
    expect(Number(call.headers['webhook-timestamp'])).toBeWithin(before, before + 3_600)
  })

  test('are not sent when their transaction is rolled back', async () => {
    const { app, endpoint } = await start()
    const failing = world.platform.database.transaction(async (q) => {
      const [first] = await q.credentials.listByClient(app.development.clientId)
      await recordEvent(q, auditStamp(world.platform, trace, Date.now()), {
        actor: { kind: 'system' },
        appId: app.id,
        environment: 'development',
        action: 'credential.created',
        target: first?.id ?? null,
      })
      expect((await q.webhookEvents.countsOf(endpoint.id))[0]?.count).toBe(1)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await stateOf(app, endpoint.id)).deliveries.pending).toBe(0)
  })

  test('go only to endpoints of this app and environment that have chosen them', async () => {
    const { app, endpoint } = await start(['credential.revoked'])
    const other = await world.endpoint(receiver.url, ['credential.created'], await freshApp())
    await makeEvents(app, 2)
    await createCredential(world.platform, trace, operator, { slug: app.slug, environment: 'production', label: null })
    expect((await stateOf(app, endpoint.id)).deliveries.pending).toBe(2)
    const elsewhere = (await listEndpoints(world.platform, other.app ?? '')).map(({ kinds }) => kinds)
    expect(elsewhere).toEqual([['credential.created']])
    worker = world.work()
    await arrivals(2)
    await worker.stop()
    expect(receiver.received.map(({ type }) => type)).toEqual(['credential.revoked', 'credential.revoked'])
  })
})

describe('a receiver', () => {
  test('that is down gets every event when it is up again, under the same ID', async () => {
    const { app, endpoint } = await start()
    await receiver.down()
    worker = world.work()
    const made = await makeEvents(app, 3)
    const failed = await attempted(endpoint.id, 3)
    expect(failed.map(({ error }) => error)).toEqual(['not_connected', 'not_connected', 'not_connected'])
    expect((await stateOf(app, endpoint.id)).failingSince).toEqual(expect.any(Number))
    await receiver.up()
    world.pass(10_000)
    await arrivals(3)
    await worker.stop()
    expect([...credentialsOf(receiver)].toSorted()).toEqual([...made].toSorted())
    expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(failed.map(({ eventId }) => eventId).toSorted())
    expect(await stateOf(app, endpoint.id)).toMatchObject({
      failingSince: null,
      deliveries: { pending: 0, delivered: 3 },
    })
  })

  test('that fails every second time gets every event in the end', async () => {
    const { app, endpoint } = await start()
    const taken = new Set<string>()
    // Of each event, since an event that met every failure would be given up.
    const calls = new Map<string, number>()
    receiver.behave((call) => {
      const credential = credentialsOf(receiver)[call] ?? ''
      const before = calls.get(credential) ?? 0
      calls.set(credential, before + 1)
      if (before % 2 === 0) return 500
      taken.add(credential)
      return 204
    })
    const made = await makeEvents(app, 10)
    worker = world.work()
    let attempts = 0
    while ((await stateOf(app, endpoint.id)).deliveries.delivered < made.length) {
      attempts = (await attempted(endpoint.id, attempts + 1)).length
      world.pass(day) // after every attempt; delivered events are counted for some weeks only
    }
    expect([...taken].toSorted()).toEqual([...made].toSorted())
  })

  test('that is slow is timed out and delays no other', async () => {
    const { app, endpoint } = await start()
    receiver.behave(() => 'by itself')
    const quick = await startReceiver()
    await world.endpoint(quick.url, ['credential.created'], app)
    const made = await makeEvents(app, 5)
    worker = world.work()
    await eventually(
      async () => quick.received.length,
      (length) => length === 5,
    )
    expect(credentialsOf(quick)).toEqual([...made])
    expect(receiver.received.length).toBeLessThanOrEqual(1)
    const [attempt] = await attempted(endpoint.id, 1)
    expect(attempt).toMatchObject({ status: null, error: 'timed_out' })
    await quick.down()
  })

  test('that redirects to this machine has failed, and the redirect is not followed', async () => {
    const { app, endpoint } = await start()
    const trap = await startReceiver()
    receiver.behave(() => ({ status: 301, headers: { location: trap.url } }))
    await makeEvents(app, 1)
    worker = world.work()
    const [attempt] = await attempted(endpoint.id, 1)
    await worker.stop()
    expect(attempt).toMatchObject({ status: 301, error: null })
    expect(trap.received).toEqual([])
    expect((await stateOf(app, endpoint.id)).deliveries).toEqual({ pending: 1, delivered: 0, failed: 0 })
    await trap.down()
  })

  test('that answers 429 is not called for as long as it asks, for any waiting event', async () => {
    const { app, endpoint } = await start()
    receiver.behave((call) => (call === 0 ? { status: 429, headers: { 'retry-after': '3600' } } : 200))
    await makeEvents(app, 3)
    worker = world.work()
    await attempted(endpoint.id, 1)
    await makeEvents(app, 1)
    world.pass(hour - 60_000)
    await Bun.sleep(200)
    expect(receiver.received).toHaveLength(1)
    world.pass(120_000)
    await arrivals(5)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(4)
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id)
  })

  test('that is slow does not keep others waiting, however many slow ones there are', async () => {
    const crowd = await createWebhookWorld({ timeoutMs: 100 })
    receiver = await startReceiver()
    receiver.behave(() => 'by itself')
    for (const path of ['a', 'b', 'c', 'd']) await crowd.endpoint(`${receiver.url}/${path}`)
    const quick = await startReceiver()
    await crowd.endpoint(quick.url)
    await makeEvents(crowd.app, 30, crowd)
    const crowded = crowd.work({ parallel: 2 })
    await eventually(
      async () => quick.received.length,
      (length) => length >= 2,
    )
    expect(quick.received.length).toBeGreaterThanOrEqual(2)
    expect(receiver.received.length).toBeLessThanOrEqual(20) // two turns of each, not the thirty that wait for each
    await crowded.stop()
    await quick.down()
    await crowd.platform.database.close()
  })

  test('that answers 410 is disabled and not removed; others get the event, and it gets what waited when it is enabled', async () => {
    const { app, endpoint } = await start()
    const watching = await startReceiver()
    await world.endpoint(watching.url, ['webhook.disabled'], app)
    receiver.behave(() => 410)
    await makeEvents(app, 1)
    worker = world.work()
    await attempted(endpoint.id, 1)
    await eventually(
      async () => watching.received.length,
      (length) => length === 1,
    )
    const data = { appId: app.id, endpointId: endpoint.id, status: 'disabled', reason: 'gone' }
    expect(JSON.parse(watching.received[0]?.body ?? '')).toMatchObject({ type: 'webhook.disabled', data })
    expect(await stateOf(app, endpoint.id)).toMatchObject({ status: 'disabled', reason: 'gone' })
    const trail = await world.platform.database.queries.audit.pageOfApp(app.id, 'webhook.disabled', '~', 10)
    expect(trail).toMatchObject([{ actorKind: 'system', target: endpoint.id }])

    const waiting = await makeEvents(app, 3)
    world.pass(hour)
    await Bun.sleep(100)
    expect(receiver.received).toHaveLength(1)
    receiver.behave(() => 200)
    await setEndpointStatus(world.platform, trace, operator, { id: endpoint.id, status: 'enabled' })
    await arrivals(5)
    await worker.stop()
    expect(credentialsOf(receiver).slice(-3)).toEqual([...waiting])
    await watching.down()
  })

  test('with a certificate for another name gets nothing', async () => {
    receiver = await startReceiver('127.0.0.2') // the certificate is for 127.0.0.1
    const app = await freshApp()
    const endpoint = await world.endpoint(receiver.url, undefined, app)
    await makeEvents(app, 1)
    worker = world.work()
    expect(await attempted(endpoint.id, 1)).toMatchObject([{ status: null, error: 'certificate_refused' }])
    expect(receiver.received).toEqual([])
  })
})

describe('an event that is never accepted', () => {
  test('fails after ten attempts, and can be sent again under the same ID', async () => {
    const { app, endpoint } = await start()
    receiver.behave((call) => (call < 10 ? 503 : 200))
    await makeEvents(app, 1)
    worker = world.work()
    // A little more than each pause can be, and all in all less than the five days that disable an endpoint.
    for (const [index, hours] of [0.01, 0.15, 0.7, 2.5, 6.1, 12.1, 17, 24.1, 29, 0].entries()) {
      await attempted(endpoint.id, index + 1)
      world.pass(hours * hour)
    }
    await worker.stop()
    expect(receiver.received).toHaveLength(10)
    expect((await stateOf(app, endpoint.id)).deliveries).toEqual({ pending: 0, delivered: 0, failed: 1 })
    const choice = { kind: 'failed' } as const
    const { resent } = await resendEvents(world.platform, trace, operator, { id: endpoint.id, choice })
    expect(resent).toBe(1)
    worker = world.work()
    await arrivals(11)
    await worker.stop()
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect((await stateOf(app, endpoint.id)).deliveries).toEqual({ pending: 0, delivered: 1, failed: 0 })
  })

  test('has its endpoint disabled after five days', async () => {
    const { app, endpoint } = await start()
    receiver.behave(() => 500)
    await makeEvents(app, 1)
    worker = world.work()
    await attempted(endpoint.id, 1)
    world.pass(5 * day)
    await attempted(endpoint.id, 2)
    const after = await eventually(
      async () => await stateOf(app, endpoint.id),
      ({ status }) => status === 'disabled',
    )
    expect(after).toMatchObject({ status: 'disabled', reason: 'failing', deliveries: { pending: 1 } })
  })
})

describe('stopping the server', () => {
  test('waits for a receiver that is about to answer, and stores its answer', async () => {
    const { app, endpoint } = await start()
    receiver.behave((_, response) => {
      setTimeout(() => response.writeHead(200).end('at last'), 300)
      return 'by itself'
    })
    await makeEvents(app, 3)
    worker = world.work()
    await arrivals(1)
    await worker.stop()
    expect(await attemptsOf(endpoint.id)).toMatchObject([{ status: 200, answer: 'at last' }])
    expect(receiver.received).toHaveLength(1)
    expect((await stateOf(app, endpoint.id)).deliveries).toEqual({ pending: 2, delivered: 1, failed: 0 })
  })
})
