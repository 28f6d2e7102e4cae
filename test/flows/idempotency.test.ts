import { describe, expect, test } from 'bun:test'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import { call, type Json } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, type AppInWorld, appToken, createWorld, endWorld } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

type Shop = { readonly app: AppInWorld; readonly token: string }
const shop = async (): Promise<Shop> => {
  const app = await addApp(world.platform, world.user)
  return { app, token: await appToken(url, app.development) }
}
const post = async (path: string, { token }: Pick<Shop, 'token'>, key: string, body: object) =>
  await call(url, 'POST', path, { token, body, headers: { 'Idempotency-Key': key } })
const create = async (caller: Pick<Shop, 'token'>, key: string, body: object) =>
  await post('/versions', caller, key, body)
const versionsOf = async ({ token }: Shop) => (await call(url, 'GET', '/versions', { token })).body.data

describe('the same request under the same key', () => {
  test('gets the same status and body with a new request ID, and acts once', async () => {
    const caller = await shop()
    const first = await create(caller, 'one', { version: '1.0.0', notes: 'x' })
    const again = await create(caller, 'one', { version: '1.0.0', notes: 'x' })
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await versionsOf(caller))[0].revision).toBe(1)
  })

  test('is the same with its fields in any order, at any depth', async () => {
    const caller = await shop()
    const first = await create(caller, 'one', { version: '1.0.0', manifest: { a: 1, b: [{ c: 2, d: 3 }] }, notes: 'x' })
    const again = await create(caller, 'one', { notes: 'x', manifest: { b: [{ d: 3, c: 2 }], a: 1 }, version: '1.0.0' })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
  })

  test('gets the first answer, even if the state has changed since', async () => {
    const caller = await shop()
    const first = await create(caller, 'one', { version: '1.0.0' })
    await moveVersion(world.platform, trace, operator, {
      slug: caller.app.slug,
      version: '1.0.0',
      step: 'submit',
      rejection: null,
    })
    expect(await create(caller, 'one', { version: '1.0.0' })).toMatchObject({ status: 201, body: first.body })
    expectRefusal(await create(caller, 'two', { version: '1.0.0' }), 'version_locked')
  })

  test('rolls back once', async () => {
    const caller = await shop()
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) await create(caller, version, { version })
    const first = await post('/versions/rollback', caller, 'back', {})
    const again = await post('/versions/rollback', caller, 'back', {})
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await versionsOf(caller)).find((item: Json) => item.current.development).version).toBe('2.0.0')
  })

  test('in parallel acts once; a repeat that is too early is told to wait a second', async () => {
    const caller = await shop()
    const contentBase64 = Buffer.alloc(2 * 1024 * 1024, 3).toString('base64')
    const body = { version: '1.0.0', artifact: { filename: 'a', contentBase64 } }
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await create(caller, 'one', body)))
    const created = answers.filter(({ status }) => status === 201)
    expect(created.length).toBeGreaterThan(0)
    expect(new Set(created.map(({ body: told }) => told.id)).size).toBe(1)
    expect(created.filter(({ headers }) => headers.get('idempotent-replayed') === null).length).toBe(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectRefusal(answer, 'idempotency_in_progress')
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect((await versionsOf(caller))[0].revision).toBe(1)
  })
})

test('another body under a used key is refused', async () => {
  const caller = await shop()
  await create(caller, 'one', { version: '1.0.0' })
  for (const body of [
    { version: '1.0.1' },
    { version: '1.0.0', notes: '' },
    { version: '1.0.0', manifest: { a: 1 } },
  ]) {
    const answer = await create(caller, 'one', body)
    expectRefusal(answer, 'idempotency_key_reused')
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
  }
  expect((await versionsOf(caller)).length).toBe(1)
})

describe('a key belongs to one credential, method and path', () => {
  test('so the same key elsewhere is another request', async () => {
    const [mine, theirs] = [await shop(), await shop()]
    await create(mine, 'one', { version: '1.0.0' })
    await create(mine, 'two', { version: '2.0.0' })
    expect((await create(theirs, 'one', { version: '5.0.0' })).status).toBe(201)
    expect((await post('/versions/rollback', mine, 'one', {})).status).toBe(200)
  })

  test('and two tokens of one credential share it, two credentials of one app do not', async () => {
    const caller = await shop()
    const first = await create(caller, 'one', { version: '1.0.0' })
    const sameCredential = { token: await appToken(url, caller.app.development) }
    expect((await create(sameCredential, 'one', { version: '1.0.0' })).body.id).toBe(first.body.id)
    const input = { slug: caller.app.slug, environment: 'development', label: null } as const
    const { clientId, clientSecret } = await createCredential(world.platform, trace, operator, input)
    const otherCredential = { token: await appToken(url, { clientId, clientSecret }) }
    expect(await create(otherCredential, 'one', { version: '1.0.0' })).toMatchObject({
      status: 200,
      body: { revision: 2 },
    })
  })
})

describe('what is stored', () => {
  test('includes refusals by permission or state', async () => {
    const caller = await shop()
    await create(caller, 'one', { version: '1.0.0' })
    await moveVersion(world.platform, trace, operator, {
      slug: caller.app.slug,
      version: '1.0.0',
      step: 'submit',
      rejection: null,
    })
    const cases = [
      ['/versions', { version: '1.0.0', notes: 'x' }, 'version_locked'],
      ['/versions', { version: '2.0.0', publish: true }, 'activation_not_allowed'],
      ['/versions', { version: '2.0.0', scopes: ['customers:read'] }, 'scope_not_available'],
      ['/versions/rollback', { version: '9.9.9' }, 'version_not_found'],
      ['/versions/rollback', { environment: 'production' }, 'no_previous_version'],
    ] as const
    for (const [path, body, code] of cases) {
      const first = await post(path, caller, code, body)
      expectRefusal(first, code)
      await create(caller, `between ${code}`, { version: '0.0.1' })
      const again = await post(path, caller, code, body)
      expectRefusal(again, code)
      expect({ ...again.body.error, requestId: '' }).toEqual({ ...first.body.error, requestId: '' })
      expect([code, again.headers.get('idempotent-replayed')]).toEqual([code, 'true'])
      expectRefusal(await post(path, caller, code, { ...body, version: '3.0.0' }), 'idempotency_key_reused')
    }
  })

  test('excludes 400 and 401: the same key may carry the corrected request', async () => {
    const caller = await shop()
    expectRefusal(await create(caller, 'one', { version: 'x' }), 'invalid_request')
    expectRefusal(await create(caller, 'one', { version: '1.0.0', scopes: ['nothing'] }), 'invalid_scope')
    expectRefusal(await create({ token: 'apat_dead' }, 'one', { version: '1.0.0' }), 'invalid_token')
    const artifact = { filename: 'a', contentBase64: 'aGVsbG8=', sha256: '0'.repeat(64) }
    expectRefusal(await create(caller, 'one', { version: '1.0.0', artifact }), 'checksum_mismatch')
    const right = await create(caller, 'one', { version: '1.0.0' })
    expect([right.status, right.headers.get('idempotent-replayed')]).toEqual([201, null])
  })

  test('survives a restart', async () => {
    const other = await createWorld()
    const token = await appToken(other.server.url, other.app.development)
    const request = { token, body: { version: '1.0.0' }, headers: { 'Idempotency-Key': 'one' } }
    const first = await call(other.server.url, 'POST', '/versions', request)
    await endWorld(other)
    const next = await createWorld({ database: other.server.database })
    try {
      const again = await call(next.server.url, 'POST', '/versions', request)
      expect([again.status, again.body]).toEqual([201, first.body])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
    } finally {
      await endWorld(next)
    }
  })
})

describe('a key', () => {
  test('has 1 to 255 printable ASCII characters and no comma', async () => {
    const caller = await shop()
    for (const key of ['a,b', 'x'.repeat(256), '\u00fc', 'a\tb']) {
      expectRefusal(await create(caller, key, { version: '1.0.0' }), 'invalid_request')
    }
    expect(await versionsOf(caller)).toEqual([])
    for (const key of ['x', '~!"#$%&\'()*+-./:;<=>?@[]^_`{|}', 'with space', 'x'.repeat(255)]) {
      expect((await create(caller, key, { version: '1.0.0' })).status).toBeLessThan(300)
    }
  })

  test('has no effect on calls that change nothing and on those that return a secret', async () => {
    const { development } = world.app
    const body = { ...development, scope: 'site:read' }
    const headers = { 'Idempotency-Key': 'one' }
    const [first, again] = [
      await call(url, 'POST', '/token', { body, headers }),
      await call(url, 'POST', '/token', { body, headers }),
    ]
    expect(first.body.accessToken).not.toBe(again.body.accessToken)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })
})
