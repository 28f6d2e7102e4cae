import { beforeAll, describe, expect, test } from 'bun:test'
import type { Queries } from '../../../db/database.ts'
import { revokeCredential } from '../../../src/operations/credentials/credentials.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { operator, trace } from '../../support/operator.ts'
import { developmentCaller } from '../../operations/support/owner.ts'
import { rollBackVersion } from '../../../src/operations/versions/move-version.ts'
import { moveThrough, uploadVersion } from '../../support/version.ts'
import { addSide, type Side } from '../support/two-sides.ts'

// There are two of everything. A query for one must return nothing of the other.

const platform = await platformOfFile()
let q: Queries
let sides: readonly [Side, Side]
beforeAll(async () => {
  q = platform.database.queries
  sides = [await addSide(platform), await addSide(platform)]
})

const end = Number.MAX_SAFE_INTEGER
const beyond = '~'
const everyAttempt = { outcome: null, kind: null, since: null, until: null }
const numbersOf = (rows: readonly { readonly number: number }[]) => rows.map(({ number }) => number)

describe.each([0, 1] as const)('of two sides, number %p', (index) => {
  const own = () => sides[index]
  const other = () => sides[index === 0 ? 1 : 0]

  test('finds only the versions of its own app, by ID, name, status and number', async () => {
    const { app, draft } = own()
    expect((await q.versions.byId(app.id, draft))?.version).toBe('2.0.0')
    expect(await q.versions.byId(app.id, other().draft)).toBeNull()
    expect((await q.versions.byName(app.id, '2.0.0'))?.id).toBe(draft)
    const live = await q.versions.active(app.id)
    expect([live?.appId, live?.version]).toEqual([app.id, '1.0.0'])
    const summaries = async (id: string, status: 'draft' | 'submitted' | null, before: number, limit: number) =>
      await q.versions.summaries(id, { status }, before, limit)
    for (const list of [q.versions.list, summaries]) {
      expect(numbersOf(await list(app.id, null, end, 10))).toEqual([2, 1])
      expect(numbersOf(await list(app.id, null, 2, 10))).toEqual([1])
      expect(numbersOf(await list(app.id, 'draft', end, 10))).toEqual([2])
      expect(numbersOf(await list(app.id, 'submitted', end, 10))).toEqual([])
      expect((await list(app.id, null, end, 10)).at(0)?.id).toBe(draft)
    }
    expect((await q.versions.summary(app.id, draft))?.version).toBe('2.0.0')
    expect(await q.versions.summary(app.id, other().draft)).toBeNull()
    expect((await q.versions.previous(app.id, 2))?.id).toBe(live?.id)
    expect(await q.versions.previous(app.id, 1)).toBeNull()
  })

  test('finds only the installs of its own user and app', async () => {
    const { app, user, install } = own()
    expect(await q.installs.hasLive(app.id, user.id, 'production')).toBe(true)
    expect(await q.installs.hasLive(app.id, other().user.id, 'production')).toBe(false)
    expect(await q.installs.hasLive(other().app.id, user.id, 'production')).toBe(false)
    expect(await q.installs.hasLive(app.id, user.id, 'development')).toBe(true) // it serves both environments
    const place = (await q.installs.find(install))?.install.resourceId ?? ''
    const elsewhere = (await q.installs.find(other().install))?.install.resourceId ?? ''
    expect((await q.installs.findOpen(app.id, place))?.id).toBe(install)
    expect([await q.installs.findOpen(app.id, elsewhere), await q.installs.findOpen(other().app.id, place)]).toEqual([
      null,
      null,
    ])
    expect(
      (await q.installs.pageOfUser(user.id, beyond, 10)).map((row) => [row.install.id, row.app, row.headScopes]),
    ).toEqual([[install, app.slug, 'site:read']])
    expect(await q.installs.pageOfUser(user.id, install, 10)).toEqual([])
    expect((await q.installs.list(app.id)).map((row) => row.install.id)).toEqual([install])
    const asked = { appId: app.id }
    const window = { after: beyond, rows: 10, limit: 10 }
    const found = async (change: object) =>
      (await q.installs.search({ ...asked, ...change }, 'newest', window)).found.map((row) => row.install.id)
    expect(await found({})).toEqual([install])
    expect(await found({ appId: null, userId: user.id })).toEqual([install])
    expect(await found({ status: 'waiting' })).toEqual([])
    expect(await q.installs.countStates(asked)).toEqual({
      states: [{ approval: 'approved', state: 'active', count: 1 }],
      exact: true,
    })
    expect(await q.installs.countsOfApp(app.id)).toEqual([{ approval: 'approved', state: 'active', count: 1 }])
  })

  test('finds only the secrets and redirect URIs of its own client', async () => {
    const { app, credential } = own()
    const { clientId } = app.development
    const now = platform.clock.now()
    const live = await q.credentials.liveOfClient(clientId, now)
    expect([live.length, live.at(-1)?.id]).toEqual([2, credential])
    expect(new Set(live.map((row) => row.clientId))).toEqual(new Set([clientId]))
    expect(await q.credentials.endedOfClient(app.development.clientId, now, beyond, 10)).toEqual([])
    expect(await q.credentials.lastUseOfApp(app.id)).not.toBeNull()
    expect((await q.redirectUris.listByApp(app.id)).map(({ uri }) => uri).toSorted()).toEqual(
      [app.liveRedirectUri, app.redirectUri].toSorted(),
    )
    const uris = [app.redirectUri, app.liveRedirectUri, other().app.redirectUri]
    const isRegistered = uris.map(async (uri) => await q.redirectUris.isRegistered(clientId, uri))
    expect(await Promise.all(isRegistered)).toEqual([true, false, false])
    expect((await q.apps.byClient(clientId))?.app.id).toBe(app.id)
    expect((await q.apps.clientsOf(app.id)).map(({ id }) => id).toSorted()).toEqual(
      [clientId, app.production.clientId].toSorted(),
    )
  })

  test('finds only the endpoints, events and deliveries of its own app', async () => {
    const { app, endpoint, position, secret } = own()
    const now = platform.clock.now()
    expect((await q.webhookEndpoints.listOfApp(app.id)).map(({ id }) => id)).toEqual([endpoint])
    expect((await q.webhookEndpoints.ofPlace(app.id, 'development')).map(({ id }) => id)).toEqual([endpoint])
    expect(await q.webhookEndpoints.ofPlace(app.id, 'production')).toEqual([])
    expect([
      await q.webhookEndpoints.countOfPlace(app.id, 'development'),
      await q.webhookEndpoints.countOfPlace(app.id, 'production'),
    ]).toEqual([1, 0])
    expect((await q.webhookEndpoints.liveSecrets(endpoint, now)).map(({ id }) => id)).toEqual([secret])
    expect((await q.webhookEvents.nextDue(endpoint, now))?.event.position).toBe(position)
    expect(await q.webhookEvents.nextDue(endpoint, 0)).toBeNull()
    expect(await q.webhookEvents.findDelivery(other().position, endpoint)).toBeNull()
    expect(await q.webhookEvents.countsOf(endpoint)).toEqual([{ state: 'pending', isPing: false, count: 1 }])
    expect(await q.webhookEvents.positionsSince(endpoint, 'evt_', 0, 10)).toEqual([position])
    expect(await q.webhookEvents.positionsSince(endpoint, 'evt_', position, 10)).toEqual([])
    expect(await q.webhookEvents.positionsSince(endpoint, 'evt_~', 0, 10)).toEqual([])
    expect(await q.webhookEvents.failedPositions(endpoint, 0, 10)).toEqual([])
    expect(await q.webhookAttempts.pageOfEndpoint(endpoint, everyAttempt, beyond, 10)).toEqual([])
  })

  test('finds the row with a key by that key', async () => {
    const { user, app, credential, sessions, token, grants, install, code, endpoint, position } = own()
    const [grant] = grants
    const pair = grant.currentKey
    const { clientId } = app.development
    expect((await q.users.byId(user.id))?.email).toBe(user.email)
    expect((await q.users.byEmail(user.email))?.id).toBe(user.id)
    expect((await q.apps.byId(app.id))?.slug).toBe(app.slug)
    expect((await q.apps.bySlug(app.slug))?.id).toBe(app.id)
    expect((await q.appMembers.access(user.id, app.slug))?.app.id).toBe(app.id)
    expect(await q.apps.idOfClient(clientId)).toBe(app.id)
    expect((await q.credentials.find(credential))?.credential.id).toBe(credential)
    expect((await q.credentials.listByClient(clientId)).at(-1)?.id).toBe(credential)
    expect((await q.credentials.listByClient(app.production.clientId)).map((row) => row.clientId)).toEqual([
      app.production.clientId,
    ])
    for (const key of sessions) {
      const found = await q.sessions.find(key)
      expect([found?.session.key, found?.user.id]).toEqual([key, user.id])
    }
    expect((await q.appTokens.find(token))?.clientId).toBe(clientId)
    expect((await q.grants.byId(grant.id))?.id).toBe(grant.id)
    expect((await q.grants.findPair(pair))?.grant.id).toBe(grant.id)
    expect((await q.grants.findAccess(pair))?.grantId).toBe(grant.id)
    const first = (await q.grants.findPair(pair))?.pair.previousKey ?? -1
    expect((await q.grants.findCode(first))?.grant.id).toBe(grant.id)
    expect((await q.installs.find(install))?.install.userId).toBe(user.id)
    expect((await q.embedding.findCode(code))?.code.installId).toBe(install)
    expect((await q.webhookEndpoints.find(endpoint))?.slug).toBe(app.slug)
    const event = (await q.webhookEvents.nextDue(endpoint, platform.clock.now()))?.event
    expect((await q.webhookEvents.find(event?.id ?? ''))?.position).toBe(position)
  })

  test('finds only the sessions, grants, websites and stores of its own user', async () => {
    const { user, sessions, grants, app, code } = own()
    const now = platform.clock.now()
    const page = { now, usedAfter: now - 1_000_000, before: beyond, limit: 10 }
    expect((await q.sessions.openOfUser(user.id, page)).map(({ key }) => key)).toEqual(sessions.toReversed())
    expect((await q.sessions.openOfUser(user.id, { ...page, before: sessions[1] })).map(({ key }) => key)).toEqual([
      sessions[0],
    ])
    expect(await q.sessions.openOfUser(user.id, { ...page, now: now + 13 * 3_600_000 })).toEqual([])
    expect(await q.sessions.openOfUser(user.id, { ...page, usedAfter: now })).toEqual([])
    const ids = grants.map(({ id }) => id).toReversed()
    expect((await q.personal.rows('grants', user.id)).map(({ id }) => id)).toEqual(ids.toReversed())
    const { clientId } = app.development
    expect((await q.connectedApps.grantsOf(user.id, clientId, page)).map(({ id }) => id)).toEqual(ids)
    expect(
      (await q.connectedApps.grantsOf(user.id, clientId, { ...page, before: ids[0] ?? '' })).map(({ id }) => id),
    ).toEqual([ids[1] ?? ''])
    expect(await q.connectedApps.grantsOf(user.id, other().app.development.clientId, page)).toEqual([])
    expect(await q.connectedApps.grantsOf(user.id, clientId, { ...page, now: now + 3_600_000 })).toEqual([])
    expect(await q.grants.wasGranted(user.id, clientId)).toBe(true)
    expect(await q.grants.wasGranted(user.id, other().app.development.clientId)).toBe(false)
    expect(await q.grants.wasGranted(other().user.id, clientId)).toBe(false)
    expect(await q.grants.liveScopes(user.id, clientId, now)).toEqual(['site:read'])
    expect(await q.grants.liveScopes(user.id, other().app.development.clientId, now)).toEqual([])
    expect(await q.grants.liveScopes(user.id, clientId, now + 3_600_000)).toEqual([])
    expect((await q.embedding.findCode(code))?.userId).toBe(user.id)
    expect((await q.resources.list(user.id, 'site', '', 10)).map(({ slug }) => slug)).toEqual(['my-site'])
    expect(await q.resources.list(user.id, 'site', 'my-site', 10)).toEqual([])
    expect((await q.resources.find(user.id, 'store', 'my-store'))?.ownerId).toBe(user.id)
    expect((await q.apps.ofPerson(user.id)).map((row) => row.app.id)).toEqual([app.id])
    expect(await q.apps.countOwnedBy(user.id)).toEqual({ live: 1, all: 1 })
    expect(await q.appMembers.access(user.id, other().app.slug)).toBeNull()
  })
})

test('lists the websites of an owner, at most as many as are asked for, to an app that is installed there, and none to another', async () => {
  const [one, two] = sides
  const [first] = await q.resources.ofOwner(one.user.id)
  if (first === undefined) throw new Error('no website')
  const added = ['a', 'b', 'z']
  await platform.database.transaction(async (writing) => {
    for (const slug of added) await writing.resources.insert({ ...first, kind: 'site', id: `res-${slug}`, slug })
  })
  const asked = async (
    { user, app }: { readonly user: Side['user']; readonly app: Side['app'] },
    of: Partial<Parameters<Queries['resources']['listForApp']>[0]> = {},
  ) => {
    const every = { kind: 'site', environment: 'production', status: null, isInstalled: null } as const
    const place = { ownerId: user.id, appId: app.id, after: '', limit: 10 }
    return (await q.resources.listForApp({ ...every, ...place, ...of })).map(({ slug }) => slug)
  }
  // All at once: on PostgreSQL one statement answers those that ask alike.
  const answers = await Promise.all([
    asked(one),
    asked(one, { after: 'a', limit: 2 }),
    asked({ user: one.user, app: two.app }),
    asked(two),
    asked(one, { isInstalled: true }),
    asked(one, { kind: 'store', isInstalled: true }),
    asked(one, { status: 'draft' }),
  ])
  await platform.database.transaction(async (writing) => {
    for (const slug of added) await writing.resources.forget(`res-${slug}`, platform.clock.now())
  })
  expect(answers).toEqual([['a', 'b', 'my-site', 'z'], ['b', 'my-site'], [], ['my-site'], [], ['my-store'], []])
})

test('an ended secret or grant is listed among the ended ones, newest first, and not among the live ones', async () => {
  const [{ app, credential, user, endpoint, secret, grants }] = sides
  const now = platform.clock.now()
  await revokeCredential(platform, trace, operator, credential)
  expect((await q.credentials.liveOfClient(app.development.clientId, now)).map(({ id }) => id)).not.toContain(
    credential,
  )
  const ended = async (before: string) =>
    (await q.credentials.endedOfClient(app.development.clientId, now, before, 10)).map(({ id }) => id)
  expect([await ended(beyond), await ended(credential)]).toEqual([[credential], []])
  expect(await q.credentials.endedOfClient(sides[1].app.development.clientId, now, beyond, 10)).toEqual([])
  const [other] = await q.credentials.liveOfClient(app.development.clientId, now)
  const graced = other?.id ?? ''
  await platform.database.transaction(async (writing) => await writing.credentials.endAt([{ id: graced }], now + 10))
  const livesAt = async (at: number) => (await q.credentials.liveOfClient(app.development.clientId, at)).length
  expect([await livesAt(now + 9), await livesAt(now + 10)]).toEqual([1, 0])
  const endedAt = async (at: number) =>
    (await q.credentials.endedOfClient(app.development.clientId, at, beyond, 10)).length
  expect([await endedAt(now + 9), await endedAt(now + 10)]).toEqual([1, 2])
  await platform.database.transaction(async (writing) => {
    await writing.webhookEndpoints.endSecretsAt([{ id: secret }], now)
    await writing.grants.revoke(grants[0].id, now)
    await writing.grants.revoke(grants[1].id, now)
  })
  expect(await q.webhookEndpoints.liveSecrets(endpoint, now)).toEqual([])
  expect(await q.webhookEndpoints.liveSecrets(endpoint, now - 1)).toHaveLength(1)
  expect(await q.grants.liveScopes(user.id, app.development.clientId, now)).toEqual([])
  expect(await q.connectedApps.countByScopes(user.id, now)).toEqual([])
})

test('an install is open while it is pending or active, and admits its app only while it is active', async () => {
  const [, { app, user, install }] = sides
  const place = (await q.installs.find(install))?.install.resourceId ?? ''
  const states = async () => [
    await q.installs.hasLive(app.id, user.id, 'production'),
    (await q.installs.findOpen(app.id, place)) !== null,
  ]
  const [active, inactive] = [{ state: 'active' } as const, { state: 'inactive' } as const]
  const [approved, pending, rejected] = [
    { approval: 'approved' } as const,
    { approval: 'pending' } as const,
    { approval: 'rejected' } as const,
  ]
  const move = async (from: Parameters<typeof q.installs.move>[1], to: typeof from) =>
    await platform.database.transaction(async (writing) => await writing.installs.move(install, from, to, 1))
  for (const [from, to, expected] of [
    [{ ...approved, ...active }, { ...pending, ...inactive }, [false, true]],
    [{ ...pending, ...inactive }, { ...rejected, ...inactive }, [false, false]],
    [{ ...rejected, ...inactive }, { ...approved, ...inactive }, [false, false]],
    [{ ...approved, ...inactive }, { ...approved, ...active }, [true, true]],
  ] as const) {
    expect(await move(from, to)).toBe(true)
    expect(await states()).toEqual([...expected])
  }
})

test('the history of what was live is that of one app, newest first, with what followed and the reason of a rollback', async () => {
  const [{ app: other }, { app }] = sides
  for (const version of ['3.0.0', '4.0.0']) {
    await uploadVersion(platform, app, { version })
    await moveThrough(platform, app, version, 'submit', 'approve', 'activate')
  }
  const request = { target: null, environment: 'production', reason: 'It crashes.', dryRun: false } as const
  await rollBackVersion(platform, trace, await developmentCaller(platform, app), request, null)
  const rows = await q.liveChanges.pageOfApp(app.id, end, 10)
  expect(rows.map(({ position, version, after, reason }) => [position, version, after, reason])).toEqual([
    [4, '3.0.0', null, null],
    [3, '4.0.0', '3.0.0', 'It crashes.'],
    [2, '3.0.0', '4.0.0', null],
    [1, '1.0.0', '3.0.0', null],
  ])
  for (const [index, { until }] of rows.entries()) expect(until).toBe(rows[index - 1]?.from ?? null)
  expect((await q.liveChanges.pageOfApp(app.id, { backFrom: 2 }, 1)).map(({ position }) => position)).toEqual([3])
  const [live] = await q.versions.list(app.id, 'active', end, 1)
  expect((await q.liveChanges.versionIds(app.id)).at(-1)).toBe(live?.id ?? '')
  expect(await q.liveChanges.versionIds(other.id)).toHaveLength(1)
})
