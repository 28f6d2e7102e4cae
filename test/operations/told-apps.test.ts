import { expect } from 'bun:test'
import { endIssued } from '../../src/operations/end-access.ts'
import { createInstall, endInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { importResources } from '../../src/operations/resources/import-resources.ts'
import { deleteBuilderResource, putBuilderResource } from '../../src/operations/resources/resources.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { webhookKinds } from '../../src/domain/webhook-event.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { startReceiver, type Receiver } from '../support/webhook-receiver.ts'
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts'
import { addApp, addUser, type AppInWorld, authorizeBody } from '../support/world.ts'
import { sessionOf } from './support/owner.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

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

let counted = 0
/** An app that hears everything, and a person with a website that the builder calls `site`. */
const scene = async () => {
  const { platform } = world
  const app = await addApp(platform, world.owner)
  const live = await world.endpoint(receiver.url, [...webhookKinds], app, 'production')
  const development = await world.endpoint(receiver.url, [...webhookKinds], app)
  const user = await addUser(platform)
  const externalId = `told-${(counted += 1)}`
  await linkUser(platform, trace, operator, { email: user.email, externalId })
  const site = `${externalId}-site`
  await put(site, externalId, 'Bakery')
  return { app, user, externalId, site, live: live.id, development: development.id }
}
const stated = (externalId: string, ownerExternalId: string, name: string) =>
  ({ kind: 'site', externalId, ownerExternalId, name, slug: externalId, status: 'draft' }) as const
const put = async (externalId: string, owner: string, name: string) =>
  await putBuilderResource(world.platform, trace, operator, {
    ...stated(externalId, owner, name),
    createdAt: null,
    updatedAt: null,
  })
const install = async (app: AppInWorld, userEmail: string, site: string, isApproved = true): Promise<string> => {
  const asked = { slug: app.slug, userEmail, kind: 'site', resourceSlug: site } as const
  const { id } = await createInstall(world.platform, trace, operator, asked)
  if (isApproved) await moveInstall(world.platform, trace, operator, { id, step: 'approve' })
  return id
}
/** The waiting events of an endpoint, which are then delivered. */
const told = async (endpoint: string): Promise<readonly unknown[]> => {
  const { queries } = world.platform.database
  const found: unknown[] = []
  for (;;) {
    const next = await queries.webhookEvents.nextDue(endpoint, world.platform.clock.now())
    if (next === null) return found
    const { type, data } = JSON.parse(next.event.body)
    const { appId: _, ...facts } = data
    found.push({ type, ...facts })
    const { position } = next.event
    const before = { position, endpointId: endpoint, state: 'pending', attempts: next.attempts } as const
    const after = { ...before, state: 'delivered', nextAttemptAt: null } as const
    await world.platform.database.transaction(async (q) => await q.webhookEvents.moveDelivery(before, after))
  }
}

describe('apps are told', () => {
  test('of an install: which, whose, and on what, as the builder calls it', async () => {
    const { app, user, site, live } = await scene()
    const id = await install(app, user.email, site)
    await endInstall(world.platform, trace, operator, id)
    const about = { installId: id, userId: user.id, kind: 'site', resourceId: site }
    expect(await told(live)).toEqual([
      { type: 'install.created', ...about, approval: 'pending', state: 'inactive' },
      { type: 'install.approved', ...about, approval: 'approved', state: 'active' },
      { type: 'install.deactivated', ...about, approval: 'approved', state: 'inactive' },
    ])
  })

  test('whose grant began and ended', async () => {
    const { app, user, development } = await scene()
    const { platform } = world
    const { grantId } = await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)
    await endIssued(platform, trace, operator, { kind: 'user', userId: user.id })
    expect(await told(development)).toEqual([
      expect.objectContaining({ type: 'grant.created', grantId, userId: user.id }),
      { type: 'grant.revoked', grantId, userId: user.id, state: 'revoked' },
    ])
  })

  for (const [how, change] of [
    ['one by one', put],
    [
      'in an import',
      async (externalId: string, owner: string, name: string) => {
        const line = `${JSON.stringify(stated(externalId, owner, name))}\n`
        const chunks = (async function* () {
          yield new TextEncoder().encode(line)
        })()
        await importResources(world.platform, trace, operator, {
          chunks,
          progress: () => undefined,
          isOfBuilder: true,
          prunes: false,
        })
      },
    ],
  ] as const) {
    test(`that a place on which they work has changed, ${how}; not of places where they only wait`, async () => {
      const { app, user, externalId, site, live } = await scene()
      const waiting = await addApp(world.platform, world.owner)
      const other = await world.endpoint(receiver.url, ['resource.updated'], waiting, 'production')
      const id = await install(app, user.email, site)
      await install(waiting, user.email, site, false)
      await told(live)
      await change(site, externalId, 'Bakery')
      expect(await told(live)).toEqual([]) // nothing has changed
      await change(site, externalId, 'New name')
      const about = { installId: id, userId: user.id, kind: 'site', resourceId: site }
      expect(await told(live)).toEqual([{ type: 'resource.updated', ...about }])
      expect(await told(other.id)).toEqual([])
    })
  }

  test('that a place on which they work is gone, after the end of the install', async () => {
    const { app, user, site, live } = await scene()
    const id = await install(app, user.email, site)
    await told(live)
    await deleteBuilderResource(world.platform, trace, operator, { kind: 'site', externalId: site })
    const about = { installId: id, userId: user.id, kind: 'site', resourceId: site }
    expect(await told(live)).toEqual([
      { type: 'install.deactivated', ...about, approval: 'approved', state: 'inactive' },
      { type: 'resource.removed', ...about },
    ])
  })

  test('that a place has got another owner, as the end of the install only', async () => {
    const { app, user, site, live } = await scene()
    const next = await scene()
    await install(app, user.email, site)
    await told(live)
    await put(site, next.externalId, 'Bakery')
    expect(await told(live)).toMatchObject([{ type: 'install.deactivated', resourceId: site }])
  })

  test('that a person was erased: every app that had a grant or an install of them, also ended ones, and no other', async () => {
    const { platform } = world
    const { app, user, site, live, development } = await scene()
    const stranger = await scene()
    await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)
    await endIssued(platform, trace, operator, { kind: 'user', userId: user.id })
    const installed = await scene()
    await endInstall(platform, trace, operator, await install(installed.app, user.email, site))
    for (const place of [live, development, installed.live, installed.development]) await told(place)
    await eraseUser(platform, trace, operator, { email: user.email })
    const erased = { type: 'user.erased', userId: user.id }
    expect(await told(development)).toEqual([erased])
    expect(await told(live)).toEqual([]) // it knew the person in development only
    expect(await told(installed.live)).toEqual([erased])
    expect(await told(stranger.live)).toEqual([])
  })
})
