import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { recordId } from '../../src/domain/identifier.ts'
import { addApp, appToken, createWorld, endWorld, grantTokens, type World } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

let world: World
let url: string
/** The two lists, each with 45 items and the token that reads it. */
let lists: readonly { readonly path: string; readonly token: string; readonly keyOf: (item: never) => string }[]

beforeAll(async () => {
  world = await createWorld()
  url = world.server.url
  const { platform, user } = world
  for (let count = 0; count < 44; count += 1) {
    const now = platform.clock.now()
    const id = recordId('evt_', platform.random.uuid(now))
    const slug = `site-${String((count * 7) % 44).padStart(2, '0')}`
    const times = { createdAt: now, updatedAt: now, publishedAt: null, externalId: null, deletedAt: null }
    await platform.database.transaction(
      async (q) =>
        await q.resources.insert({ id, ownerId: user.id, kind: 'site', name: slug, slug, status: 'draft', ...times }),
    )
  }
  const app = await appToken(url, world.app.development)
  for (let count = 0; count < 45; count += 1) {
    await send(url, 'POST', '/versions', { token: app, body: JSON.stringify({ version: `0.0.${count}` }) })
  }
  lists = [
    { path: '/versions?', token: app, keyOf: ({ id }) => id },
    { path: '/resources?kind=site&', token: (await grantTokens(world)).accessToken, keyOf: ({ slug }) => slug },
  ]
})
afterAll(async () => await endWorld(world))

const pageOf = async (list: (typeof lists)[number], query: string) =>
  await send(url, 'GET', `${list.path}${query}`, { token: list.token })

const forged = (position: string) => Buffer.from(position).toString('base64url')

describe('a list', () => {
  for (const limit of [1, 7, 20, 44, 45, 46, 100]) {
    test(`is complete and without repeats in pages of ${limit}`, async () => {
      for (const list of lists) {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const { body } = await pageOf(list, `limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)
          expect(body.data.length).toBeLessThanOrEqual(limit)
          seen.push(...body.data.map(list.keyOf))
          cursor = body.nextCursor
          expect(cursor === null || /^[A-Za-z0-9_-]{1,128}$/.test(cursor)).toBe(true)
        } while (cursor !== null)
        expect(seen.length).toBe(45)
        expect(new Set(seen).size).toBe(45)
      }
    })
  }

  test('has no next page after a page that holds everything', async () => {
    for (const list of lists) expect((await pageOf(list, 'limit=45')).body.nextCursor).toBeNull()
  })

  test('has 20 items by default', async () => {
    for (const list of lists) expect((await pageOf(list, '')).body.data.length).toBe(20)
  })

  test('that changes while it is read neither repeats nor omits items that existed throughout', async () => {
    const [versions] = lists
    if (versions === undefined) throw new Error('no list')
    const first = (await pageOf(versions, 'limit=10')).body
    await send(url, 'POST', '/versions', { token: versions.token, body: '{"version":"1.0.0"}' })
    const second = (await pageOf(versions, `limit=10&cursor=${first.nextCursor}`)).body
    const numbers = [...first.data, ...second.data].map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => 45 - index))
  })

  for (const limit of [
    '0',
    '-1',
    '101',
    '1000',
    '1.5',
    '1e1',
    '0x10',
    ' 5',
    '05',
    '',
    'all',
    '٣',
    '99999999999999999999',
  ]) {
    test(`refuses the limit "${limit}"`, async () => {
      for (const list of lists) {
        expectRefusal(await pageOf(list, `limit=${encodeURIComponent(limit)}`), 'invalid_request', 'limit')
      }
    })
  }

  const badCursors = [
    '',
    'x',
    '*',
    '=',
    'null',
    '0',
    'AAAA',
    'a'.repeat(5000),
    forged(''),
    forged('5'),
    forged("' OR 1=1 --"),
    '%FF',
    '%00',
  ]
  for (const cursor of [
    ...badCursors,
    forged('versions 0'),
    forged('versions -1'),
    forged('versions 5 5'),
    forged('site ../..'),
    `${forged('versions 5')}=`,
  ]) {
    test(`refuses the cursor ${cursor.slice(0, 40)}`, async () => {
      for (const list of lists) expectRefusal(await pageOf(list, `cursor=${cursor}`), 'invalid_request', 'cursor')
    })
  }

  test('refuses the cursor of another list', async () => {
    const [versions, sites] = lists
    if (versions === undefined || sites === undefined) throw new Error('no lists')
    const ofVersions = (await pageOf(versions, 'limit=1')).body.nextCursor
    const ofSites = (await pageOf(sites, 'limit=1')).body.nextCursor
    expectRefusal(await pageOf(sites, `cursor=${ofVersions}`), 'invalid_request', 'cursor')
    expectRefusal(await pageOf(versions, `cursor=${ofSites}`), 'invalid_request', 'cursor')
    const stores = await send(url, 'GET', `/resources?kind=store&cursor=${ofSites}`, { token: sites.token })
    expectRefusal(stores, 'invalid_request', 'cursor')
  })

  test("of another app shows nothing of this one, even with this one's cursor", async () => {
    const other = await addApp(world.platform, world.user)
    const token = await appToken(url, other.development)
    const [versions] = lists
    if (versions === undefined) throw new Error('no list')
    const { nextCursor } = (await pageOf(versions, 'limit=1')).body
    const { body } = await send(url, 'GET', `/versions?cursor=${nextCursor}`, { token })
    expect(body).toEqual({ data: [], nextCursor: null, current: { development: null, production: null } })
  })
})
