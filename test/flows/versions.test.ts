import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import { createHash } from 'node:crypto'
import type { VersionStep } from '../../src/domain/version.ts'
import { listRollbacks } from '../../src/operations/versions/lists.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import { askBeside } from '../support/beside.ts'
import { call, type Json } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, type AppInWorld, appToken, grantTokens } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

/** An app of its own for each test, so that numbers start at 1. */
type Workshop = { readonly app: AppInWorld; readonly token: string }
const workshop = async (scopes?: string): Promise<Workshop> => {
  const app = await addApp(world.platform, world.user, scopes)
  return { app, token: await appToken(url, app.development) }
}
const upload = async ({ token }: Workshop, body: object) => await call(url, 'POST', '/versions', { token, body })
const list = async ({ token }: Workshop, query = '') => (await call(url, 'GET', `/versions${query}`, { token })).body
const move = async ({ app }: Workshop, version: string, ...steps: readonly VersionStep[]) => {
  for (const step of steps) {
    const rejection = step === 'reject' ? { message: 'No icon.', items: [{ path: 'icon', message: 'Missing.' }] } : null
    await moveVersion(world.platform, trace, operator, { slug: app.slug, version, step, rejection })
  }
}
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const packaged = (appJson: string | Uint8Array | null, filename = 'app.zip') => {
  const files = { 'index.html': strToU8('x'), ...(appJson === null ? {} : { 'app.json': Buffer.from(appJson) }) }
  return { filename, contentBase64: Buffer.from(zipSync(files)).toString('base64') }
}
const appJson = '{"name":"Packed","scopes":["site:read"],"own":{"a":[1]}}'

describe('creating a version', () => {
  test('returns the full record of a draft, which is the development head', async () => {
    const shop = await workshop()
    const { status, body } = await upload(shop, { version: '1.4.0' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^ver_[0-9a-f]{32}$/),
      number: 1,
      version: '1.4.0',
      status: 'draft',
      revision: 1,
      notes: null,
      manifest: {},
      scopes: [],
      artifact: null,
      current: { development: true, production: false },
      rejection: null,
      createdAt: time,
      updatedAt: time,
      submittedAt: null,
      reviewedAt: null,
      activatedAt: null,
    })
  })

  test('takes manifest and scopes from the app.json of a ZIP archive, unless they are sent', async () => {
    const shop = await workshop()
    const artifact = packaged(appJson)
    const found = { manifest: { name: 'Packed', own: { a: [1] } }, scopes: ['site:read'] }
    expect(await upload(shop, { version: '1.0.0', artifact })).toMatchObject({ status: 201, body: found })
    const sent = { manifest: { name: 'Sent' }, scopes: ['store:read'] }
    expect(await upload(shop, { version: '2.0.0', artifact, ...sent })).toMatchObject({ status: 201, body: sent })
    const others = [null, appJson].map((text, index) => packaged(text, `${index}.tar`))
    const texts = [others[0], { filename: 'a.zip', contentBase64: 'aGVsbG8=' }]
    for (const [index, other] of texts.entries()) {
      const { body } = await upload(shop, { version: `3.0.${index}`, artifact: other })
      expect(body).toMatchObject({ manifest: {}, scopes: [] })
    }
    const listed = { version: '4.0.0', manifest: { name: 'Sent', scopes: ['store:read'] } }
    expect((await upload(shop, listed)).body.scopes).toEqual(['store:read'])
  })

  test('refuses a known field of the manifest with a wrong value, in the body and in app.json alike, and names it', async () => {
    const shop = await workshop()
    const cases: readonly (readonly [field: string, manifest: object])[] = [
      ['name', { name: 5 }],
      ['name', { name: '' }],
      ['name', { name: null }],
      ['description', { name: 'x', description: ['x'] }],
      ['description', { name: 'x', description: 'x'.repeat(2001) }],
      ['scopes', { name: 'x', scopes: 'site:read' }],
      ['scopes', { name: 'x', scopes: { 0: 'site:read' } }],
      ['scopes.1', { name: 'x', scopes: ['site:read', 7] }],
      ['scopes.0', { name: 'x', scopes: ['nothing'] }],
      ['embedUrl', { name: 'x', embedUrl: 7 }],
      ['embedUrl', { name: 'x', embedUrl: 'http://app.example/' }],
      ['websiteUrl', { name: 'x', websiteUrl: 'javascript:alert(1)' }],
      ['supportUrl', { name: 'x', supportUrl: {} }],
      ['privacyUrl', { name: 'x', privacyUrl: true }],
    ]
    for (const [field, manifest] of cases) {
      expectRefusal(await upload(shop, { version: '1.0.0', manifest }), 'invalid_request', `manifest.${field}`)
      const artifact = packaged(JSON.stringify(manifest))
      const refused = await upload(shop, { version: '1.0.0', artifact })
      expectRefusal(refused, 'invalid_request', `manifest.${field}`)
      expect(refused.body.error.message).toMatch(/^In app\.json, line 1, column \d+: /)
      const sent = await upload(shop, { version: '1.0.0', artifact, manifest: { name: 'x' }, scopes: [] })
      expect([200, 201]).toContain(sent.status)
    }
    for (const text of ['{"scopes":[]}', '{"name":"x",}', '[]']) {
      expectRefusal(await upload(shop, { version: '2.0.0', artifact: packaged(text) }), 'invalid_request', 'manifest')
    }
    const unread = [packaged(new Uint8Array([0xff])), packaged(`{"name":"${'x'.repeat(300_000)}"}`)]
    const secret = Buffer.from(zipSync({ 'app.json': strToU8(appJson), '.env': strToU8('A=1') })).toString('base64')
    for (const artifact of [...unread, { filename: 'app.zip', contentBase64: secret }]) {
      expectRefusal(await upload(shop, { version: '2.0.0', artifact }), 'invalid_request', 'artifact.contentBase64')
    }
  })

  test('keeps notes, manifest, scopes and artifact as they were sent', async () => {
    const shop = await workshop()
    const bytes = new Uint8Array([0, 255, 1, 254, 10, 13])
    const manifest = {
      name: 'N',
      deep: { list: [1, 'a', null, { b: 1.5 }] },
      when: '2026-08-01',
      constructor: 'x',
      '': 0,
    }
    const artifact = {
      filename: 'app v1 (ü).tar.gz',
      contentBase64: Buffer.from(bytes).toString('base64'),
      sha256: sha256(bytes),
    }
    const notes = 'Zeile 1\n\u{1F680}'
    const { body } = await upload(shop, {
      version: '1.0.0-rc.1+build.5',
      notes,
      manifest,
      scopes: ['store:read', 'site:read', 'site:read'],
      artifact,
    })
    expect(body).toMatchObject({ version: '1.0.0-rc.1+build.5', notes, manifest, scopes: ['site:read', 'store:read'] })
    expect(body.artifact).toEqual({ filename: artifact.filename, sizeBytes: 6, sha256: artifact.sha256 })
    expect((await list(shop)).data).toEqual([body])
  })

  test('again with the same name replaces a draft completely and does not move the head', async () => {
    const shop = await workshop()
    const first = (await upload(shop, { version: '1.0.0', notes: 'one', manifest: { a: 1 }, scopes: ['site:read'] }))
      .body
    const second = (await upload(shop, { version: '2.0.0' })).body
    const { status, body } = await upload(shop, { version: '1.0.0', manifest: { b: 2 } })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...first,
      revision: 2,
      notes: null,
      manifest: { b: 2 },
      scopes: [],
      updatedAt: time,
      current: { development: false, production: false },
    })
    expect((await list(shop)).current).toEqual({ development: second.id, production: null })
  })

  for (const [status, steps] of [
    ['submitted', ['submit']],
    ['approved', ['submit', 'approve']],
    ['active', ['submit', 'approve', 'activate']],
    ['rejected', ['submit', 'reject']],
  ] as const) {
    test(`again, when it is ${status}, is refused and changes nothing`, async () => {
      const shop = await workshop()
      await upload(shop, { version: '1.0.0', notes: 'mine' })
      await move(shop, '1.0.0', ...steps)
      const before = await list(shop)
      expect(before.data[0]).toMatchObject({ status, notes: 'mine', revision: 1 })
      const answer = await upload(shop, { version: '1.0.0', notes: 'other' })
      expectRefusal(answer, 'version_locked')
      expect(answer.body.error.details).toEqual({ status })
      expect(await list(shop)).toEqual(before)
    })
  }

  test('again is refused for a superseded version, and replaces a withdrawn one, which is a draft', async () => {
    const shop = await workshop()
    for (const version of ['1.0.0', '2.0.0']) {
      await upload(shop, { version })
      await move(shop, version, 'submit', 'approve', 'activate')
    }
    expectRefusal(await upload(shop, { version: '1.0.0' }), 'version_locked')
    await upload(shop, { version: '3.0.0' })
    await move(shop, '3.0.0', 'submit', 'withdraw')
    expect(await upload(shop, { version: '3.0.0' })).toMatchObject({
      status: 200,
      body: { revision: 2, status: 'draft' },
    })
  })

  for (const field of ['status', 'activate', 'publish', 'submit']) {
    test(`with "${field}" is refused, whatever it says`, async () => {
      const shop = await workshop()
      for (const value of ['draft', true, false, null, '', {}]) {
        expectRefusal(await upload(shop, { version: '1.0.0', [field]: value }), 'activation_not_allowed', field)
      }
      expect((await list(shop)).data).toEqual([])
    })
  }

  for (const version of [
    '1',
    '1.0',
    'v1.0.0',
    '1.0.0.0',
    '01.0.0',
    '1.0.0-',
    '1.0.0-01',
    '1.0.0+',
    ' 1.0.0',
    '1.0.0 ',
    '1.0.0\n',
    '1.0.0-ä',
    '',
    `1.0.0-${'a'.repeat(59)}`,
    '1.0.-1',
    'latest',
    '१.0.0',
  ]) {
    test(`refuses ${JSON.stringify(version)}, which is no semantic version`, async () => {
      expectRefusal(await upload(await workshop(), { version }), 'invalid_request', 'version')
    })
  }

  test('accepts a semantic version of 64 characters', async () => {
    expect((await upload(await workshop(), { version: `1.0.0-${'a'.repeat(58)}` })).status).toBe(201)
  })

  test('refuses scopes that do not exist, are not available or are not registered', async () => {
    const shop = await workshop('site:read')
    for (const scopes of [['nothing'], [''], ['site:read', ' '], ['site:read store:read']]) {
      const answer = await upload(shop, { version: '1.0.0', scopes })
      expect([scopes, answer.status, answer.body.error.param?.slice(0, 6)]).toEqual([scopes, 400, 'scopes'])
    }
    expectRefusal(
      await upload(shop, { version: '1.0.0', scopes: ['site:read', 'customers:read'] }),
      'scope_not_available',
      'scopes',
    )
    expectRefusal(
      await upload(shop, { version: '1.0.0', scopes: ['site:read', 'store:read'] }),
      'scope_not_allowed',
      'scopes',
    )
    expect((await upload(shop, { version: '1.0.0', scopes: ['site:read'] })).status).toBe(201)
  })
})

const withArtifact = async (shop: Workshop, artifact: object, version = '1.0.0') =>
  await upload(shop, { version, artifact })

test('a manifest has at most 256 KiB of JSON in UTF-8, to the byte', async () => {
  const shop = await workshop()
  const within = { a: 'é'.repeat(128 * 1024 - 4) } // and eight bytes of JSON
  expectRefusal(await upload(shop, { version: '1.0.0', manifest: { a: `${within.a}x` } }), 'payload_too_large')
  expect(await upload(shop, { version: '1.0.0', manifest: within })).toMatchObject({ status: 201 })
})

describe('an artifact', () => {
  for (const contentBase64 of [
    'aGVsbG8',
    'aGVsbG8==',
    'aGVsb G8=',
    'aGVsbG8=\n',
    'aGVsbG9=',
    'a-_b',
    '====',
    'äöüß',
    'aGVsbG8=aGVsbG8=',
    'data:;base64,aGVsbG8=',
  ]) {
    test(`comes in strict base64, not as ${JSON.stringify(contentBase64)}`, async () => {
      expectRefusal(
        await withArtifact(await workshop(), { filename: 'a', contentBase64 }),
        'invalid_request',
        'artifact.contentBase64',
      )
    })
  }

  for (const filename of ['', 'a/b', 'a\\b', '../a', 'a\nb', 'a\u007fb', 'x'.repeat(256)]) {
    test(`has a name without a path, not ${JSON.stringify(filename.slice(0, 20))}`, async () => {
      expectRefusal(
        await withArtifact(await workshop(), { filename, contentBase64: 'aGVsbG8=' }),
        'invalid_request',
        'artifact.filename',
      )
    })
  }

  test('matches its checksum, which is lower-case hex', async () => {
    const shop = await workshop()
    const sum = sha256(Buffer.from('hello'))
    const hello = { filename: 'a', contentBase64: 'aGVsbG8=' }
    expectRefusal(
      await withArtifact(shop, { ...hello, sha256: sha256(Buffer.from('other')) }),
      'checksum_mismatch',
      'artifact.sha256',
    )
    expectRefusal(
      await withArtifact(shop, { ...hello, sha256: sum.toUpperCase() }),
      'invalid_request',
      'artifact.sha256',
    )
    expectRefusal(await withArtifact(shop, { ...hello, sha256: '' }), 'invalid_request', 'artifact.sha256')
    expect((await withArtifact(shop, { ...hello, sha256: sum })).status).toBe(201)
  })

  test('has a name that is what it seems to be', async () => {
    const shop = await workshop()
    const contentBase64 = 'aGk='
    for (const filename of ['report\u202egpj.exe', 'a\u200b.zip', '\u00a0'])
      expectRefusal(await withArtifact(shop, { filename, contentBase64 }), 'invalid_request', 'artifact.filename')
    const { body } = await withArtifact(shop, { filename: 'u\u0308ber.zip', contentBase64 })
    expect(body.artifact.filename).toBe('\u00fcber.zip')
  })

  test('has at most 10 MiB, to the byte', async () => {
    const shop = await workshop()
    const bytes = Buffer.alloc(10 * 1024 * 1024 + 1, 7)
    const beyond = { filename: 'a', contentBase64: bytes.toString('base64') }
    expectRefusal(await withArtifact(shop, beyond), 'payload_too_large')
    const within = await withArtifact(shop, { filename: 'a', contentBase64: bytes.subarray(1).toString('base64') })
    expect(within).toMatchObject({
      status: 201,
      body: { artifact: { sizeBytes: 10 * 1024 * 1024, sha256: sha256(bytes.subarray(1)) } },
    })
  })

  test('is stored once for all its uploads, and is read back complete', async () => {
    const bytes = Buffer.from('the same everywhere '.repeat(40_000))
    const artifact = { filename: 'a', contentBase64: bytes.toString('base64') }
    const before = await storedBytes()
    for (const version of ['1.0.0', '1.0.0', '2.0.0']) {
      expect((await withArtifact(await workshop(), artifact, version)).body.artifact.sha256).toBe(sha256(bytes))
    }
    expect((await storedBytes()) - before).toBe(bytes.length)
  })

  test('may be empty', async () => {
    const { status, body } = await withArtifact(await workshop(), { filename: 'a', contentBase64: '' })
    expect([status, body.artifact?.sizeBytes]).toEqual([201, 0])
  })
})

/** The bytes of all artifacts in the file. */
const storedBytes = async (): Promise<number> => {
  const sum = 'SELECT coalesce(sum(length(data)), 0) AS bytes FROM artifact_chunks'
  return (await askBeside<{ bytes: number }>(world.server.database, sum))[0]?.bytes ?? 0
}

describe('listing versions', () => {
  test('has the newest number first, and the current versions on every page and with every filter', async () => {
    const shop = await workshop()
    for (const version of ['3.0.0', '1.0.0', '2.0.0']) await upload(shop, { version })
    await move(shop, '3.0.0', 'submit', 'approve', 'activate')
    await move(shop, '1.0.0', 'submit')
    const { data, nextCursor, current } = await list(shop)
    expect(data.map(({ number, version, status }: Json) => [number, version, status])).toEqual([
      [3, '2.0.0', 'draft'],
      [2, '1.0.0', 'submitted'],
      [1, '3.0.0', 'active'],
    ])
    expect(data.map((item: Json) => item.current)).toEqual([
      { development: true, production: false },
      { development: false, production: false },
      { development: false, production: true },
    ])
    expect(nextCursor).toBeNull()
    expect(current).toEqual({ development: data[0].id, production: data[2].id })
    for (const query of ['?status=draft', '?limit=1', '?status=rejected'])
      expect((await list(shop, query)).current).toEqual(current)
  })

  test('filters by every status', async () => {
    const shop = await workshop()
    const lives = {
      draft: [],
      submitted: ['submit'],
      approved: ['submit', 'approve'],
      superseded: ['submit', 'approve', 'activate'],
      active: ['submit', 'approve', 'activate'],
      rejected: ['submit', 'reject'],
    } as const
    for (const [index, [, steps]] of Object.entries(lives).entries()) {
      await upload(shop, { version: `${index}.0.0` })
      await move(shop, `${index}.0.0`, ...steps)
    }
    for (const status of Object.keys(lives)) {
      const { data } = await list(shop, `?status=${status}`)
      expect(data.map((item: Json) => item.status)).toEqual([status])
    }
    expect((await list(shop)).data.length).toBe(6)
    const [rejected] = (await list(shop, '?status=rejected')).data
    expect(rejected.rejection).toEqual({ message: 'No icon.', items: [{ path: 'icon', message: 'Missing.' }] })
    expect([rejected.submittedAt, rejected.reviewedAt, rejected.activatedAt]).toEqual([time, time, null])
    for (const status of ['Draft', '', 'deleted', 'draft,active']) {
      const { token } = shop
      expectRefusal(await call(url, 'GET', `/versions?status=${status}`, { token }), 'invalid_request', 'status')
    }
  })
})

describe('versions are for development credentials of their own app', () => {
  test('and not for production credentials or users', async () => {
    const live = await appToken(url, world.app.production)
    const { accessToken } = await grantTokens(world)
    for (const [token, code] of [
      [live, 'development_credentials_required'],
      [accessToken, 'token_type_not_allowed'],
    ] as const) {
      expectRefusal(await call(url, 'GET', '/versions', { token }), code)
      expectRefusal(await call(url, 'POST', '/versions', { token, body: { version: '1.0.0' } }), code)
      expectRefusal(await call(url, 'POST', '/versions/rollback', { token, body: {} }), code)
    }
  })

  test("and another app's versions do not exist", async () => {
    const [mine, theirs] = [await workshop(), await workshop()]
    await upload(theirs, { version: '1.0.0', notes: 'theirs' })
    const foreign = (await upload(theirs, { version: '1.1.0' })).body
    expect((await list(mine)).data).toEqual([])
    for (const body of [{ versionId: foreign.id }, { version: '1.1.0' }]) {
      expectRefusal(await call(url, 'POST', '/versions/rollback', { token: mine.token, body }), 'version_not_found')
    }
    expect(await upload(mine, { version: '1.0.0' })).toMatchObject({ status: 201, body: { number: 1, notes: null } })
    expect((await list(theirs)).data.at(-1)).toMatchObject({ notes: 'theirs', revision: 1 })
  })

  test('and scopes play no part', async () => {
    const shop = await workshop()
    const token = await appToken(url, shop.app.development, 'site.content:write')
    expect((await upload({ ...shop, token }, { version: '1.0.0' })).status).toBe(201)
  })
})

const remove = async ({ token }: Workshop, id: string) => await call(url, 'DELETE', `/versions/${id}`, { token })

describe('removing a draft', () => {
  test('answers with it, frees its name and its artifact but not its number, and makes the newest other version the development head', async () => {
    const shop = await workshop()
    const artifact = { filename: 'a.txt', contentBase64: Buffer.from(crypto.randomUUID()).toString('base64') }
    const first = (await upload(shop, { version: '1.0.0' })).body
    const second = (await upload(shop, { version: '2.0.0', artifact })).body
    const third = (await upload(shop, { version: '3.0.0' })).body
    const rolled = await call(url, 'POST', '/versions/rollback', { token: shop.token, body: {} })
    expect(rolled.body.version.id).toBe(second.id)
    const { status, body } = await remove(shop, second.id)
    expect([status, body.id, body.version]).toEqual([200, second.id, '2.0.0'])
    const left = await list(shop)
    expect(left.data.map(({ version }: Json) => version)).toEqual(['3.0.0', '1.0.0'])
    expect(left.current.development).toBe(third.id)
    const sha256 = Buffer.from(second.artifact.sha256, 'hex')
    expect(await world.platform.database.queries.artifacts.find(sha256)).toBeNull()
    await remove(shop, first.id)
    expect((await list(shop)).current.development).toBe(third.id)
    await remove(shop, third.id)
    expect(await list(shop)).toMatchObject({ data: [], current: { development: null, production: null } })
    expect(await upload(shop, { version: '2.0.0' })).toMatchObject({ status: 201, body: { number: 4 } })
    const trail = await world.platform.database.queries.audit.pageOfApp(shop.app.id, 'version.removed', '~', 10)
    expect(trail.map(({ target }) => target)).toEqual([third.id, first.id, second.id])
    expect((await listRollbacks(world.platform, shop.app.id, { limit: 10, cursor: null })).data).toMatchObject([
      { from: null, to: null },
    ])
  })

  test('is refused for every version that was submitted, for what is not there, and in production', async () => {
    const shop = await workshop()
    const steps: readonly (readonly VersionStep[])[] = [
      ['submit'],
      ['submit', 'reject'],
      ['submit', 'approve'],
      ['submit', 'approve', 'activate'],
    ]
    for (const [index, taken] of steps.entries()) {
      const { id } = (await upload(shop, { version: `1.0.${index}` })).body
      await move(shop, `1.0.${index}`, ...taken)
      expectRefusal(await remove(shop, id), 'version_locked')
    }
    expect((await list(shop)).data).toHaveLength(steps.length)
    const draft = (await upload(shop, { version: '2.0.0' })).body
    const other = await workshop()
    expectRefusal(await remove(other, draft.id), 'version_not_found')
    expectRefusal(await remove(shop, 'nothing'), 'version_not_found')
    const live = { ...shop, token: await appToken(url, shop.app.production) }
    expectRefusal(await remove(live, draft.id), 'development_credentials_required')
    await move(shop, '2.0.0', 'submit', 'withdraw')
    const both = await Promise.all([remove(shop, draft.id), remove(shop, draft.id)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404])
  })
})
