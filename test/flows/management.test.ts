import { describe, expect, test } from 'bun:test'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, exchange, authorize, installApp, signIn } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { platform, app } = world
const { url } = world.server

const newKey = async (rights: readonly string[], networks: readonly string[] = []) =>
  await createServiceKey(platform, trace, operator, { name: 'Builder', rights, networks, expiresInDays: null })
const { secret } = await newKey(serviceRights)

const ask = async (method: string, path: string, body?: object, key = secret) =>
  await send(url, method, `~/api/management${path}`, {
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const ada = { email: 'ada@builder.example', name: 'Ada Builder' }
const bakery = { ownerExternalId: 'u/1', name: 'Bakery', slug: 'bakery', status: 'published' }
const eventCount = async () => (await auditEvents(platform)).length

describe('a user of the builder', () => {
  test('is created, and the same call again changes nothing', async () => {
    const first = await ask('PUT', '/users/u%2F1', ada)
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({
      externalId: 'u/1',
      ...ada,
      pictureUrl: null,
      status: 'active',
      hasPassword: false,
    })
    const events = await eventCount()
    const again = await ask('PUT', '/users/u%2F1', ada)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(await eventCount()).toBe(events)
    expect((await ask('GET', '/users/u%2F1')).body).toEqual(first.body)
  })

  test('who has no password cannot sign in with one', async () => {
    for (const password of ['x', 'correct horse battery']) {
      const body = JSON.stringify({ email: ada.email, password })
      const answer = await send(url, 'POST', '~/api/session', { body })
      expect(answer.body.error.code).toBe('invalid_login')
    }
  })

  test('is changed in one field, and the audit row names the field and not its value', async () => {
    expect((await ask('PUT', '/users/u%2F1', { ...ada, name: 'Ada Renamed' })).body.name).toBe('Ada Renamed')
    const row = (await auditEvents(platform)).findLast(({ action }) => action === 'user.changed')
    expect(row?.detail).toBe('{"fields":["name"]}')
    await ask('PUT', '/users/u%2F1', ada)
  })

  test('is refused with an address that another user has', async () => {
    expectRefusal(await ask('PUT', '/users/2', { ...ada, email: world.user.email }), 'email_taken', 'email')
    expectRefusal(await ask('GET', '/users/2'), 'record_not_found')
  })

  test('is refused with a malformed field', async () => {
    for (const [field, value] of [
      ['email', 'nobody'],
      ['pictureUrl', 'http://example.com/a.png'],
      ['pictureUrl', 'https://example.com/a.png\n'],
      ['pictureUrl', 'https://me:pw@example.com/a.png'],
      ['status', 'erased'],
    ]) {
      expectRefusal(
        await ask('PUT', '/users/2', { ...ada, email: 'b@builder.example', [field ?? '']: value }),
        'invalid_request',
        field,
      )
    }
    expectRefusal(await ask('PUT', `/users/${'x'.repeat(129)}`, ada), 'invalid_request', 'externalId')
    expectRefusal(await ask('PUT', '/users/%C3%A4', ada), 'invalid_request', 'externalId')
  })

  test('is found by address and listed in pages', async () => {
    const found = await ask('GET', `/users?email=${ada.email}`)
    expect(found.body.data.map((user: { externalId: string }) => user.externalId)).toEqual(['u/1'])
    // "Nobody" would let the builder create a person who is there.
    for (const address of ['%20u@builder.example', 'u@builder.example%0a', 'u', '', 'u%E2%80%8B@builder.example']) {
      expectRefusal(await ask('GET', `/users?email=${address}`), 'invalid_request', 'email')
    }
    for (const id of ['', '%20u1', 'u1%0a', '..', 'x'.repeat(129), '%C3%A4']) {
      expectRefusal(await ask('GET', `/resources/site?ownerExternalId=${id}`), 'invalid_request', 'ownerExternalId')
      expectRefusal(await ask('GET', `/installs?userExternalId=${id}`), 'invalid_request', 'userExternalId')
    }
    for (const slug of ['', '%20bakery', 'Bakery', 'bakery-', 'x'.repeat(64), 'b%C3%A4ckerei']) {
      expectRefusal(await ask('GET', `/resources/site?slug=${slug}`), 'invalid_request', 'slug')
      expectRefusal(await ask('GET', `/installs?app=${slug}`), 'invalid_request', 'app')
    }
    const first = await ask('GET', '/users?limit=1')
    const second = await ask('GET', `/users?limit=1&cursor=${first.body.nextCursor}`)
    expect([first.body.data[0].email, second.body.data[0].email]).toEqual([world.user.email, ada.email])
  })

  test('who is disabled loses the sessions, and keeps being disabled when the status is not sent', async () => {
    const user = await addUser(platform)
    await platform.database.transaction(
      async (q) => await q.users.change(user.id, { externalId: 'd' }, platform.clock.now()),
    )
    const session = await signIn(url, user)
    const stated = { email: user.email, name: 'Ada Example' }
    expect((await ask('PUT', '/users/d', { ...stated, status: 'disabled' })).body.status).toBe('disabled')
    expect((await send(url, 'GET', '~/api/session', { token: session })).status).toBe(401)
    expect((await ask('PUT', '/users/d', stated)).body.status).toBe('disabled')
  })

  test('who is an operator cannot be changed or ended by any key', async () => {
    const user = await addUser(platform)
    await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
    await platform.database.transaction(
      async (q) => await q.users.change(user.id, { externalId: 'op' }, platform.clock.now()),
    )
    const session = await signIn(url, user)
    const stated = { email: user.email, name: 'Another Name' }
    expectRefusal(await ask('PUT', '/users/op', stated), 'operator_protected')
    expectRefusal(await ask('POST', '/users/op/end-access', {}), 'operator_protected')
    expect((await send(url, 'GET', '~/api/session', { token: session })).status).toBe(200)
  })
})

test('ending the access of a user ends sessions alone, or everything', async () => {
  const user = await addUser(platform)
  await platform.database.transaction(
    async (q) => await q.users.change(user.id, { externalId: 'e' }, platform.clock.now()),
  )
  const session = await signIn(url, user)
  const { body: tokens } = await exchange(url, app, await authorize(url, session, app))
  const whoIs = async () => (await send(url, 'GET', '/oauth/me', { token: tokens.accessToken })).status
  expect((await ask('POST', '/users/e/end-access', { only: 'sessions' })).body).toEqual({ sessions: 1 })
  expect([(await send(url, 'GET', '~/api/session', { token: session })).status, await whoIs()]).toEqual([401, 200])
  expect((await ask('POST', '/users/e/end-access', {})).body).toMatchObject({ sessions: 0, grants: 1 })
  expect(await whoIs()).toBe(401)
})

describe('a website of the builder', () => {
  test('is created, read, listed, and the same call again changes nothing', async () => {
    const first = await ask('PUT', '/resources/site/7', bakery)
    expect([first.status, first.body]).toMatchObject([201, { kind: 'site', externalId: '7', ...bakery }])
    const events = await eventCount()
    expect((await ask('PUT', '/resources/site/7', bakery)).body).toEqual(first.body)
    expect(await eventCount()).toBe(events)
    expect((await ask('GET', '/resources/site/7')).body).toEqual(first.body)
    expect((await ask('GET', '/resources/site?limit=100')).body.data).toContainEqual(first.body)
  })

  test('cannot take the slug of another one of its owner', async () => {
    expectRefusal(await ask('PUT', '/resources/site/8', bakery), 'slug_taken', 'slug')
  })

  test('joins one that was imported without an external ID', async () => {
    await platform.database.transaction(
      async (q) => await q.users.change(world.user.id, { externalId: 'w' }, platform.clock.now()),
    )
    const stated = { ownerExternalId: 'w', name: 'My site', slug: 'my-site', status: 'published' }
    expect((await ask('PUT', '/resources/site/joined', stated)).status).toBe(200)
  })

  test('loses its installs when its owner changes, and when it is removed', async () => {
    const site = async () => (await ask('GET', '/resources/site/joined')).body
    await ask('PUT', '/resources/site/joined', { ...(await site()), ownerExternalId: 'u/1' })
    const states = async () =>
      (await ask('GET', '/installs?limit=100')).body.data.map(({ state }: { state: string }) => state)
    expect(await states()).toEqual(['inactive'])
    await ask('PUT', '/resources/site/joined', { ...(await site()), ownerExternalId: 'w' })
    await installApp(platform, app, world.user)
    expect((await ask('DELETE', '/resources/site/joined')).body).toEqual({ installs: 1 })
    expect(await states()).toEqual(['inactive', 'inactive'])
    expectRefusal(await ask('GET', '/resources/site/joined'), 'record_not_found')
    expectRefusal(await ask('DELETE', '/resources/site/joined'), 'record_not_found')
  })

  test('needs an owner that the builder has sent, and a kind that exists', async () => {
    const unknown = { ...bakery, ownerExternalId: 'nobody' }
    expectRefusal(await ask('PUT', '/resources/site/9', unknown), 'invalid_request', 'ownerExternalId')
    expectRefusal(await ask('PUT', '/resources/blog/9', bakery), 'route_not_found')
  })
})

describe('a call of the management API', () => {
  test('takes no other kind of token, and needs none of its own on the contract', async () => {
    const session = await signIn(url, world.user)
    expectRefusal(await ask('GET', '/users', undefined, session), 'invalid_token')
    expect((await send(url, 'GET', '~/api/management/users')).status).toBe(401)
  })

  test('may name the version, and only one that is served', async () => {
    const headers = { Authorization: `Bearer ${secret}` }
    const ofVersion = async (version: string) =>
      await send(url, 'GET', '~/api/management/users', { headers: { ...headers, 'X-Service-Api-Version': version } })
    expect((await ofVersion('2026-08')).status).toBe(200)
    expectRefusal(await ofVersion('2099-01'), 'api_version_unsupported')
  })
})

const putWithKey = async (key: string) =>
  await send(url, 'PUT', '~/api/management/users/keyed', {
    headers: { Authorization: `Bearer ${secret}`, 'Idempotency-Key': key },
    body: JSON.stringify({ email: 'keyed@builder.example', name: 'Keyed' }),
  })

test('an idempotency key is accepted, and a malformed one is refused', async () => {
  expect((await putWithKey('one')).status).toBe(201)
  expect((await putWithKey('one')).status).toBe(200)
  expectRefusal(await putWithKey('one, two'), 'invalid_request')
})

describe('the query of a call', () => {
  test('has nothing but what the call knows, so that no misspelt filter answers with other records', async () => {
    const paths = [
      '/users?emial=x',
      '/users?Email=x',
      '/installs?appId=x',
      '/resources/site?owner=5',
      '/audit?since=0',
      '/scopes?q=x',
    ]
    for (const path of [...paths, '/users/u1?limit=5', '/resources/site/7?x=', '/users/u1/export?a']) {
      const answer = await ask('GET', path)
      expectRefusal(answer, 'invalid_request')
      expect(answer.body.error.message).toStartWith('There is no such query parameter.')
    }
    expectRefusal(await ask('DELETE', '/users/nobody?dryRun=true'), 'invalid_request')
    expectRefusal(await ask('GET', '/users?emial=x', undefined, 'apok_wrong'), 'invalid_token')
  })

  test('narrows websites by owner, slug and status, and installs by app and state', async () => {
    const owners = ['f1', 'f2']
    for (const [index, owner] of owners.entries()) {
      await ask('PUT', `/users/${owner}`, { email: `${owner}@builder.example`, name: owner })
      for (const status of ['draft', 'published']) {
        const site = { ownerExternalId: owner, name: status, slug: `f-${status}`, status }
        await ask('PUT', `/resources/site/f-${index}-${status}`, site)
      }
    }
    const found = async (query: string) => {
      const ids: string[] = []
      for (let cursor = ''; ;) {
        const { body } = await ask('GET', `/resources/site?limit=1&${query}${cursor}`)
        ids.push(...body.data.map(({ externalId }: { externalId: string }) => externalId))
        if (body.nextCursor === null) return ids.toSorted()
        cursor = `&cursor=${body.nextCursor}`
      }
    }
    expect(await found('ownerExternalId=f1')).toEqual(['f-0-draft', 'f-0-published'])
    expect(await found('ownerExternalId=f1&status=draft')).toEqual(['f-0-draft'])
    expect(await found('slug=f-draft')).toEqual(['f-0-draft', 'f-1-draft'])
    expect(await found('slug=f-draft&ownerExternalId=f2')).toEqual(['f-1-draft'])
    for (const none of ['ownerExternalId=nobody', 'slug=none', 'ownerExternalId=f1&status=archived'])
      expect(await found(none)).toEqual([])
    expectRefusal(await ask('GET', '/resources/site?status=gone'), 'invalid_request', 'status')

    const other = await addApp(platform, world.user)
    await installApp(platform, other, await addUser(platform))
    const installs = async (query: string) => (await ask('GET', `/installs?limit=100&${query}`)).body.data
    expect(await installs(`app=${other.slug}`)).toMatchObject([{ app: other.slug, state: 'active' }])
    expect(await installs(`app=${other.slug}&state=inactive`)).toEqual([])
    expect(await installs('app=no-such-app')).toEqual([])
    expect(await installs('state=active')).not.toEqual([])
  })
})
