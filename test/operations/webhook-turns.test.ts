import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { addEndpoint, removeEndpoint, setEndpointStatus } from '../../src/operations/webhooks/endpoints.ts'
import {
  announceDeprecations,
  deliverNext,
  listAttempts,
  pingEndpoint,
  resendEvents,
} from '../../src/operations/webhooks/deliveries.ts'
import { auditEvents } from '../support/audit-events.ts'
import { countRows } from '../support/expired-rows.ts'
import { operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

// What happens between two searches for due deliveries, and in long lists. The test plays the receiver.

const day = 24 * 3_600_000
const file = join(temporaryFolder(), 'turns.db')
const opened = await platformOfFile(file)
const platform = { ...opened, webhooks: { ...opened.webhooks, check: async () => null } }
const app = await addApp(platform, await addUser(platform))

const listen = async (...kinds: readonly string[]) => {
  const endpoint = { slug: app.slug, environment: 'development', url: 'https://hooks.example/', kinds } as const
  return (await addEndpoint(platform, trace, operator, endpoint)).id
}
/** Makes events: creates a secret and revokes it. */
const makeSecret = async () => {
  const wanted = { slug: app.slug, environment: 'development', label: null } as const
  await revokeCredential(platform, trace, operator, (await createCredential(platform, trace, operator, wanted)).id)
}
/** The receiver does this first and then gives this answer. */
const answering = (status: number, meanwhile: () => Promise<unknown>): Platform => ({
  ...platform,
  webhooks: {
    ...platform.webhooks,
    send: async () => {
      await meanwhile()
      return { status, error: null, retryAfter: null, headers: {}, answer: '', durationMs: 1 }
    },
  },
})
/** The ID of a ping that was delivered. */
const pinged = async (id: string) =>
  (
    await pingEndpoint(
      answering(200, async () => undefined),
      trace,
      operator,
      id,
    )
  ).eventId
const actionsOf = async (id: string) =>
  (await auditEvents(platform)).filter(({ target }) => target === id).map(({ action }) => action)

test('an attempt is recorded even if its endpoint is removed during the call', async () => {
  const id = await listen('ping')
  const before = (await countRows(file, 'webhook_attempts'))['webhook_attempts'] ?? 0
  const removing = answering(200, async () => await removeEndpoint(platform, trace, operator, id))
  expect(await pingEndpoint(removing, trace, operator, id)).toMatchObject({ delivered: true })
  expect((await countRows(file, 'webhook_attempts'))['webhook_attempts']).toBe(before + 1)
})

test('a failed event becomes due again, a failed ping does not', async () => {
  const [id, beside] = [await listen('credential.created', 'ping'), await listen('credential.created')]
  await makeSecret()
  const failing = answering(500, async () => undefined)
  const q = platform.database.queries
  const { eventId } = await pingEndpoint(failing, trace, operator, id)
  const ping = await q.webhookEvents.find(eventId)
  expect(await q.webhookEvents.findDelivery(ping?.position ?? 0, id)).toMatchObject({ state: 'failed', attempts: 1 })
  expect((await q.webhookEndpoints.find(id))?.endpoint.failingSince).toBeNull()
  const position = (await q.webhookEvents.nextDue(id, platform.clock.now()))?.event.position ?? 0
  await deliverNext(failing, trace, id, new AbortController().signal)
  expect(await q.webhookEvents.findDelivery(position, id)).toMatchObject({ state: 'pending', attempts: 1 })
  expect(await q.webhookEvents.findDelivery(position, beside)).toMatchObject({ state: 'pending', attempts: 0 })
  expect((await q.webhookEndpoints.find(id))?.endpoint.failingSince).not.toBeNull()
})

test('the attempts of one endpoint are listed newest first, in pages', async () => {
  const [id, other] = [await listen('ping'), await listen('ping')]
  const sent = [await pinged(id), await pinged(id), await pinged(id)]
  await pinged(other)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listAttempts>> = await listAttempts(platform, id, { limit: 1, cursor })
    seen.push(...page.data.map(({ eventId }) => eventId))
    cursor = page.nextCursor
  } while (cursor !== null && seen.length < 10)
  expect(seen).toEqual(sent.toReversed())
})

test('only endpoints with a due delivery are found', async () => {
  const [id, idle] = [await listen('credential.created'), await listen('ping')]
  await makeSecret()
  const { due } = platform.database.queries.webhookEndpoints
  const now = platform.clock.now()
  expect([(await due(now)).includes(id), (await due(now)).includes(idle), await due(0)]).toEqual([true, false, []])
})

test('an endpoint that answers 410 while it is being disabled by hand is disabled once', async () => {
  const id = await listen('credential.created')
  await makeSecret()
  const disabling = answering(
    410,
    async () => await setEndpointStatus(platform, trace, operator, { id, status: 'disabled' }),
  )
  expect(await deliverNext(disabling, trace, id, new AbortController().signal)).toMatchObject({ kind: 'sent' })
  expect(await actionsOf(id)).toEqual(['webhook.created', 'webhook.disabled'])
  expect((await platform.database.queries.webhookEndpoints.find(id))?.endpoint.reason).toBe('by_hand')
})

test.each([500, 410])(
  'an answer %d that comes after another server has delivered the event is listed, and counts against nothing',
  async (status) => {
    const id = await listen('credential.created')
    await makeSecret()
    const deliver = async (to: Platform) => await deliverNext(to, trace, id, new AbortController().signal)
    const other = answering(200, async () => undefined)
    expect(await deliver(answering(status, async () => await deliver(other)))).toMatchObject({ kind: 'sent' })
    const { data } = await listAttempts(platform, id, { limit: 10, cursor: null })
    expect(data.map((attempt) => attempt.status).toSorted()).toEqual([200, status])
    const found = (await platform.database.queries.webhookEndpoints.find(id))?.endpoint
    expect(found).toMatchObject({ status: 'enabled', failingSince: null })
    expect(await actionsOf(id)).toEqual(['webhook.created'])
    await removeEndpoint(platform, trace, operator, id)
  },
)

test('each version of the contract that will be switched off is announced, even if another one was announced before', async () => {
  const id = await listen('api_version.deprecated')
  const first = { name: '2025-01', status: 'deprecated', deprecatedAt: 0, sunsetAt: day } as const
  const second = { name: '2025-06', status: 'deprecated', deprecatedAt: 0, sunsetAt: null } as const
  await announceDeprecations(platform, trace, [first])
  await announceDeprecations(platform, trace, [first, second])
  const told: object[] = []
  const reading = answering(200, async () => {
    const next = await platform.database.queries.webhookEvents.nextDue(id, platform.clock.now())
    told.push(JSON.parse(next?.event.body ?? '').data)
  })
  for (let events = 0; events < 3; events += 1) await deliverNext(reading, trace, id, new AbortController().signal)
  const deprecatedAt = '1970-01-01T00:00:00.000Z'
  expect(told).toEqual([
    { appId: app.id, apiVersion: '2025-01', deprecatedAt, sunsetAt: '1970-01-02T00:00:00.000Z' },
    { appId: app.id, apiVersion: '2025-06', deprecatedAt },
  ])
})

test('a resend that finds nothing changes nothing', async () => {
  const id = await listen('install.created')
  expect(await resendEvents(platform, trace, operator, { id, choice: { kind: 'failed' } })).toEqual({ id, resent: 0 })
  expect(await actionsOf(id)).toEqual(['webhook.created'])
})

test('a resend covers any number of events, including those of exactly thirty days ago', async () => {
  const id = await listen('install.created')
  const now = platform.clock.now()
  await platform.database.transaction(async (q) => {
    for (let index = 0; index < 501; index += 1) {
      const event = { id: `evt_${platform.random.uuidHex(now)}`, appId: app.id, environment: 'development' } as const
      const position = await q.webhookEvents.put({ ...event, kind: 'install.created', data: {} }, now)
      const given = { state: index === 500 ? 'failed' : 'delivered', attempts: 1, nextAttemptAt: null } as const
      await q.webhookEvents.putDelivery({ position, endpointId: id, ...given })
    }
  })
  const then: Platform = { ...platform, clock: { ...platform.clock, now: () => now } }
  const resend = async (at: number) => await resendEvents(then, trace, operator, { id, choice: { kind: 'since', at } })
  expect(await refusalOf(resend(now - 30 * day - 1))).toBe('invalid_request')
  expect((await resend(now - 30 * day)).resent).toBe(501)
  const trail = await auditEvents(platform)
  const batches = trail.filter(({ action, target }) => action === 'webhook.resent' && target === id)
  expect(batches.map(({ detail }) => JSON.parse(detail ?? '').events)).toEqual([500, 1])
})
