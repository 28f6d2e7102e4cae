import { expect } from 'bun:test'
import { setEndpointStatus, addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import type { Environment } from '../../src/domain/app.ts'
import { call, type Json } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import {
  addApp,
  type AppInWorld,
  appToken,
  authorize,
  createWorld,
  endWorld,
  signIn,
  type World,
} from '../support/world.ts'
import { networks } from '../support/webhook-world.ts'
import { createWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

let world: World
let receiver: Receiver
let tokens: { readonly app: string; readonly live: string; readonly other: string }
beforeAll(async () => {
  receiver = await startReceiver()
  const env = {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: receiver.authority,
    RATE_LIMIT: 'on',
    RATE_LIMIT_AUTHORIZE: '12/600',
  }
  world = await createWorld({ env })
  const { url } = world.server
  const other = await addApp(world.platform, world.user)
  tokens = {
    app: await appToken(url, world.app.development),
    live: await appToken(url, world.app.production),
    other: await appToken(url, other.development),
  }
})
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

const add = async (environment: Environment = 'development', app: AppInWorld = world.app, url = receiver.url) => {
  const webhooks = createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.0/8'), timeoutMs: 5_000 })
  const input = { slug: app.slug, environment, url, kinds: ['credential.created'] }
  return await addEndpoint({ ...world.platform, webhooks }, trace, operator, input)
}
const get = async (path: string, token = tokens.app) => await call(world.server.url, 'GET', path, { token })
const post = async (path: string, body: object = {}, token = tokens.app) =>
  await call(world.server.url, 'POST', path, { token, body })
const newest = async (id: string) => (await get(`/webhooks/${id}/attempts?limit=1`)).body
const hasLength =
  (least: number) =>
  (list: Json): boolean =>
    list.length >= least
const pings = () => receiver.received.filter(({ type }) => type === 'ping').length
const actionsOn = async (id: string) =>
  (await world.platform.database.queries.audit.list({ appId: null, since: 0, limit: 1000 })).filter(
    ({ target }) => target === id,
  )

describe('webhook endpoints over the API', () => {
  test('are listed in development only, without secrets and without the parameters of their URLs', async () => {
    const { id, secret } = await add('development', world.app, `${receiver.url}?key=canary`)
    await add('production')
    const { status, body, text } = await get('/webhooks')
    expect(status).toBe(200)
    expect(body).toEqual({
      data: [
        {
          id,
          environment: 'development',
          url: `${receiver.url}?…`,
          kinds: ['credential.created'],
          status: 'enabled',
          reason: null,
          failingSince: null,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      ],
      nextCursor: null,
    })
    for (const needle of ['canary', secret, 'whsec_']) expect(text).not.toContain(needle)
    expect((await get('/webhooks', tokens.other)).body.data).toEqual([])
  })

  test('get a ping, whose result is told, listed as an attempt and recorded with the app as its actor', async () => {
    receiver.behave(() => 200)
    const { id } = await add()
    const { status, body } = await post(`/webhooks/${id}/ping`)
    expect(status).toBe(200)
    expect(body).toEqual({
      eventId: expect.stringMatching(/^evt_/),
      delivered: true,
      status: 200,
      error: null,
      durationMs: expect.any(Number),
      answer: expect.stringContaining('answer'),
    })
    receiver.behave(() => 500)
    expect((await post(`/webhooks/${id}/ping`)).body).toMatchObject({ delivered: false, status: 500 })
    const first = await newest(id)
    expect(first.data).toMatchObject([{ kind: 'ping', status: 500 }])
    const second = (await get(`/webhooks/${id}/attempts?limit=1&cursor=${first.nextCursor}`)).body
    expect(second).toMatchObject({ data: [{ eventId: body.eventId, status: 200 }], nextCursor: null })
    const told = await actionsOn(id)
    expect(told.filter(({ action }) => action === 'webhook.pinged')).toMatchObject([
      { actorKind: 'app', actorId: world.app.development.clientId, environment: 'development', outcome: 'done' },
      { actorKind: 'app' },
    ])
  })

  test('get events again: one, all that failed, or all since a time', async () => {
    receiver.behave(() => 200)
    const { id } = await add()
    await createCredential(world.platform, trace, operator, {
      slug: world.app.slug,
      environment: 'development',
      label: null,
    })
    const [{ eventId }] = await eventually(async () => (await newest(id)).data, hasLength(1))
    const resend = async (body: object) => (await post(`/webhooks/${id}/resend`, body)).body
    expect(await resend({ event: eventId })).toEqual({ id, resent: 1 })
    expect(await resend({ since: new Date(Date.now() - 60_000).toISOString() })).toEqual({ id, resent: 1 })
    expect(await resend({ failed: true })).toEqual({ id, resent: 0 })
    await eventually(async () => (await get(`/webhooks/${id}/attempts`)).body.data, hasLength(2))
    expect((await actionsOn(id)).filter(({ action }) => action === 'webhook.resent').length).toBe(2)
    for (const body of [{}, { event: eventId, failed: true }, { failed: false }, { since: 'yesterday' }, { event: 5 }])
      expectRefusal(await post(`/webhooks/${id}/resend`, body), 'invalid_request')
    expectRefusal(await post(`/webhooks/${id}/resend`, { since: '2020-01-01T00:00:00Z' }), 'invalid_request', 'since')
    expectRefusal(await post(`/webhooks/${id}/resend`, { event: `evt_${'0'.repeat(32)}` }), 'invalid_request', 'event')
  })

  test('of production, of another app or of nobody do not exist', async () => {
    const live = await add('production')
    const { id } = await add()
    const before = pings()
    const calls = [
      async (at: string, token?: string) => await post(`/webhooks/${at}/ping`, {}, token),
      async (at: string, token?: string) => await get(`/webhooks/${at}/attempts`, token),
      async (at: string, token?: string) => await post(`/webhooks/${at}/resend`, { failed: true }, token),
    ]
    for (const ask of calls) {
      for (const none of [live.id, 'whk_none', '%20']) expectRefusal(await ask(none), 'record_not_found')
      expectRefusal(await ask(id, tokens.other), 'record_not_found')
      expectRefusal(await ask(live.id, tokens.live), 'development_credentials_required')
    }
    expectRefusal(await get('/webhooks', tokens.live), 'development_credentials_required')
    expect(pings()).toBe(before)
  })

  test('get nothing for a token whose secret was revoked', async () => {
    const app = await addApp(world.platform, world.user)
    const { id } = await add('development', app)
    const token = await appToken(world.server.url, app.development)
    const { credentials } = world.platform.database.queries
    for (const row of await credentials.listByClient(app.development.clientId))
      await revokeCredential(world.platform, trace, operator, row.id)
    const before = pings()
    expectRefusal(await post(`/webhooks/${id}/ping`, {}, token), 'invalid_token')
    expectRefusal(await post(`/webhooks/${id}/resend`, { failed: true }, token), 'invalid_token')
    expect(pings()).toBe(before)
  })

  test('are pinged also while disabled, and pings of all apps of an owner share one limit, which is not that of the owner', async () => {
    receiver.behave(() => 200)
    const { id } = await add()
    await setEndpointStatus(world.platform, trace, operator, { id, status: 'disabled' })
    expect((await post(`/webhooks/${id}/ping`)).body).toMatchObject({ delivered: true })
    const other = await addApp(world.platform, world.user)
    const theirs = await add('development', other)
    const token = await appToken(world.server.url, other.development)
    for (let asked = 0; asked < 12; asked += 1) await post(`/webhooks/${theirs.id}/ping`, {}, token)
    const refused = await post(`/webhooks/${id}/ping`)
    expectRefusal(refused, 'rate_limited')
    const session = await signIn(world.server.url, world.user)
    expect(await authorize(world.server.url, session, world.app)).toBeString()
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
