import { expect } from 'bun:test'
import { changeAppScopes, setAppStatus } from '../../src/operations/apps/apps.ts'
import { bodyNow, tellBuilder } from '../../src/operations/webhooks/builder-events.ts'
import {
  addEndpoint,
  listBuilderEndpoints,
  readEndpoint,
  removeEndpoint,
  rotateWebhookSecret,
} from '../../src/operations/webhooks/endpoints.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { linkUser, putBuilderUser } from '../../src/operations/users/users.ts'
import { builderKinds } from '../../src/domain/webhook-event.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { startReceiver, type Receiver } from '../support/webhook-receiver.ts'
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts'
import { addApp, addUser, authorizeBody, installApp } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const { afterAll, beforeAll, test } = needs('openssl')

let world: WebhookWorld
let receiver: Receiver
beforeAll(async () => {
  world = await createWebhookWorld()
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.down()
  await world.platform.database.close()
})

const add = async (kinds: readonly string[] = builderKinds) =>
  await addEndpoint(world.platform, trace, operator, {
    slug: null,
    environment: 'production',
    url: receiver.url,
    kinds,
  })
const remove = async (id: string) => await removeEndpoint(world.platform, trace, operator, id)

/** The bodies of the events that wait for an endpoint, in order, after everything was told. They count as delivered then. */
const waiting = async (endpointId: string) => {
  const { database, clock } = world.platform
  await tellBuilder(world.platform)
  const bodies = []
  for (;;) {
    const next = await database.queries.webhookEvents.nextDue(endpointId, clock.now())
    if (next === null) return bodies
    bodies.push(JSON.parse(await bodyNow(database.queries, next.event.body)))
    const before = { position: next.event.position, endpointId, state: 'pending', attempts: 0 } as const
    const after = { ...before, state: 'delivered', attempts: 1, nextAttemptAt: null } as const
    await database.transaction(async (q) => await q.webhookEvents.moveDelivery(before, after))
  }
}

test('the builder hears of users, apps, installs and grants of every app, by its own IDs, and each once', async () => {
  const { platform } = world
  await putBuilderUser(platform, trace, operator, {
    externalId: 'before',
    email: 'before@example.com',
    name: 'Before',
    pictureUrl: null,
    status: null,
  })
  const { id } = await add()
  const user = await addUser(platform)
  await linkUser(platform, trace, operator, { email: user.email, externalId: 'told-1' })
  const app = await addApp(platform, world.owner)
  const install = await installApp(platform, app, user)
  const grant = await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app, 'site:read'), true)
  await changeAppScopes(platform, trace, operator, { slug: app.slug, scopes: 'site:read' })
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })

  const told = await waiting(id)
  expect(told.map(({ type }) => type)).toEqual([
    'user.created',
    'app.created',
    'install.created',
    'install.approved',
    'grant.created',
    'app.scopes_changed',
    'app.suspended',
  ])
  const about = { userId: user.id, userExternalId: 'told-1' }
  expect(told[0].data).toMatchObject({ userId: user.id, status: 'active' })
  expect(told[3].data).toMatchObject({ appId: app.id, installId: install, kind: 'site', ...about, state: 'active' })
  expect(told[4]).toMatchObject({
    environment: 'development',
    data: { appId: app.id, grantId: grant.grantId, ...about },
  })
  expect(told[6]).toMatchObject({ environment: null, data: { appId: app.id, status: 'suspended' } })
  expect(new Set(told.map(({ id: event }) => event)).size).toBe(told.length)
  expect(JSON.stringify(told)).not.toMatch(new RegExp(`${user.email}|Ada|Newsletter`))

  expect(await waiting(id)).toEqual([])
  await eraseUser(platform, trace, operator, { externalId: 'told-1' })
  expect((await waiting(id)).map(({ type }) => type)).toContain('user.erased')
  await remove(id)
})

test('an event is told once, whoever tells at the same time, and an endpoint gets the kinds that it chose', async () => {
  const { platform } = world
  const [one, all] = [await add(['app.suspended']), await add()]
  const app = await addApp(platform, world.owner)
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  await Promise.all([tellBuilder(platform), tellBuilder(platform), tellBuilder(platform)])
  expect((await waiting(one.id)).map(({ type }) => type)).toEqual(['app.suspended'])
  expect((await waiting(all.id)).map(({ type }) => type)).toEqual(['app.created', 'app.suspended'])
  for (const { id } of [one, all]) await remove(id)
})

test('events are delivered, signed and recorded as those of apps are, and its secret is rotated in the same way', async () => {
  const { platform } = world
  const { id, secret } = await add(['app.suspended'])
  const app = await addApp(platform, world.owner)
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  await tellBuilder(platform)
  const worker = world.work()
  for (let tries = 0; receiver.received.length === 0 && tries < 200; tries += 1) await Bun.sleep(20)
  await worker.stop()
  const [received] = receiver.received
  if (received === undefined) throw new Error('nothing was received')
  expect(receiver.isSignedWith(received, secret)).toBeTrue()
  expect(JSON.parse(received.body)).toMatchObject({ type: 'app.suspended', data: { appId: app.id } })
  expect((await readEndpoint(platform, null, id)).deliveries).toMatchObject({ delivered: 1, pending: 0 })
  const rotated = await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 1 })
  expect(rotated.secret).not.toBe(secret)
  expect((await readEndpoint(platform, null, id)).oldSecretEndsAt).toBeNumber()
  await remove(id)
})

test('what waits, is sent again or is shown after the erasure of a person has only their ID', async () => {
  const { platform } = world
  const { queries: q } = platform.database
  const { id } = await add()
  const user = await addUser(platform)
  await linkUser(platform, trace, operator, { email: user.email, externalId: 'told-2' })
  const app = await addApp(platform, world.owner)
  await installApp(platform, app, user)
  await tellBuilder(platform)
  const body = (await q.webhookEvents.nextDue(id, platform.clock.now()))?.event.body ?? ''
  expect(JSON.parse(await bodyNow(q, body)).data).toMatchObject({ userId: user.id, userExternalId: 'told-2' })
  await eraseUser(platform, trace, operator, { externalId: 'told-2' })
  expect(body).not.toContain('told-2')
  const told = await waiting(id)
  const aboutThem = told.filter(({ data }) => data.userId === user.id)
  expect(aboutThem.map(({ type }) => type)).toEqual([
    'user.created',
    'install.created',
    'install.approved',
    'install.deactivated',
    'user.erased',
  ])
  for (const { data } of aboutThem) {
    expect(data.userExternalId).toBeNull()
    expect(data.resourceId ?? null).toBeNull()
  }
  await remove(id)
})

test('an endpoint of the builder belongs to no app, and has kinds of its own', async () => {
  const { platform } = world
  expect(await refusalOf(add(['credential.created']))).toBe('invalid_request')
  expect(await refusalOf(add([]))).toBe('invalid_request')
  const { id, app } = await add(['ping'])
  expect(app).toBeNull()
  expect((await listBuilderEndpoints(platform)).map((endpoint) => endpoint.id)).toEqual([id])
  expect(await refusalOf(readEndpoint(platform, world.app.id, id))).toBe('route_not_found')
  const ofApp = await world.endpoint(receiver.url)
  expect(await refusalOf(readEndpoint(platform, null, ofApp.id))).toBe('route_not_found')
  await remove(id)
})

test('an endpoint that is added later hears nothing of before', async () => {
  const { platform } = world
  const app = await addApp(platform, world.owner)
  const { id } = await add()
  expect(await waiting(id)).toEqual([])
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  expect((await waiting(id)).map(({ type }) => type)).toEqual(['app.suspended'])
  await remove(id)
})
