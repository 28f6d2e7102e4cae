import { expect, test } from 'bun:test'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { authenticateAppToken } from '../../src/operations/authenticate.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { findVersion } from '../../src/operations/versions/version-record.ts'
import { listRollbacks, listVersionSummaries } from '../../src/operations/versions/lists.ts'
import { moveVersion, rollBackVersion } from '../../src/operations/versions/move-version.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser } from '../support/world.ts'
import { developmentCaller, refusalOf, uploadVersion } from './support/owner.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)

test('only the revision that was shown is submitted', async () => {
  const app = await addApp(platform, owner)
  await uploadVersion(platform, app, '1.0.0')
  await uploadVersion(platform, app, '1.0.0')
  const { id } = await findVersion(platform, await ownedApp(platform, owner.id, app.slug), '1.0.0')
  const submit = async (revision: number, seen = id) =>
    await moveVersion(platform, trace, operator, {
      slug: app.slug,
      version: '1.0.0',
      step: 'submit',
      rejection: null,
      seen: { id: seen, revision, submittedAt: null, liveId: null },
    })
  expect(await refusalOf(submit(1))).toBe('version_not_eligible')
  expect(await refusalOf(submit(2, `ver_${'0'.repeat(32)}`))).toBe('version_not_eligible') // another version was shown
  expect(await submit(2)).toMatchObject({ status: 'submitted', revision: 2 })
})

test('a version whose page could not be opened in the builder is refused', async () => {
  const app = await addApp(platform, owner)
  const caller = await developmentCaller(platform, app)
  const create = async (embedUrl: unknown) => {
    const upload = { version: '1.0.0', notes: null, manifest: { embedUrl }, scopes: [], artifact: null }
    return await createVersion(platform, trace, caller, upload, null)
  }
  for (const embedUrl of ['http://app.example/', 7, 'https://app.example/#there']) {
    const refusal = { code: 'invalid_request', facts: { param: 'manifest.embedUrl' } }
    await expect(create(embedUrl)).rejects.toMatchObject(refusal)
  }
  expect((await create('https://app.example/')).value.created).toBe(true)
})

test('the form of an upload is checked before the permission', async () => {
  const app = await addApp(platform, owner)
  const { accessToken } = await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('the token does not live')
  const create = async (scopes: readonly string[]) => {
    const upload = { version: '1.0.0', notes: null, manifest: {}, scopes, artifact: null }
    return await refusalOf(createVersion(platform, trace, caller, upload, null))
  }
  for (const scopes of [['no:such:scope'], ['site:read store:read']]) expect(await create(scopes)).toBe('invalid_scope')
  expect(await create(['customers:read'])).toBe('development_credentials_required')
})

test("a version is found by its name within its own app, and another app's does not exist", async () => {
  const [app, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  await uploadVersion(platform, app, '2.0.0-rc.1+build.5')
  const found = await findVersion(platform, await ownedApp(platform, owner.id, app.slug), '2.0.0-rc.1+build.5')
  expect(found).toMatchObject({ version: '2.0.0-rc.1+build.5', current: { development: true, production: false } })
  const elsewhere = findVersion(platform, await ownedApp(platform, owner.id, other.slug), '2.0.0-rc.1+build.5')
  expect(await refusalOf(elsewhere)).toBe('version_not_found')
})

test('one version is the head, one is live, and only a rollback in production changes what users get', async () => {
  const app = await addApp(platform, owner)
  for (const version of ['1.0.0', '2.0.0']) {
    await uploadVersion(platform, app, version, ['submit', 'approve', 'activate'])
  }
  const caller = await developmentCaller(platform, app)
  const rollBack = async (environment: 'development' | 'production', dryRun: boolean) =>
    (await rollBackVersion(platform, trace, caller, { target: null, environment, reason: null, dryRun }, null)).value
  const currentOf = async (version: string) =>
    (await findVersion(platform, await ownedApp(platform, owner.id, app.slug), version)).current
  for (const dryRun of [true, false]) {
    const { rollback, distributionChanged } = await rollBack('development', dryRun)
    expect([rollback.id === null, distributionChanged]).toEqual([dryRun, false])
  }
  expect(await currentOf('1.0.0')).toEqual({ development: true, production: false })
  expect(await currentOf('2.0.0')).toEqual({ development: false, production: true })
  expect((await rollBack('production', true)).distributionChanged).toBe(true)
  expect((await rollBack('production', false)).distributionChanged).toBe(true)
  expect(await currentOf('1.0.0')).toEqual({ development: true, production: true })
})

test('the ledger lists the rollbacks of one app with both versions, newest first, in pages', async () => {
  const [app, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  const caller = await developmentCaller(platform, app)
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) await uploadVersion(platform, app, version)
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    await rollBackVersion(
      platform,
      trace,
      caller,
      { target: { version }, environment: 'development', reason: `to ${version}`, dryRun: false },
      null,
    )
  }
  const first = await listRollbacks(platform, app.id, { limit: 2, cursor: null })
  expect(first.data).toMatchObject([
    { from: '1.1.0', to: '1.2.0', reason: 'to 1.2.0', environment: 'development' },
    { from: '1.0.0', to: '1.1.0' },
  ])
  const second = await listRollbacks(platform, app.id, { limit: 2, cursor: first.nextCursor })
  expect(second).toMatchObject({ data: [{ from: '1.2.0', to: '1.0.0' }], nextCursor: null })
  expect((await listRollbacks(platform, other.id, { limit: 2, cursor: null })).data).toEqual([])
})

test('the versions of one app are listed newest first, in pages, without their content', async () => {
  const [app, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  await uploadVersion(platform, other, '9.9.9')
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) await uploadVersion(platform, app, version)
  const first = await listVersionSummaries(platform, app.id, { status: null }, { limit: 2, cursor: null })
  expect(first.data.map(({ version }) => version)).toEqual(['1.2.0', '1.1.0'])
  expect(JSON.stringify(first)).not.toContain('manifest')
  const rest = await listVersionSummaries(platform, app.id, { status: null }, { limit: 2, cursor: first.nextCursor })
  expect(rest).toMatchObject({ data: [{ version: '1.0.0' }], nextCursor: null })
  expect((await listVersionSummaries(platform, app.id, { status: 'active' }, { limit: 2, cursor: null })).data).toEqual(
    [],
  )
  const forged = listVersionSummaries(platform, app.id, { status: null }, { limit: 2, cursor: '-1' })
  expect(await refusalOf(forged)).toBe('invalid_request')
})

test('a rejection needs a reason that the developer can read', async () => {
  const app = await addApp(platform, owner)
  await uploadVersion(platform, app, '1.0.0', ['submit'])
  const reject = async (rejection: Parameters<typeof moveVersion>[3]['rejection']) =>
    await moveVersion(platform, trace, operator, { slug: app.slug, version: '1.0.0', step: 'reject', rejection })
  for (const none of [null, { message: '', items: [] }]) {
    expect(await refusalOf(reject(none))).toBe('invalid_request')
  }
  expect(await reject({ message: 'Not yet.', items: [] })).toMatchObject({ status: 'rejected' })
})

test('the trail distinguishes a created version from a replaced draft', async () => {
  const app = await addApp(platform, owner)
  for (const version of ['1.0.0', '1.0.0', '1.1.0']) await uploadVersion(platform, app, version)
  const trail = await auditEvents(platform, app)
  const told = trail.filter(({ action }) => action.startsWith('version.'))
  expect(told.map(({ action, detail }) => [action, JSON.parse(detail ?? '').revision])).toEqual([
    ['version.created', 1],
    ['version.replaced', 2],
    ['version.created', 1],
  ])
})

test('a version cannot ask for an unknown or unavailable scope', async () => {
  const caller = await developmentCaller(platform, await addApp(platform, owner))
  const create = async (...scopes: readonly string[]) => {
    const upload = { version: '1.0.0', notes: null, manifest: {}, scopes, artifact: null }
    return await refusalOf(createVersion(platform, trace, caller, upload, null))
  }
  expect(await create('no:such')).toBe('invalid_scope')
  expect(await create('site:read store:read')).toBe('invalid_scope')
  expect(await create('store.products:read')).toBe('scope_not_available')
  expect(await create('site:read', 'store:read')).toBe('done')
})
