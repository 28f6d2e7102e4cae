import { expect, test } from 'bun:test'
import { approveAndActivate, moveVersion, type SeenVersion } from '../../src/operations/versions/move-version.ts'
import { listQueue, readReview } from '../../src/operations/versions/lists.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { moveThrough, submitVersion, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const opened = await platformOfFile()
let ticks = 0
// Each moment differs, so that the order is certain.
const platform = { ...opened, clock: { ...opened.clock, now: () => opened.clock.now() + (ticks += 1) } }
const owner = await addUser(platform)

const statusOf = async (app: AppInWorld, version: string) =>
  (await platform.database.queries.versions.byName(app.id, version))?.status
const actionsOn = async (app: AppInWorld) =>
  (await auditEvents(platform, app)).filter(({ action }) => action.startsWith('version.')).map(({ action }) => action)
const everySubmitted = async (limit = 2) => {
  const names: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listQueue>> = await listQueue(platform, 'review', { limit, cursor })
    expect(page.data.length).toBeLessThanOrEqual(limit)
    expect(names.length).toBeLessThan(100) // otherwise the pages repeat
    names.push(...page.data.map(({ slug, version }) => `${slug} ${version}`))
    cursor = page.nextCursor
  } while (cursor !== null)
  return names
}

test('the queue lists the submitted versions of every app, longest waiting first, in pages', async () => {
  const [one, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  for (const version of ['1.0.0', '2.0.0', '3.0.0', '4.0.0']) await uploadVersion(platform, one, { version })
  await moveThrough(platform, one, '3.0.0', 'submit')
  await submitVersion(platform, other, { version: '0.1.0' })
  await moveThrough(platform, one, '1.0.0', 'submit')
  await moveThrough(platform, one, '2.0.0', 'submit', 'approve')
  await submitVersion(platform, other, { version: '0.2.0' })
  for (const limit of [1, 2, 50]) {
    expect(await everySubmitted(limit)).toEqual([
      `${one.slug} 3.0.0`,
      `${other.slug} 0.1.0`,
      `${one.slug} 1.0.0`,
      `${other.slug} 0.2.0`,
    ])
  }
  const approved = await listQueue(platform, 'activation', { limit: 50, cursor: null })
  expect(approved.data.map(({ slug, version }) => `${slug} ${version}`)).toEqual([`${one.slug} 2.0.0`])
  for (const cursor of ['1', '1.x', 'ver_0', '', '9999999999999999999.ver_00000000000000000000000000000000']) {
    await expect(listQueue(platform, 'review', { limit: 2, cursor })).rejects.toMatchObject({ code: 'invalid_request' })
  }
})

test('versions that were submitted within one millisecond are each listed once', async () => {
  const app = await addApp(platform, owner)
  const now = platform.clock.now()
  const still = { ...platform, clock: { ...platform.clock, now: () => now } }
  for (let index = 0; index < 5; index += 1) await submitVersion(still, app, { version: `1.0.${index}` })
  const listed = (await everySubmitted()).filter((name) => name.startsWith(`${app.slug} `))
  expect(listed.toSorted()).toEqual([0, 1, 2, 3, 4].map((index) => `${app.slug} 1.0.${index}`))
})

test('a review compares the version with the live one: changes of the manifest, new scopes and dropped ones', async () => {
  const app = await addApp(platform, owner)
  const first = { name: 'Mail', hosts: ['a.example'] }
  await submitVersion(platform, app, { version: '1.0.0', manifest: first, scopes: ['site:read', 'profile:read'] })
  const alone = await readReview(platform, app.slug, '1.0.0')
  expect(alone).toMatchObject({ live: null, changes: [], newScopes: ['profile:read', 'site:read'], droppedScopes: [] })
  expect(alone.seen).toMatchObject({ revision: 1, liveId: null })
  await moveThrough(platform, app, '1.0.0', 'approve', 'activate')
  const next = { name: 'Mail', hosts: ['b.example'], everything: true }
  await submitVersion(platform, app, { version: '1.1.0', manifest: next, scopes: ['site:read', 'store:read'] })
  const review = await readReview(platform, app.slug, '1.1.0')
  expect(review.live?.version).toBe('1.0.0')
  expect(review.changes).toEqual([
    { kind: 'changed', path: 'hosts[0]', before: 'a.example', after: 'b.example' },
    { kind: 'added', path: 'everything', after: true },
  ])
  expect(review).toMatchObject({ newScopes: ['store:read'], droppedScopes: ['profile:read'], moreChanges: 0 })
  expect(review.owner).toEqual({ id: owner.id, name: 'Ada Example', email: owner.email })
})

test('a review with very many changes shows the first ones and the number of the others', async () => {
  const app = await addApp(platform, owner)
  const manifest = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key${index}`, index]))
  await submitVersion(platform, app, { version: '1.0.0', manifest: {} })
  await moveThrough(platform, app, '1.0.0', 'approve', 'activate')
  await submitVersion(platform, app, { version: '1.1.0', manifest })
  const { changes, moreChanges } = await readReview(platform, app.slug, '1.1.0')
  expect([changes.length, moreChanges]).toEqual([200, 800])
})

test('an unknown app and an unknown version cannot be reviewed', async () => {
  const app = await addApp(platform, owner)
  for (const [slug, version] of [
    ['nowhere', '1.0.0'],
    [app.slug, '9.9.9'],
  ] as const) {
    await expect(readReview(platform, slug, version)).rejects.toMatchObject({ code: 'version_not_found' })
  }
})

test('a decision holds only for what was shown: not for other content, a later submission or another live version', async () => {
  const app = await addApp(platform, owner)
  const upload = { version: '1.0.0', manifest: { harmless: true } }
  const now = platform.clock.now()
  const still = { ...platform, clock: { ...platform.clock, now: () => now } }
  await submitVersion(still, app, upload)
  const expectRefusal = async (seen: SeenVersion) => {
    for (const step of ['approve', 'reject'] as const) {
      const rejection = step === 'reject' ? { message: 'No.', items: [] } : null
      const move = { slug: app.slug, version: '1.0.0', step, rejection, seen }
      const refusal = { code: 'version_not_eligible', facts: { details: { status: 'submitted' } } }
      await expect(moveVersion(platform, trace, operator, move)).rejects.toMatchObject(refusal)
    }
    expect(await statusOf(app, '1.0.0')).toBe('submitted')
  }

  const first = await readReview(platform, app.slug, '1.0.0')
  await moveThrough(still, app, '1.0.0', 'withdraw')
  await uploadVersion(still, app, { ...upload, manifest: { harmless: false } })
  await moveThrough(still, app, '1.0.0', 'submit')
  await expectRefusal(first.seen) // other content at the very same moment

  const second = await readReview(platform, app.slug, '1.0.0')
  await moveThrough(platform, app, '1.0.0', 'withdraw', 'submit')
  await expectRefusal(second.seen) // the same content at another time

  const again = await readReview(platform, app.slug, '1.0.0')
  await submitVersion(platform, app, { version: '2.0.0' })
  await moveThrough(platform, app, '2.0.0', 'approve', 'activate')
  const stale = { slug: app.slug, version: '1.0.0', seen: again.seen }
  await expect(approveAndActivate(platform, trace, operator, stale)).rejects.toMatchObject({
    code: 'version_not_eligible',
  })
  const fresh = await readReview(platform, app.slug, '1.0.0')
  await approveAndActivate(platform, trace, operator, { ...stale, seen: fresh.seen })
  expect([await statusOf(app, '1.0.0'), await statusOf(app, '2.0.0')]).toEqual(['active', 'superseded'])
})

test('approving and activating at once records both steps, or neither if it is refused', async () => {
  const app = await addApp(platform, owner)
  await uploadVersion(platform, app, { version: '1.0.0' })
  const move = { slug: app.slug, version: '1.0.0' }
  const before = await actionsOn(app)
  await expect(approveAndActivate(platform, trace, operator, move)).rejects.toMatchObject({
    facts: { details: { status: 'draft' } },
  })
  expect(await actionsOn(app)).toEqual(before)
  await moveThrough(platform, app, '1.0.0', 'submit')
  await approveAndActivate(platform, trace, operator, move)
  expect((await actionsOn(app)).slice(-2)).toEqual(['version.approved', 'version.activated'])
  expect(await statusOf(app, '1.0.0')).toBe('active')
})
