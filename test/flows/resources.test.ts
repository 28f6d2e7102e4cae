import { describe, expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, authorize, exchange, grantTokens, installApp, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

const list = async (query: string, token: string) => await call(url, 'GET', `/resources${query}`, { token })
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('GET /resources', () => {
  for (const kind of ['site', 'store']) {
    test(`lists what the signed-in user owns of the kind ${kind}, and nothing else of it`, async () => {
      const { accessToken } = await grantTokens(world)
      const { status, body } = await list(`?kind=${kind}`, accessToken)
      expect(status).toBe(200)
      const item = {
        name: `My ${kind}`,
        slug: `my-${kind}`,
        status: 'published',
        createdAt: time,
        updatedAt: time,
        publishedAt: time,
      }
      expect(body).toEqual({ kind, data: [item], nextCursor: null })
      expect(Object.keys(body.data[0]).toSorted()).toEqual([
        'createdAt',
        'name',
        'publishedAt',
        'slug',
        'status',
        'updatedAt',
      ])
    })
  }

  for (const query of [
    '',
    '?',
    '?kind=',
    '?kind=page',
    '?kind=sites',
    '?kind=SITE',
    '?kind=site%20',
    '?kind=constructor',
    '?kind[]=site',
    '?Kind=site',
  ]) {
    test(`refuses ${query === '' ? 'no query' : query} and says what it takes`, async () => {
      const { accessToken } = await grantTokens(world)
      const answer = await list(query, accessToken)
      expectRefusal(answer, 'invalid_request', 'kind')
      expect(answer.body.error.details).toEqual({ allowed: ['site', 'store'] })
    })
  }

  test('needs the scope of the kind that is asked for', async () => {
    const { accessToken } = await grantTokens(world, 'site:read')
    expect((await list('?kind=site', accessToken)).status).toBe(200)
    expectRefusal(await list('?kind=store', accessToken), 'insufficient_scope')
  })

  test('never shows resources of another user', async () => {
    const bob = await addUser(world.platform, 'Bob Example')
    await world.platform.database.transaction(async (q) => {
      const now = world.platform.clock.now()
      const times = { createdAt: now, updatedAt: now, publishedAt: null, externalId: null, deletedAt: null }
      const id = `evt_${'b'.repeat(32)}`
      await q.resources.insert({
        id,
        ownerId: bob.id,
        kind: 'site',
        name: 'Secret',
        slug: 'secret',
        status: 'draft',
        ...times,
      })
    })
    const { accessToken } = await grantTokens(world)
    for (const query of ['?kind=site', `?kind=site&owner=${bob.id}`, `?kind=site&userId=${bob.id}&limit=100`]) {
      expect((await list(query, accessToken)).body.data.map(({ slug }: { slug: string }) => slug)).toEqual(['my-site'])
    }
    await installApp(world.platform, world.app, bob)
    const session = await signIn(url, bob)
    const theirs = (await exchange(url, world.app, await authorize(url, session, world.app))).body
    const { body } = await list('?kind=site', theirs.accessToken)
    expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual(['my-site', 'secret'])
    expect(body.data[1]).toMatchObject({ status: 'draft', publishedAt: null })
  })
})
