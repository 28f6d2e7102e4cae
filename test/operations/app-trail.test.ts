import { expect, test } from 'bun:test'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { renameApp } from '../../src/operations/apps/apps.ts'
import { type AppEvent, listAppEvents, listAuditEvents } from '../../src/operations/audit/read-audit.ts'
import { listAppInstalls } from '../../src/operations/installs/lists.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient } from '../../src/operations/oauth/revoke.ts'
import { recordRefusal, findRefused } from '../../src/operations/refused-token.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, authorizeBody, installApp } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)
const visitor = await addUser(platform, 'Grace Example')
const app = await addApp(platform, owner)

const from = (address: string) => ({ ...trace, address })
const trail = async (action: string | null = null, limit = 50, cursor: string | null = null) =>
  await listAppEvents(
    platform,
    { app: await ownedApp(platform, owner.id, app.slug), userId: owner.id },
    { action, outcome: null, since: null, until: null },
    {
      limit,
      cursor,
    },
  )

test('the trail lists the events of this app only, newest first, in pages', async () => {
  const other = await addApp(platform, owner)
  for (const name of ['One', 'Two', 'Three']) {
    await renameApp(platform, trace, operator, { slug: app.slug, name })
    await renameApp(platform, trace, operator, { slug: other.slug, name })
  }
  const all = (await trail()).data.map(({ id }) => id)
  expect(all.length).toBeGreaterThan(5)
  expect(all).toEqual(all.toSorted().toReversed())
  const seen: AppEvent[] = []
  let cursor: string | null = null
  do {
    const page = await trail(null, 2, cursor)
    seen.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(seen.map(({ id }) => id)).toEqual(all)
  const targets = new Set(seen.map(({ target }) => target))
  expect(targets).toContain(app.id)
  expect(targets).not.toContain(other.id)
})

test('the trail can be filtered by action', async () => {
  const { data } = await trail('credential.created')
  expect(data.map(({ action }) => action)).toEqual(['credential.created', 'credential.created'])
  expect((await trail('no.such.action')).data).toEqual([])
})

test('the trail has the addresses of the app and its owner, and nothing about other people', async () => {
  const actor = { kind: 'user', id: owner.id } as const
  await renameApp(platform, from('198.51.100.1'), actor, { slug: app.slug, name: 'Named by its owner' })
  await renameApp(platform, from('198.51.100.2'), operator, { slug: app.slug, name: 'Named by an operator' })
  const session = await sessionOf(platform, visitor)
  await authorize(platform, from('198.51.100.3'), session, authorizeBody(app), true)
  const guess = { ...app.development, clientSecret: app.production.clientSecret, scope: 'site:read' }
  expect(await refusalOf(issueAppToken(platform, from('198.51.100.4'), guess))).toBe('invalid_client')
  const { accessToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  await recordRefusal(
    platform,
    from('198.51.100.5'),
    await findRefused(platform, from('198.51.100.5'), accessToken),
    'invalid_token',
  )
  await revokeByClient(platform, from('198.51.100.6'), app.development, accessToken)
  const { data } = await trail()
  const told = JSON.stringify(data)
  expect(told).toContain('198.51.100.1')
  expect(told).not.toContain('198.51.100.2')
  expect(told).not.toContain('198.51.100.3')
  expect(told).toContain('198.51.100.4')
  expect(told).toContain('bearer.check')
  expect(told).not.toContain('198.51.100.5')
  expect(told).toContain('198.51.100.6')
  expect(told).not.toContain(visitor.id)
  expect(told).not.toContain(visitor.email)
  expect(data.find(({ isOwn }) => isOwn)).toMatchObject({ action: 'app.renamed', address: '198.51.100.1' })
})

const everyInstall = { status: null, kind: null, environment: null } as const

test('installs of this app are listed by kind and state, newest first, without their users', async () => {
  const first = await installApp(platform, app, owner)
  const second = await installApp(platform, app, visitor)
  await installApp(platform, await addApp(platform, owner), visitor)
  const page = await listAppInstalls(platform, app.id, everyInstall, { limit: 1, cursor: null })
  expect(page.data).toMatchObject([{ id: second, kind: 'site', approval: 'approved', state: 'active' }])
  const rest = await listAppInstalls(platform, app.id, everyInstall, { limit: 1, cursor: page.nextCursor })
  expect(rest).toMatchObject({ data: [{ id: first }], nextCursor: null })
  for (const secret of [visitor.id, visitor.email, 'my-site', 'Grace']) {
    expect(JSON.stringify(page)).not.toContain(secret)
  }
})

test('an operator lists the latest events of one app or of all since a moment, oldest first', async () => {
  const list = async (slug: string | null, since = 0, limit = 1_000) =>
    await listAuditEvents(platform, { slug, since, limit })
  const [all, own] = [await list(null), await list(app.slug)]
  expect(all.length).toBeGreaterThan(own.length)
  expect(own).toEqual(all.filter(({ appId }) => appId === app.id))
  expect(await list(null, 0, 3)).toEqual(all.slice(-3))
  expect(await list(null, platform.clock.now() + 1)).toEqual([])
  expect(await refusalOf(list('no-such-app'))).toBe('invalid_request')
})
