import { describe, expect, test } from 'bun:test'
import { strToU8, type Zippable, zipSync } from 'fflate'
import { createHash } from 'node:crypto'
import { setAppStatus, setListed, setPublisher, transferApp } from '../../src/operations/apps/apps.ts'
import { moveVersion, rollBackOwnVersion } from '../../src/operations/versions/move-version.ts'
import { call, type Json } from '../support/call.ts'
import { jpeg, png, webp } from '../support/icons.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, type AppInWorld, appToken } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server
const { platform } = world
const publicUrl = url.replace('127.0.0.1', 'localhost')
const session = [platform, trace, operator] as const

const zip = (files: Zippable) => ({
  filename: 'app.zip',
  contentBase64: Buffer.from(zipSync(files)).toString('base64'),
})
const appJson = (manifest: object) => strToU8(JSON.stringify({ name: 'Listed', ...manifest }))

type Uploader = { readonly app: AppInWorld; readonly token: string }
const uploader = async (): Promise<Uploader> => {
  const app = await addApp(platform, world.user, 'profile:read site:read')
  return { app, token: await appToken(url, app.development) }
}
const upload = async ({ token }: Uploader, body: object) =>
  await call(url, 'POST', '/versions', { token, body: { version: '1.0.0', ...body } })
const makeLive = async ({ slug }: AppInWorld, version = '1.0.0') => {
  for (const step of ['submit', 'approve', 'activate'] as const)
    await moveVersion(...session, { slug, version, step, rejection: null })
}
/** An app whose live version has this icon and says this. */
const listed = async (icon: Uint8Array | null, manifest: object = {}): Promise<Uploader> => {
  const made = await uploader()
  const files: Zippable = icon === null ? {} : { 'art/icon.png': icon }
  const named = icon === null ? {} : { icon: 'art/icon.png' }
  const sent = await upload(made, { artifact: zip({ 'app.json': appJson({ ...named, ...manifest }), ...files }) })
  expect(sent.status).toBe(201)
  await makeLive(made.app)
  return made
}

const get = async (path: string) => await fetch(url + path, { redirect: 'manual' })
const all = async (): Promise<Json[]> => {
  const found: Json[] = []
  for (let query: string | null = ''; query !== null;) {
    const { data, nextCursor } = JSON.parse(await (await get(`/apps.json?limit=2${query}`)).text())
    found.push(...data)
    query = nextCursor === null ? null : `&cursor=${nextCursor}`
  }
  return found
}
const entryOf = async ({ slug }: AppInWorld) => (await all()).find((entry) => entry.slug === slug)
const search = async (words: string) => await (await get(`/apps?q=${encodeURIComponent(words)}`)).text()
/** Bytes that cannot be packed. */
const noise = (bytes: number) => Uint8Array.from({ length: bytes }, (_, at) => (at * at * 31 + (at >> 3)) & 0xff)
const iconOf = (image: Uint8Array): string => `/icons/${createHash('sha256').update(image).digest('hex')}`

describe('an icon at upload', () => {
  const rule = 'In app.json, line 1, column '
  test('is a file of the archive, and is refused by the rule that it breaks', async () => {
    const made = await uploader()
    const cases: readonly (readonly [manifest: object, files: Zippable, words: string])[] = [
      [{ icon: 'none.png' }, { 'icon.png': png() }, 'no file at this path'],
      [{ icon: 'Icon.png' }, { 'icon.png': png() }, 'no file at this path'],
      [{ icon: 'icon.svg' }, { 'icon.svg': strToU8('<svg/>') }, 'must be a PNG, JPEG or WebP image'],
      [{ icon: 'icon.png' }, { 'icon.png': png(64) }, '128 to 1,024 pixels'],
      [{ icon: 'icon.png' }, { 'icon.png': png(128, 200) }, 'must be square'],
      [{ icon: 'icon.png' }, { 'icon.png': [new Uint8Array(10 * 1024 * 1024), { level: 9 }] }, 'larger than 512 KiB'],
      [{ icon: 'https://cdn.example/icon.png' }, {}, 'must be the path'],
      [{ icon: '../icon.png' }, {}, 'must be the path'],
      [{ icon: '/icon.png' }, {}, 'must be the path'],
      [{ icon: 'a\u202egnp.exe\nb' }, {}, 'must be the path'],
      [{ icon: 7 }, {}, 'must be a text'],
    ]
    for (const [manifest, files, words] of cases) {
      const refused = await upload(made, { artifact: zip({ 'app.json': appJson(manifest), ...files }) })
      expectRefusal(refused, 'invalid_request', 'manifest.icon')
      expect(refused.body.error.message).toStartWith(rule)
      expect(refused.body.error.message).toContain(words)
      const sent = { manifest: { name: 'Sent', ...manifest }, artifact: zip({ 'a.txt': strToU8('x'), ...files }) }
      const direct = await upload(made, sent)
      expectRefusal(direct, 'invalid_request', 'manifest.icon')
      expect(direct.body.error.message).toContain(words)
    }
  })

  test('needs an archive', async () => {
    const made = await uploader()
    const manifest = { name: 'Sent', icon: 'icon.png' }
    for (const artifact of [
      undefined,
      { filename: 'icon.png', contentBase64: Buffer.from(png()).toString('base64') },
    ]) {
      expectRefusal(await upload(made, { manifest, artifact }), 'invalid_request', 'manifest.icon')
    }
  })

  test('may be stored or packed, beside app.json in the only folder, and beside 3,000 other files', async () => {
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`app/${index}.txt`, new Uint8Array()]))
    const archives: readonly Zippable[] = [
      { 'app.json': appJson({ icon: 'i.webp' }), 'i.webp': [webp.riff(webp.lossy(300, 300)), { level: 0 }] },
      { 'app/app.json': appJson({ icon: 'i.jpg' }), 'app/i.jpg': jpeg(300), ...many },
    ]
    for (const files of archives) {
      expect((await upload(await uploader(), { artifact: zip(files) })).status).toBe(201)
    }
  })
})

describe('the file of an icon', () => {
  test.each([
    ['image/png', png(200)],
    ['image/jpeg', jpeg(200)],
    ['image/webp', webp.riff(webp.lossless(200, 200))],
  ] as const)('of type %s is served as it was uploaded, and can do nothing', async (type, image) => {
    await listed(image)
    const answer = await get(iconOf(image))
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': type,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  test('lies across the pieces in which its archive is stored', async () => {
    const image = png(150, 150, [9, 9, 9])
    const made = await uploader()
    for (const before of [200_000, 262_000, 300_000]) {
      const files: Zippable = {
        'a.bin': [noise(before), { level: 0 }],
        'app.json': appJson({ icon: 'i.png' }),
        'i.png': image,
      }
      expect((await upload(made, { artifact: zip(files) })).status).toBeLessThan(300)
    }
    await makeLive(made.app)
    expect(Buffer.from(await (await get(iconOf(image))).arrayBuffer()).equals(image)).toBe(true)
  })

  test('is there only for the live version of an active app', async () => {
    const [first, second] = [png(128, 128, [1, 1, 1]), png(128, 128, [2, 2, 2])]
    const { app, token } = await listed(first)
    const artifact = zip({ 'app.json': appJson({ icon: 'i.png' }), 'i.png': second })
    expect((await upload({ app, token }, { version: '2.0.0', artifact })).status).toBe(201)
    const found = async () => [(await get(iconOf(first))).status, (await get(iconOf(second))).status]
    expect(await found()).toEqual([200, 404])
    await makeLive(app, '2.0.0')
    expect(await found()).toEqual([404, 200])
    await setAppStatus(...session, { slug: app.slug, status: 'suspended' })
    expect(await found()).toEqual([404, 404])
    await setAppStatus(...session, { slug: app.slug, status: 'active' })
    expect(await found()).toEqual([404, 200])
    for (const other of ['0'.repeat(64), 'x', iconOf(second).slice(7).toUpperCase()]) {
      expect((await get(`/icons/${other}`)).status).toBe(404)
    }
  })
})

describe('the directory for programs', () => {
  test('lists active apps with a live version by slug, and may be cached', async () => {
    const image = png(256)
    const { app } = await listed(image, { description: 'Letters <b>to</b> your visitors', scopes: ['site:read'] })
    const draft = await uploader()
    await upload(draft, {})
    expect(await entryOf(app)).toEqual({
      slug: app.slug,
      name: expect.any(String),
      description: 'Letters <b>to</b> your visitors',
      publisher: null,
      version: '1.0.0',
      scopes: ['site:read'],
      iconUrl: publicUrl + iconOf(image),
      url: `${publicUrl}/apps/${app.slug}`,
      installUrl: `${publicUrl}/apps/${app.slug}/install`,
      liveSince: expect.stringMatching(/Z$/),
    })
    expect(await entryOf(draft.app)).toBeUndefined()
    const slugs = (await all()).map(({ slug }) => slug)
    expect(slugs).toEqual(slugs.toSorted())
    expect(new Set(slugs).size).toBe(slugs.length)
    const answer = await get('/apps.json')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
    for (const query of ['limit=0', 'limit=101', 'cursor=x', 'limit=1&limit=2']) {
      const refused = await get(`/apps.json?${query}`)
      expect([refused.status, refused.headers.get('content-type')?.split(';')[0]]).toEqual([400, 'application/json'])
    }
  })

  test('leaves out what an operator hides and what is suspended, from the next answer on', async () => {
    const { app } = await listed(null, { description: 'Quince jelly' })
    const isThere = async () => [
      (await entryOf(app)) !== undefined,
      (await get(`/apps/${app.slug}`)).status === 200,
      (await search('quince')).includes(`/apps/${app.slug}"`),
    ]
    const [everywhere, nowhere] = [
      [true, true, true],
      [false, false, false],
    ]
    expect(await isThere()).toEqual(everywhere)
    await setListed(...session, { slug: app.slug, isListed: false })
    expect(await isThere()).toEqual(nowhere)
    await setListed(...session, { slug: app.slug, isListed: true })
    expect(await isThere()).toEqual(everywhere)
    await setPublisher(...session, { slug: app.slug, publisher: 'Jam & Sons' })
    expect(await search('quince')).toContain('Jam &amp; Sons')
    await setAppStatus(...session, { slug: app.slug, status: 'suspended' })
    expect(await isThere()).toEqual(nowhere)
  })

  test('says nothing of the account of an app, and finds nothing by it', async () => {
    const owner = await addUser(platform, 'Quietly Unnamed')
    const { app } = await listed(null, { description: 'Zebra crossing' })
    await transferApp(...session, { slug: app.slug, email: owner.email })
    expect(await search('zebra')).toContain(`/apps/${app.slug}"`)
    for (const text of [await search('zebra'), await (await get(`/apps/${app.slug}`)).text()]) {
      expect(text).not.toContain('Quietly')
    }
    expect(await search('quietly unnamed')).not.toContain(`/apps/${app.slug}"`)
    await setPublisher(...session, { slug: app.slug, publisher: 'Stripes & Co' })
    expect((await entryOf(app))?.publisher).toBe('Stripes & Co')
    expect(await search('stripes')).toContain('Published by <bdi>Stripes &amp; Co</bdi>')
    await transferApp(...session, { slug: app.slug, email: world.user.email })
    expect((await entryOf(app))?.publisher).toBeNull()
  })

  test('searches that come together find what each asks for', async () => {
    const fruits = ['Apricot', 'Mulberry', 'Greengage'] as const
    const { app } = await listed(null, { description: 'An apricot and a mulberry' })
    const { app: other } = await listed(null, { description: 'Nothing but MULBERRY, 100%_' })
    const sought = [...fruits, '100%_', '100%x', 'mulberry']
    const found = await Promise.all([...sought, ...sought].map(search))
    const names = [app, other].map(({ slug }) => `/apps/${slug}"`)
    const expected = [
      [true, false],
      [true, true],
      [false, false],
      [false, true],
      [false, false],
      [true, true],
    ]
    expect(found.map((text) => names.map((name) => text.includes(name)))).toEqual([...expected, ...expected])
  })

  test('is searched for what the live version says, in any spelling of a letter', async () => {
    const made = await listed(null, { description: 'Cafe\u0301 and apples' })
    const second = { version: '2.0.0', manifest: { name: 'Listed', description: 'Only pears' } }
    const { status, body } = await upload(made, second)
    expect(status).toBe(201)
    const { slug } = made.app
    const found = async () =>
      await Promise.all(
        ['caf\u00e9', 'CAFe\u0301', 'only pears'].map(async (words) =>
          (await search(words)).includes(`/apps/${slug}"`),
        ),
      )
    expect(await found()).toEqual([true, true, false])
    await makeLive(made.app, '2.0.0')
    expect(await found()).toEqual([false, false, true])
    const first = await platform.database.queries.versions.byName(made.app.id, '1.0.0')
    const seen = { fromId: body.id, toId: first?.id ?? '' }
    await rollBackOwnVersion(...session, { slug, environment: 'production', reason: null, seen })
    expect(await found()).toEqual([true, true, false])
  })

  test('shows what a description says as text, and takes none that draws over or reverses other text', async () => {
    const made = await uploader()
    for (const description of [
      'a\u202eb',
      'a\u2066b',
      `z${'\u0301'.repeat(40)}`,
      'x'.repeat(10 * 1024 * 1024 - 600_000),
    ]) {
      const { status, body } = await upload(made, { manifest: { name: 'Sent', description } })
      expect([400, 413]).toContain(status)
      if (status === 400) expect(body.error.param).toBe('manifest.description')
    }
    const { app } = await listed(null, { description: '<script>alert(1)</script> "\'&' })
    const text = await (await get(`/apps/${app.slug}`)).text()
    expect(text).toContain('&lt;script>alert(1)&lt;/script>')
    expect(text).not.toContain('<script>alert')
  })

  test('takes no publisher that could not be a name, or is that of the platform', async () => {
    const { app } = await uploader()
    for (const publisher of ['App Platform', 'a\u202eb', '\u2800', 'https://evil.example', 'x'.repeat(201)]) {
      const refused = setPublisher(...session, { slug: app.slug, publisher })
      await expect(refused).rejects.toMatchObject({ facts: { param: 'publisher' } })
    }
  })
})
