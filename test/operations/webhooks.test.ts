import { deliveriesInWords } from '../../src/pages/endpoints.tsx'
import { expect } from 'bun:test'
import { webhookKinds } from '../../src/domain/webhook-event.ts'
import { createCredential, revokeCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { endIssued } from '../../src/operations/end-access.ts'
import { revokeConnectedApps } from '../../src/operations/connected-apps.ts'
import { endInstall, moveInstall, createInstall } from '../../src/operations/installs/installs.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { authenticateUserToken } from '../../src/operations/authenticate.ts'
import { rollBackVersion } from '../../src/operations/versions/move-version.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import {
  addEndpoint,
  changeEndpoint,
  listEndpoints,
  ownsEndpoint,
  readEndpoint,
  removeEndpoint,
  setEndpointStatus,
  rotateWebhookSecret,
} from '../../src/operations/webhooks/endpoints.ts'
import {
  announceDeprecations,
  deliverNext,
  listAttempts,
  pingEndpoint,
  readAttempt,
  resendEvents,
} from '../../src/operations/webhooks/deliveries.ts'
import { askBeside } from '../support/beside.ts'
import { countRows } from '../support/expired-rows.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { startReceiver, type Receiver } from '../support/webhook-receiver.ts'
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { developmentCaller, refusalOf, sessionOf, uploadVersion } from './support/owner.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

const hour = 3_600_000
const day = 24 * hour

let world: WebhookWorld
let receiver: Receiver
let platform: Platform
beforeAll(async () => {
  world = await createWebhookWorld()
  receiver = await startReceiver()
  platform = world.platform
})
afterAll(async () => {
  await receiver.down()
  await platform.database.close()
})

const freshApp = async () => await addApp(platform, world.owner)
const makeSecret = async (slug: string, environment: 'development' | 'production' = 'development') =>
  await createCredential(platform, trace, operator, { slug, environment, label: null })
/** The kinds of the pending events of an endpoint, in the order in which they are sent. Marks them all as delivered or failed. */
const waitingFor = async (id: string, end: 'delivered' | 'failed' = 'delivered'): Promise<readonly string[]> => {
  const kinds: string[] = []
  for (;;) {
    const next = await platform.database.queries.webhookEvents.nextDue(id, platform.clock.now())
    if (next === null) return kinds
    kinds.push(next.event.kind)
    const { position } = next.event
    const before = { position, endpointId: id, state: 'pending', attempts: next.attempts } as const
    const after = { ...before, state: end, nextAttemptAt: null } as const
    await platform.database.transaction(async (q) => await q.webhookEvents.moveDelivery(before, after))
  }
}

describe('an endpoint', () => {
  test('is registered with a secret that is shown once and in no other answer', async () => {
    const app = await freshApp()
    const made = await world.endpoint(receiver.url, ['ping', 'install.created'], app)
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made).toMatchObject({ app: app.slug, environment: 'development', status: 'enabled', reason: null })
    expect(made.kinds).toEqual(['install.created', 'ping'])
    const told = [await listEndpoints(platform, app.slug), await readEndpoint(platform, app.id, made.id)]
    expect(JSON.stringify(told)).not.toContain(made.secret.slice(6, 40))
    const trail = await platform.database.queries.audit.pageOfApp(app.id, null, '~', 100)
    expect(trail[0]).toMatchObject({ action: 'webhook.created', target: made.id })
    expect(JSON.stringify(trail)).not.toContain('whsec_')
  })

  test('needs at least one kind of event, and only known ones', async () => {
    const app = await freshApp()
    for (const kinds of [[], ['nothing'], ['ping', ''], ['PING'], ['ping', 'install.*']]) {
      const input = { slug: app.slug, environment: 'development', url: receiver.url, kinds } as const
      expect(await refusalOf(addEndpoint(platform, trace, operator, input))).toBe('invalid_request')
    }
    expect(await listEndpoints(platform, app.slug)).toEqual([])
  })

  test('is one of at most ten in an environment, even when many are added at once', async () => {
    const app = await freshApp()
    const answers = await Promise.all(
      Array.from({ length: 14 }, async () => await refusalOf(world.endpoint(receiver.url, ['ping'], app))),
    )
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(10)
    expect(answers.filter((answer) => answer === 'invalid_request')).toHaveLength(4)
    const elsewhere = { slug: app.slug, environment: 'production', url: receiver.url, kinds: ['ping'] } as const
    expect(await refusalOf(addEndpoint(platform, trace, operator, elsewhere))).toBe('done')
  })

  test('exists only for the owner of its app', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, ['ping'], app)
    const q = platform.database.queries
    expect(await ownsEndpoint({ slug: app.slug, id }, 'webhooks')(q, world.owner.id)).toBeNull()
    const stranger = await addUser(platform)
    expect(await ownsEndpoint({ slug: app.slug, id }, 'webhooks')(q, stranger.id)).toMatchObject({
      code: 'route_not_found',
    })
    const other = await freshApp()
    expect(await ownsEndpoint({ slug: other.slug, id }, 'webhooks')(q, world.owner.id)).toMatchObject({
      code: 'route_not_found',
    })
    expect(await refusalOf(readEndpoint(platform, other.id, id))).toBe('route_not_found')
  })

  test('gets another URL and other kinds, checked as when it was added, and keeps its secret', async () => {
    const app = await freshApp()
    const { id, secret } = await world.endpoint(`${receiver.url}/old?key=hidden`, ['ping'], app)
    const change = async (url: string, kinds: readonly string[]) =>
      await changeEndpoint(platform, trace, operator, { id, url, kinds })
    for (const [url, kinds] of [
      ['https://10.0.0.1/', ['ping']],
      ['http://127.0.0.1/', ['ping']],
      [receiver.url, []],
      [receiver.url, ['nothing']],
    ] as const) {
      expect(await refusalOf(change(url, kinds))).toBe('invalid_request')
    }
    await pingEndpoint(platform, trace, operator, id)
    await platform.database.transaction(async (q) => await q.webhookEndpoints.setFailingSince(id, 1))
    const moved = await change(receiver.url, ['credential.created', 'install.created'])
    expect(moved).toMatchObject({ url: receiver.url, kinds: ['install.created', 'credential.created'] })
    expect(await readEndpoint(platform, app.id, id)).toMatchObject({ url: receiver.url, failingSince: null })
    await change(receiver.url, ['install.created', 'credential.created']) // the same, so nothing is recorded
    const trail = await platform.database.queries.audit.pageOfApp(app.id, 'webhook.changed', '~', 100)
    const host = new URL(receiver.url).host
    expect(trail.map(({ detail }) => JSON.parse(detail ?? ''))).toEqual([{ from: host, host, kinds: moved.kinds }])
    await pingEndpoint(platform, trace, operator, id)
    const last = receiver.received.at(-1)
    expect(last !== undefined && receiver.isSignedWith(last, secret) && last.path).toBe('/hooks')
    const { data } = await listAttempts(platform, id, { limit: 10, cursor: null })
    const [now, before] = await Promise.all(data.map(async (row) => await readAttempt(platform, id, row.id)))
    expect([now?.url, before?.url]).toEqual([receiver.url, `${receiver.url}/old?…`])
  })

  test('that is removed takes its secrets with it and is sent nothing more', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, ['credential.created'], app)
    await makeSecret(app.slug)
    await removeEndpoint(platform, trace, operator, id)
    expect(await listEndpoints(platform, app.slug)).toEqual([])
    expect(await platform.database.queries.webhookEndpoints.liveSecrets(id, 0)).toEqual([])
    expect(await platform.database.queries.webhookEndpoints.due(Number.MAX_SAFE_INTEGER)).not.toContain(id)
    for (const change of [
      async () => await removeEndpoint(platform, trace, operator, id),
      async () => await pingEndpoint(platform, trace, operator, id),
      async () => await changeEndpoint(platform, trace, operator, { id, url: receiver.url, kinds: ['ping'] }),
      async () => await listAttempts(platform, id, { limit: 1, cursor: null }),
      async () => await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 }),
      async () => await setEndpointStatus(platform, trace, operator, { id, status: 'disabled' }),
    ]) {
      expect(await refusalOf(change())).toBe('invalid_request')
    }
  })

  test('that is disabled gets nothing, keeps its events, and is announced as disabled once', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, ['credential.created'], app)
    const disable = { id, status: 'disabled' } as const
    expect(await setEndpointStatus(platform, trace, operator, disable)).toMatchObject({ reason: 'by_hand' })
    await setEndpointStatus(platform, trace, operator, disable)
    await makeSecret(app.slug)
    expect(await platform.database.queries.webhookEndpoints.due(Number.MAX_SAFE_INTEGER)).not.toContain(id)
    expect((await readEndpoint(platform, app.id, id)).deliveries.pending).toBe(1)
    // Also not when it was found due a moment before it was disabled.
    const calls = receiver.received.length
    expect(await deliverNext(platform, trace, id, new AbortController().signal)).toEqual({ kind: 'nothing due' })
    expect(receiver.received).toHaveLength(calls)
    await setEndpointStatus(platform, trace, operator, { id, status: 'enabled' })
    expect(await platform.database.queries.webhookEndpoints.due(platform.clock.now())).toContain(id)
    const trail = await platform.database.queries.audit.pageOfApp(app.id, null, '~', 100)
    expect(trail.map(({ action }) => action).filter((action) => action.startsWith('webhook.'))).toEqual([
      'webhook.enabled',
      'webhook.disabled',
      'webhook.created',
    ])
  })
})

const liveOf = async (id: string) =>
  (await platform.database.queries.webhookEndpoints.liveSecrets(id, platform.clock.now())).length

describe('a secret', () => {
  test('is one of at most two: a second rotation ends the oldest at once', async () => {
    const { id } = await world.endpoint(receiver.url)
    for (let round = 0; round < 4; round += 1) {
      await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 24 })
      expect(await liveOf(id)).toBe(2)
    }
    await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 })
    expect(await liveOf(id)).toBe(1)
  })

  test('is required: without a valid one nothing is sent, and the attempt says why', async () => {
    const { id } = await world.endpoint(receiver.url, ['credential.created'])
    const secrets = await platform.database.queries.webhookEndpoints.liveSecrets(id, platform.clock.now())
    await platform.database.transaction(async (q) => {
      await q.webhookEndpoints.endSecretsAt(secrets, 1)
    })
    const calls = receiver.received.length
    expect(await pingEndpoint(platform, trace, operator, id)).toMatchObject({ status: null, error: 'no_secret' })
    expect(receiver.received).toHaveLength(calls)
  })

  test('has a grace period of whole hours, at most a week', async () => {
    const { id } = await world.endpoint(receiver.url)
    for (const graceHours of [-1, 0.5, 169, Number.NaN]) {
      expect(await refusalOf(rotateWebhookSecret(platform, trace, operator, { id, graceHours }))).toBe(
        'invalid_request',
      )
    }
    expect(await liveOf(id)).toBe(1)
    await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 168 })
    expect(await liveOf(id)).toBe(2)
  })
})

describe('an event is sent', () => {
  test('for installs, versions, secrets and the app itself, in the order in which it happened', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, [...webhookKinds], app)
    const live = await addEndpoint(platform, trace, operator, {
      slug: app.slug,
      environment: 'production',
      url: receiver.url,
      kinds: ['install.created', 'install.approved', 'install.deactivated', 'app.suspended'],
    })
    const user = await addUser(platform)
    const wanted = { slug: app.slug, userEmail: user.email, kind: 'site', resourceSlug: 'my-site' } as const
    const install = await createInstall(platform, trace, operator, wanted)
    await moveInstall(platform, trace, operator, { id: install.id, step: 'approve' })
    await moveInstall(platform, trace, operator, { id: install.id, step: 'deactivate' })
    await uploadVersion(platform, app, '1.0.0', ['submit', 'withdraw', 'submit', 'approve', 'activate'])
    await uploadVersion(platform, app, '2.0.0', ['submit', 'approve', 'activate'])
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'active' })
    await makeSecret(app.slug)
    expect(await waitingFor(live.id)).toEqual([
      'install.created',
      'install.approved',
      'install.deactivated',
      'app.suspended',
    ])
    expect(await waitingFor(id)).toEqual([
      'version.submitted',
      'version.withdrawn',
      'version.submitted',
      'version.approved',
      'version.activated',
      'version.submitted',
      'version.approved',
      'version.superseded',
      'version.activated',
      'app.suspended',
      'app.activated',
      'credential.created',
    ])
  })

  test('for grants, however they begin and end', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, [...webhookKinds], app)
    const user = await addUser(platform)
    const session = await sessionOf(platform, user)
    const consent = async () => (await authorize(platform, trace, session, authorizeBody(app), true)).code
    const code = await consent()
    const { accessToken } = await exchangeCode(platform, trace, exchangeBody(app, code), null)
    expect(await refusalOf(exchangeCode(platform, trace, exchangeBody(app, code), null))).toBe('invalid_grant')
    expect(await authenticateUserToken(platform, accessToken)).toBeNull()
    await consent()
    await revokeConnectedApps(platform, trace, session, { kind: 'all' })
    await consent()
    await endIssued(platform, trace, operator, { kind: 'user', userId: user.id })
    expect(await waitingFor(id)).toEqual([
      'grant.created',
      'grant.reuse_detected',
      'grant.created',
      'grant.revoked',
      'grant.created',
      'grant.revoked',
    ])
  })

  test('for what is revoked, withdrawn or disabled: a secret, an install, a version, an endpoint', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, [...webhookKinds], app)
    const { id: disabled } = await world.endpoint(receiver.url, ['ping'], app)
    await uploadVersion(platform, app, '1.0.0', ['submit', 'reject'])
    await uploadVersion(platform, app, '2.0.0')
    const target = { target: null, environment: 'development', reason: null, dryRun: false } as const
    await rollBackVersion(platform, trace, await developmentCaller(platform, app), target, null)
    const { email: userEmail } = world.owner
    const place = { userEmail, kind: 'site', resourceSlug: 'my-site', environment: 'development' } as const
    const install = async () => (await createInstall(platform, trace, operator, { slug: app.slug, ...place })).id
    await endInstall(platform, trace, operator, await install())
    await setEndpointStatus(platform, trace, operator, { id: disabled, status: 'disabled' })
    await setEndpointStatus(platform, trace, operator, { id: disabled, status: 'enabled' })
    const { clientId } = app.development
    const [first] = await platform.database.queries.credentials.listByClient(clientId)
    await rotateCredential(platform, trace, operator, { clientId, graceHours: 24 })
    await revokeCredential(platform, trace, operator, first?.id ?? '')
    expect(await waitingFor(id)).toEqual([
      'version.submitted',
      'version.rejected',
      'version.rolled_back',
      'install.created',
      'install.approved', // a test is, at once
      'install.deactivated',
      'webhook.disabled',
      'credential.rotated',
      'credential.revoked',
    ])
  })

  test('in production for an install that is withdrawn before a decision, and for one that is rejected', async () => {
    const app = await freshApp()
    const { id } = await world.endpoint(receiver.url, [...webhookKinds], app, 'production')
    const place = { userEmail: world.owner.email, kind: 'site', resourceSlug: 'my-site' } as const
    const install = async () => (await createInstall(platform, trace, operator, { slug: app.slug, ...place })).id
    await endInstall(platform, trace, operator, await install())
    await moveInstall(platform, trace, operator, { id: await install(), step: 'reject' })
    const told = ['install.created', 'install.deactivated', 'install.created', 'install.rejected']
    expect(await waitingFor(id)).toEqual(told)
  })

  test('but not for issued tokens: issuing writes no further row', async () => {
    const app = await freshApp()
    await world.endpoint(receiver.url, [...webhookKinds], app)
    const before = await countRows(world.file, 'webhook_events', 'audit_events')
    for (let index = 0; index < 5; index += 1) {
      await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
    }
    expect(await countRows(world.file, 'webhook_events', 'audit_events')).toEqual(before)
  })

  test('only if an endpoint listens; otherwise nothing is kept', async () => {
    const app = await freshApp()
    const before = await countRows(world.file, 'webhook_events')
    await makeSecret(app.slug)
    expect(await countRows(world.file, 'webhook_events')).toEqual(before)
  })
})

test('the end of a version of the contract is announced to every app once', async () => {
  const app = await freshApp()
  const { id } = await world.endpoint(receiver.url, ['api_version.deprecated'], app)
  const old = { name: '2025-01', status: 'deprecated', deprecatedAt: 0, sunsetAt: day } as const
  await announceDeprecations(platform, trace)
  expect((await readEndpoint(platform, app.id, id)).deliveries.pending).toBe(0)
  await announceDeprecations(platform, trace, [old])
  await announceDeprecations(platform, trace, [old])
  const next = await platform.database.queries.webhookEvents.nextDue(id, platform.clock.now())
  expect(JSON.parse(next?.event.body ?? '')).toMatchObject({
    type: 'api_version.deprecated',
    data: { apiVersion: '2025-01', deprecatedAt: '1970-01-01T00:00:00.000Z', sunsetAt: '1970-01-02T00:00:00.000Z' },
  })
  expect(await waitingFor(id)).toEqual(['api_version.deprecated'])
})

describe('a ping', () => {
  test('is sent at once and only once, even to a disabled endpoint, and its result is returned', async () => {
    const { id } = await world.endpoint(receiver.url, ['install.created'])
    await setEndpointStatus(platform, trace, operator, { id, status: 'disabled' })
    receiver.behave(() => 204)
    const good = await pingEndpoint(platform, trace, operator, id)
    expect(good).toMatchObject({ delivered: true, status: 204, error: null })
    expect(receiver.received.at(-1)).toMatchObject({ id: good.eventId, type: 'ping' })
    receiver.behave(() => 500)
    expect(await pingEndpoint(platform, trace, operator, id)).toMatchObject({ delivered: false, status: 500 })
    receiver.behave(() => 200)
    const { data } = await listAttempts(platform, id, { limit: 10, cursor: null })
    expect(data.map(({ status, kind }) => [status, kind])).toEqual([
      [500, 'ping'],
      [204, 'ping'],
    ])
    const app = world.app.id
    expect((await readEndpoint(platform, app, id)).deliveries).toEqual({ pending: 0, delivered: 0, failed: 0 })
    expect((await readEndpoint(platform, app, id)).failingSince).toBeNull()
  })
})

test('an attempt shows what was sent and answered: bounded, without cookies and without the secret', async () => {
  const { id, secret } = await world.endpoint(receiver.url, ['ping'])
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'v'.repeat(500)]))
  receiver.behave(() => ({ status: 202, headers: { 'set-cookie': 'session=hidden', 'x-trace': 'abc', ...many } }))
  const { eventId } = await pingEndpoint(platform, trace, operator, id)
  receiver.behave(() => 200)
  const [row] = (await listAttempts(platform, id, { limit: 1, cursor: null })).data
  const attempt = await readAttempt(platform, id, row?.id ?? '')
  const received = receiver.received.at(-1)
  expect(attempt).toMatchObject({ eventId, status: 202, url: receiver.url, body: received?.body })
  expect(received?.headers).toMatchObject(attempt.sentHeaders ?? { nothing: '' })
  expect(attempt.answerHeaders).toMatchObject({ 'x-trace': 'abc' })
  const stored = JSON.stringify(attempt)
  expect(stored).not.toContain('hidden')
  expect(stored).not.toContain(secret.slice(6))
  expect(JSON.stringify(attempt.answerHeaders).length).toBeLessThan(3_000)
  const other = await world.endpoint(receiver.url, ['ping'])
  expect(await refusalOf(readAttempt(platform, other.id, attempt.id))).toBe('route_not_found')
  // The body is that of the event, which is purged before a late attempt.
  await platform.database.transaction(async (q) => await q.webhookEvents.purge(Date.UTC(2100), 10_000))
  expect((await readAttempt(platform, id, attempt.id)).body).toBeNull()
})

/** An endpoint with this many delivered events, an hour apart, and the moments before them. */
const start = async (count: number) => {
  const app = await freshApp()
  const { id } = await world.endpoint(receiver.url, ['credential.created'], app)
  const since: number[] = []
  for (let index = 0; index < count; index += 1) {
    since.push(platform.clock.now())
    const { clientSecret: _, ...made } = await createCredential(platform, trace, operator, {
      slug: app.slug,
      environment: 'development',
      label: `No. ${index}`,
    })
    await platform.database.transaction(async (q) => await q.credentials.revoke(made.id, platform.clock.now()))
    world.pass(hour)
  }
  await waitingFor(id) // delivers them all
  return { app, id, since }
}
const resend = async (id: string, choice: Parameters<typeof resendEvents>[3]['choice']) =>
  (await resendEvents(platform, trace, operator, { id, choice })).resent

describe('events are sent again', () => {
  test('since a moment, and only those', async () => {
    const { id, since, app } = await start(4)
    expect(await resend(id, { kind: 'since', at: since[2] ?? 0 })).toBe(2)
    expect((await readEndpoint(platform, app.id, id)).deliveries).toEqual({ pending: 2, delivered: 2, failed: 0 })
    const old = { kind: 'since', at: platform.clock.now() - 31 * day } as const
    expect(await refusalOf(resend(id, old))).toBe('invalid_request')
  })

  test('one by its ID, and never one that was not meant for the endpoint', async () => {
    const { id } = await start(1)
    const other = await start(1)
    const [event] = await platform.database.queries.webhookEvents.positionsSince(id, 'evt_', 0, 1)
    const found = (await eventIds()).find(({ position }) => position === event)
    expect(await resend(id, { kind: 'one', eventId: found?.id ?? '' })).toBe(1)
    expect(await refusalOf(resend(other.id, { kind: 'one', eventId: found?.id ?? '' }))).toBe('invalid_request')
    expect(await refusalOf(resend(id, { kind: 'one', eventId: 'evt_none' }))).toBe('invalid_request')
  })

  test('all that failed, or none if none has failed', async () => {
    const { id, app } = await start(2)
    expect(await resend(id, { kind: 'failed' })).toBe(0)
    await makeSecret(app.slug)
    expect(await waitingFor(id, 'failed')).toEqual(['credential.created'])
    expect(await resend(id, { kind: 'failed' })).toBe(1)
    expect(await waitingFor(id)).toEqual(['credential.created'])
  })

  test('but no pings, except one that is chosen by its ID', async () => {
    const { id, app, since } = await start(1)
    receiver.behave(() => 500)
    const { eventId } = await pingEndpoint(platform, trace, operator, id)
    receiver.behave(() => 200)
    const counted = await readEndpoint(platform, app.id, id)
    expect(counted.deliveries).toEqual({ pending: 0, delivered: 1, failed: 0 })
    expect(deliveriesInWords(counted)).toBe('1 delivered, 0 waiting, 0 failed; and 1 ping')
    expect(await resend(id, { kind: 'failed' })).toBe(0)
    expect(await resend(id, { kind: 'since', at: since[0] ?? 0 })).toBe(1)
    expect(await waitingFor(id)).toEqual(['credential.created'])
    expect(await resend(id, { kind: 'one', eventId })).toBe(1)
    expect(await waitingFor(id)).toEqual(['ping'])
  })
})

/** Every event of the file, to look one up. */
const eventIds = async () =>
  await askBeside<{ id: string; position: number }>(world.file, 'SELECT id, position FROM webhook_events')

test('events, deliveries and attempts are removed after thirty days, and old secrets after their grace period', async () => {
  const fresh = await createWebhookWorld()
  const { id } = await fresh.endpoint(receiver.url)
  await pingEndpoint(fresh.platform, trace, operator, id)
  await createCredential(fresh.platform, trace, operator, {
    slug: fresh.app.slug,
    environment: 'production',
    label: null,
  })
  await rotateWebhookSecret(fresh.platform, trace, operator, { id, graceHours: 1 })
  const tables = ['webhook_events', 'webhook_deliveries', 'webhook_attempts', 'webhook_secrets'] as const
  const purgeIn = async (milliseconds: number) => {
    const purgeBefore = () => fresh.platform.clock.now() + milliseconds
    const later = { ...fresh.platform, clock: { ...fresh.platform.clock, purgeBefore } }
    await purgeAll(
      later,
      trace,
      async () => undefined,
      () => false,
    )
    return await countRows(fresh.file, ...tables)
  }
  expect(await purgeIn(0)).toMatchObject({ webhook_attempts: 1, webhook_secrets: 2 })
  expect(await purgeIn(2 * hour)).toMatchObject({ webhook_attempts: 1, webhook_secrets: 1 })
  expect(await purgeIn(30 * day - hour)).toMatchObject({ webhook_attempts: 1 })
  expect(await purgeIn(30 * day + hour)).toEqual({
    webhook_events: 0,
    webhook_deliveries: 0,
    webhook_attempts: 0,
    webhook_secrets: 1,
  })
  await fresh.platform.database.close()
})
