import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync, type Zippable } from 'fflate'
import { createHash } from 'node:crypto'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { listRollbacks } from '../../src/operations/versions/lists.ts'
import { findVersion } from '../../src/operations/versions/version-record.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { developmentCaller, uploadVersion } from '../operations/support/owner.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { type Seen, signedInBrowser } from './support/plain-browser.ts'
import { worldOfFile } from '../support/world-of-file.ts'

// Versions in the console: uploads, edits and rollbacks, over plain HTTP.

const world = await worldOfFile()
const owner = await signedInBrowser(world.server.url, world.user)
const stranger = await signedInBrowser(world.server.url, await addUser(world.platform))

const freshApp = async () => await addApp(world.platform, world.user)
const pathOf = ({ slug }: AppInWorld, rest = '') => `/console/${slug}${rest}`
const versionOf = async ({ slug }: AppInWorld, version: string) =>
  await findVersion(world.platform, await ownedApp(world.platform, world.user.id, slug), version)
const trailOf = async ({ id }: AppInWorld) => await world.platform.database.queries.audit.pageOfApp(id, null, '~', 100)
const locationOf = ({ headers }: Seen) => headers.get('location')

const zip = (files: Zippable, name = 'app.zip') => new File([new Uint8Array(zipSync(files))], name)
const withManifest = (manifest: string, name?: string) => zip({ 'app.json': strToU8(manifest) }, name)
const newsletter = '{"name":"Newsletter","scopes":["site:read"]}'

type Sent = Readonly<Record<string, string | File | readonly string[]>>
const emptyForm = { version: '1.0.0', notes: '', manifest: '', file: new File([], '') }
/** Loads the form of a new version, or of a draft, and sends it. */
const send = async (app: AppInWorld, fields: Sent, draft?: string, browser = owner): Promise<Seen> => {
  const page = pathOf(app, draft === undefined ? '/versions/new' : `/versions/${draft}/edit`)
  const action = draft === undefined ? pathOf(app, '/versions') : page
  return await browser.upload(action, { ...emptyForm, ...(await browser.formOn(page, action)), ...fields })
}
/** The sentences beside a field. */
const faultsAt = ({ text }: Seen, field: string): readonly string[] =>
  [...text.matchAll(new RegExp(`id="${field}-fault[^>]*>([^<]*)<`, 'g'))].map(([, sentence = '']) => sentence)

describe('an upload', () => {
  test('creates a draft with the manifest and the scopes of app.json in the archive', async () => {
    const app = await freshApp()
    const file = withManifest(newsletter)
    const sent = await send(app, { file, notes: 'First\nsecond' })
    expect([sent.status, locationOf(sent)]).toEqual([303, pathOf(app, '/versions/1.0.0?done=uploaded')])
    expect((await owner.follow(sent)).text).toContain('The draft is created.')
    const sha256 = createHash('sha256')
      .update(await file.bytes())
      .digest('hex')
    expect(await versionOf(app, '1.0.0')).toMatchObject({
      status: 'draft',
      revision: 1,
      notes: 'First\nsecond',
      manifest: { name: 'Newsletter' },
      scopes: ['site:read'],
      artifact: { filename: 'app.zip', sizeBytes: file.size, sha256 },
      current: { development: true },
    })
    const [created] = await trailOf(app)
    expect(created).toMatchObject({ action: 'version.created', actorKind: 'user', environment: 'development' })
    const download = await owner.get(pathOf(app, '/versions/1.0.0/artifact'))
    expect(download.headers.get('etag')).toBe(`"${sha256}"`)
  })

  test('is told on the page of the version: first the notes, then who uploaded it, then the facts, and its IDs folded', async () => {
    const app = await freshApp()
    await send(app, { file: withManifest(newsletter), notes: 'The first one' })
    const { text } = await owner.get(pathOf(app, '/versions/1.0.0'))
    const order = ['The first one', 'You uploaded', 'Last changed', 'ID, number and revision', 'SHA-256']
    expect(order.map((words) => text.indexOf(words))).toEqual(
      order.map((words) => text.indexOf(words)).toSorted((a, b) => a - b),
    )
    for (const words of order) expect(text).toContain(words)
  })

  test('without a manifest, as the API takes it, is submitted only after a warning', async () => {
    const app = await freshApp()
    const upload = { notes: null, scopes: [], artifact: null }
    const caller = await developmentCaller(world.platform, app)
    const lacks = [
      [null, 'This version has no manifest.'],
      [{}, 'This version has no manifest.'],
      [{ websiteUrl: 'https://a.example' }, 'The manifest of this version has no name.'],
      [{ name: 'x' }, null],
    ] as const
    for (const [index, [manifest, lack]] of lacks.entries()) {
      const version = `1.0.${index}`
      await createVersion(world.platform, trace, caller, { ...upload, version, manifest }, null)
      const shown = (await owner.get(pathOf(app, `/versions/${version}`))).text
      expect(shown.includes('Submit it as it is')).toBe(lack !== null)
      if (lack !== null) expect(shown).toContain(lack)
    }
  })

  test('needs no archive: the manifest and the scopes can be written in the form', async () => {
    const app = await freshApp()
    await send(app, { manifest: '{"name":"Typed"}', scopes: ['site:read', 'profile:read'] })
    const expected = { manifest: { name: 'Typed' }, scopes: ['profile:read', 'site:read'], artifact: null }
    expect(await versionOf(app, '1.0.0')).toMatchObject(expected)
    const tar = new File(['no archive'], 'app.tar')
    await send(app, { version: '1.1.0', manifest: '{"name":"Typed"}', file: tar })
    expect(await versionOf(app, '1.1.0')).toMatchObject({ artifact: { filename: 'app.tar' } })
  })

  test('shows everything that is wrong at once, with line and column, and keeps what was typed', async () => {
    const app = await freshApp()
    const manifest = '{\n  "nam": "x",\n  "embedUrl": "http://x"\n}'
    const refused = await send(app, { version: '1.4', notes: '<b>kept</b>', file: withManifest(manifest) })
    expect(refused.status).toBe(400)
    expect(faultsAt(refused, 'version')).toHaveLength(1)
    expect(faultsAt(refused, 'file')).toEqual([
      'In app.json, line 1, column 1: The manifest has no name.',
      'In app.json, line 3, column 15: embedUrl starts with https://.',
    ])
    expect(refused.text).toContain('&lt;b>kept&lt;/b>')
    const typed = await send(app, { manifest: '{"name": 7}' })
    expect(faultsAt(typed, 'manifest')).toEqual(['Line 1, column 10: name must be a text.'])
    expect((await trailOf(app)).map(({ action }) => action)).not.toContain('version.created')
  })
  test('is refused beside the field that is at fault', async () => {
    const app = await addApp(world.platform, world.user, 'site:read')
    await send(app, { file: withManifest(newsletter) })
    const secret = zip({ 'app.json': strToU8(newsletter), 'config/.env': strToU8('KEY=1') })
    const bomb = zip({ 'app.json': new Uint8Array(1024 * 1024) })
    const large = new File([new Uint8Array(10 * 1024 * 1024 + 1)], 'large.zip')
    for (const [fields, field, sentence] of [
      [{ file: withManifest(newsletter) }, 'version', 'There is already a draft of this version.'],
      [{ version: '2.0.0' }, 'file', 'Choose a ZIP archive'],
      [{ version: '2.0.0', file: new File(['x'], 'app.zip') }, 'file', 'This is not a ZIP archive.'],
      [{ version: '2.0.0', file: zip({ 'index.js': strToU8('1') }) }, 'file', 'The archive has no app.json.'],
      [{ version: '2.0.0', file: secret }, 'file', 'usually holds secrets'],
      [{ version: '2.0.0', file: bomb }, 'file', 'larger than 256 KiB'],
      [{ version: '2.0.0', file: large }, 'file', 'larger than 10 MiB'],
      [{ version: '2.0.0', file: withManifest(newsletter, 'a\\b.zip') }, 'file', 'cannot have'],
      [{ version: '2.0.0', notes: 'x'.repeat(10_001), manifest: '{"name":"x"}' }, 'notes', 'at most 10000'],
      [
        { version: '2.0.0', file: withManifest(newsletter), manifest: '{"name":"other"}' },
        'manifest',
        'another app.json',
      ],
      [{ version: '2.0.0', file: withManifest(newsletter), scopes: ['profile:read'] }, 'scopes', 'other scopes'],
      [
        { version: '2.0.0', manifest: '{"name":"x","scopes":["site.content:write"]}' },
        'scopes',
        'site.content:write is not registered',
      ],
    ] as const) {
      const refused = await send(app, fields)
      expect([refused.status >= 400, faultsAt(refused, field).join(' ')]).toEqual([
        true,
        expect.stringContaining(sentence),
      ])
    }
    expect((await trailOf(app)).filter(({ action }) => action === 'version.created')).toHaveLength(1)
  })

  test('acts once, also when the form is sent twice', async () => {
    const app = await freshApp()
    const action = pathOf(app, '/versions')
    const form = {
      ...emptyForm,
      ...(await owner.formOn(pathOf(app, '/versions/new'), action)),
      manifest: '{"name":"x"}',
    }
    expect((await owner.upload(action, form)).status).toBe(303)
    expect((await owner.upload(action, { ...form, version: '1.0.1' })).status).toBe(409)
    await expect(versionOf(app, '1.0.1')).rejects.toMatchObject({ code: 'version_not_found' })
  })

  test('is taken only as a form with a file, from the owner, from a page of ours, and not for a suspended app', async () => {
    const app = await freshApp()
    const action = pathOf(app, '/versions')
    const fields = {
      ...emptyForm,
      ...(await owner.formOn(pathOf(app, '/versions/new'), action)),
      manifest: '{"name":"x"}',
    }
    expect((await stranger.upload(action, fields)).status).toBe(404)
    expect((await owner.upload(action, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await owner.upload(action, { ...fields, ticket: 'none' })).status).toBe(303) // what was typed is shown again
    expect((await owner.post(action, { ...fields, file: '' })).status).toBe(415)
    const huge = new File([new Uint8Array(16 * 1024 * 1024)], 'huge.zip')
    expect((await owner.upload(action, { ...fields, file: huge })).status).toBe(413)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expect((await owner.upload(action, fields)).status).toBe(403)
    await expect(versionOf(app, '1.0.0')).rejects.toMatchObject({ code: 'version_not_found' })
  })
})

describe('an edit', () => {
  test('replaces the content of the draft, keeps its file without a new one, and takes app.json of a new one', async () => {
    const app = await freshApp()
    await send(app, { file: withManifest(newsletter) })
    const edited = '{"name":"Edited","scopes":["profile:read"]}'
    const sent = await send(app, { notes: 'New', manifest: edited }, '1.0.0')
    expect(locationOf(sent)).toBe(pathOf(app, '/versions/1.0.0?done=replaced'))
    expect(await versionOf(app, '1.0.0')).toMatchObject({
      revision: 2,
      notes: 'New',
      scopes: ['profile:read'],
      artifact: { filename: 'app.zip' },
    })
    const shown = JSON.stringify(JSON.parse(edited), null, 2)
    await send(app, { manifest: shown, file: withManifest('{"name":"Third"}', 'third.zip') }, '1.0.0')
    expect(await versionOf(app, '1.0.0')).toMatchObject({
      revision: 3,
      manifest: { name: 'Third' },
      scopes: [],
      artifact: { filename: 'third.zip' },
    })
    expect((await trailOf(app))[0]).toMatchObject({ action: 'version.replaced', actorKind: 'user' })
  })

  test('applies only to the revision that was shown, and only to a draft', async () => {
    const app = await freshApp()
    await send(app, { manifest: '{"name":"x"}' })
    const action = pathOf(app, '/versions/1.0.0/edit')
    const stale = { ...emptyForm, ...(await owner.formOn(action, action)), manifest: '{"name":"stale"}' }
    await uploadVersion(world.platform, app, '1.0.0')
    const refused = await owner.upload(action, stale)
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('has been replaced since')])
    await uploadVersion(world.platform, app, '1.0.0', ['submit'])
    expect((await owner.get(action)).status).toBe(409)
    expect((await owner.upload(action, stale)).status).toBe(409)
    expect(await versionOf(app, '1.0.0')).toMatchObject({ manifest: { name: '1.0.0' }, revision: 3 })
  })
})

const deletion = (app: AppInWorld, version: string) => pathOf(app, `/versions/${version}/delete`)

describe('the deletion of a draft', () => {
  test('is asked for first, then removes it, and the version before is the development head again', async () => {
    const app = await freshApp()
    for (const version of ['1.0.0', '1.1.0']) await send(app, { version, manifest: '{"name":"x"}' })
    const asked = await owner.get(deletion(app, '1.1.0'))
    expect(asked.text).toContain('Delete the draft 1.1.0?')
    const done = await owner.submit(deletion(app, '1.1.0'), deletion(app, '1.1.0'))
    expect((await owner.follow(done)).text).toContain('The draft is deleted.')
    expect((await owner.get(pathOf(app, '/versions/1.1.0'))).status).toBe(404)
    expect(await versionOf(app, '1.0.0')).toMatchObject({ current: { development: true } })
    expect((await trailOf(app))[0]).toMatchObject({ action: 'version.removed', actorKind: 'user' })
  })

  test('is only of a draft, also when it was submitted since the question, and only for its own people', async () => {
    const app = await freshApp()
    await send(app, { manifest: '{"name":"x"}' })
    const action = deletion(app, '1.0.0')
    const asked = await owner.formOn(action, action)
    expect((await stranger.get(action)).status).toBe(404)
    await uploadVersion(world.platform, app, '1.0.0', ['submit'])
    expect((await owner.post(action, asked)).status).toBe(409)
    expect((await owner.get(action)).text).toContain('Only a draft can be deleted.')
    expect(await versionOf(app, '1.0.0')).toMatchObject({ status: 'submitted' })
  })
})

const live = async () => {
  const app = await freshApp()
  for (const version of ['1.0.0', '2.0.0']) {
    await uploadVersion(world.platform, app, version, ['submit', 'approve', 'activate'])
  }
  return app
}
const page = (app: AppInWorld, query = '') => pathOf(app, `/rollbacks/new${query}`)

describe('a rollback', () => {
  test('shows before and after, and then makes the version live that was shown', async () => {
    const app = await live()
    const preview = await owner.get(page(app))
    for (const words of ['What users see', '2.0.0', '1.0.0', 'New installs get it.', 'Changes of the manifest']) {
      expect(preview.text).toContain(words)
    }
    const done = await owner.submit(page(app), pathOf(app, '/rollbacks'), { reason: 'It crashes' })
    expect(locationOf(done)).toBe(pathOf(app, '/rollbacks?done=production&environment=production'))
    expect((await owner.follow(done)).text).toContain('Production is rolled back.')
    expect((await versionOf(app, '1.0.0')).current).toEqual({ development: false, production: true })
    const { data } = await listRollbacks(world.platform, app.id, { limit: 5, cursor: null })
    expect(data).toMatchObject([{ from: '2.0.0', to: '1.0.0', reason: 'It crashes', environment: 'production' }])
    expect((await trailOf(app))[0]).toMatchObject({ action: 'version.rolled_back', actorKind: 'user' })
  })

  test('proposes what was live before, not a version that was rolled back, and shows when and why', async () => {
    const app = await live()
    await owner.submit(page(app), pathOf(app, '/rollbacks'), { reason: 'It crashes' })
    expect((await owner.get(page(app))).text).toContain('There is no previous version')
    await uploadVersion(world.platform, app, '3.0.0', ['submit', 'approve', 'activate'])
    const { text } = await owner.get(page(app))
    expect(text).toContain('>Roll back to 1.0.0</button>')
    const [, history = ''] = text.split('What was live</h2>')
    const whole = (await owner.get(pathOf(app, '/live'))).text
    for (const part of [history, whole]) {
      const [shown = ''] = part.split('</table>')
      const rows = shown
        .split('<tr>')
        .slice(2)
        .map((row) => [...row.matchAll(/>([^<>]+)</g)].map(([, words]) => words))
      expect(rows.map((row) => row.filter((words) => words?.endsWith('UTC') !== true))).toMatchObject([
        ['3.0.0', 'It is live now'],
        ['1.0.0', 'Replaced by 3.0.0'],
        ['2.0.0', 'Rolled back to 1.0.0', 'It crashes'],
        ['1.0.0', 'Replaced by 2.0.0'],
      ])
      expect(shown.match(/<time /g)).toHaveLength(7)
    }
  })

  test('of development moves the head to any version, and changes nothing for users', async () => {
    const app = await live()
    await uploadVersion(world.platform, app, '3.0.0')
    await owner.submit(page(app, '?environment=development&to=1.0.0'), pathOf(app, '/rollbacks'), { reason: '' })
    expect((await versionOf(app, '1.0.0')).current).toEqual({ development: true, production: false })
    expect((await versionOf(app, '2.0.0')).current).toEqual({ development: false, production: true })
  })

  test('is refused when another version has become current since the preview', async () => {
    const app = await live()
    const shown = await owner.formOn(page(app), pathOf(app, '/rollbacks'))
    await uploadVersion(world.platform, app, '3.0.0', ['submit', 'approve', 'activate'])
    const refused = await owner.post(pathOf(app, '/rollbacks'), { ...shown, reason: 'kept' })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Nothing was changed')])
    expect(refused.text).toContain('>kept</textarea>')
    expect((await versionOf(app, '3.0.0')).status).toBe('active')
  })

  test('says so when there is nothing to go back to, or the version was never live', async () => {
    const app = await freshApp()
    expect((await owner.get(page(app))).text).toContain('There is no previous version')
    const other = await live()
    await uploadVersion(world.platform, other, '3.0.0')
    expect((await owner.get(page(other, '?to=3.0.0'))).status).toBe(409)
  })
})
