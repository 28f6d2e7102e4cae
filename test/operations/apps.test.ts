import { expect, test } from 'bun:test'
import { actingAs } from '../../src/operations/acting-as.ts'
import { appOverview, listApps, listOwnApps } from '../../src/operations/apps/lists.ts'
import { changeAppScopes, renameApp, setAppStatus, createApp } from '../../src/operations/apps/apps.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { mayInActiveApp } from '../../src/operations/acting-as.ts'
import { listDirectory, type ListedApp } from '../../src/operations/directory/directory.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Page } from '../../src/operations/page.ts'
import { authenticateAppToken, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, authorizeBody, exchangeBody, type Login } from '../support/world.ts'
import { refusalOf, sessionOf, unspentTicket, uploadVersion } from './support/owner.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)
const stranger = await addUser(platform, 'Grace Example')

const newApp = (login: Login, slug: string) => ({ ownerEmail: login.email, name: 'App', slug, scopes: 'site:read' })
const createWellFormed = async (change: object) =>
  await createApp(platform, trace, operator, { ...newApp(owner, 'well-formed'), ...change })

test('an account has at most as many apps as its quota, and of two creates that race for the last place one succeeds', async () => {
  const full = await addUser(platform)
  const narrow = { ...platform, quotas: { ...platform.quotas, apps: 3 } }
  for (const slug of ['full-1', 'full-2']) await createApp(narrow, trace, operator, newApp(full, slug))
  const race = ['last-a', 'last-b'].map((slug) => refusalOf(createApp(narrow, trace, operator, newApp(full, slug))))
  expect((await Promise.all(race)).toSorted()).toEqual(['done', 'quota_exceeded'])
  expect(await listOwnApps(platform, full.id)).toHaveLength(3)
  expect(await refusalOf(createApp(narrow, trace, operator, newApp(stranger, 'still-open')))).toBe('done')
})

test('only an active user gets an app', async () => {
  const asleep = await addUser(platform)
  await setUserStatus(platform, trace, operator, { email: asleep.email, status: 'disabled' })
  for (const [email, slug] of [
    [asleep.email, 'of-nobody-awake'],
    ['nobody@example.com', 'of-nobody'],
  ] as const) {
    const refusal = createApp(platform, trace, operator, newApp({ ...asleep, email }, slug))
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'owner' } })
  }
  const slugs = (await listApps(platform)).map(({ slug }) => slug)
  expect(slugs.filter((slug) => slug.startsWith('of-nobody'))).toEqual([])
})

test('an app needs an allowed name, slug and scopes, and has its own client in each environment', async () => {
  for (const [param, change] of [
    ['name', { name: '' }],
    ['slug', { slug: 'Not a slug' }],
    ['scopes', { scopes: 'no:such:scope' }],
    ['scopes', { scopes: 'store.products:read' }],
  ] as const) {
    await expect(createWellFormed(change)).rejects.toMatchObject({ facts: { param } })
  }
  const { clientIds } = await createWellFormed({})
  expect(clientIds.development).toStartWith('apc_dev_')
  expect(clientIds.production).toStartWith('apc_live_')
})

test('the apps of all owners are listed by slug', async () => {
  for (const [login, slug] of [
    [stranger, 'listed-b'],
    [owner, 'listed-a'],
  ] as const) {
    await createApp(platform, trace, operator, newApp(login, slug))
  }
  const slugs = (await listApps(platform)).map(({ slug }) => slug)
  expect(slugs.filter((slug) => slug.startsWith('listed'))).toEqual(['listed-a', 'listed-b'])
})

test('a slug that is the path of a console page is refused', async () => {
  const refusal = createApp(platform, trace, operator, newApp(owner, 'new'))
  await expect(refusal).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'slug' } })
})

test('a form that is sent twice creates one app', async () => {
  const [session, ticket] = [await sessionOf(platform, owner), unspentTicket(platform)]
  const actor = { kind: 'user', id: owner.id } as const
  const twice = ['once-a', 'once-b'].map((slug) =>
    refusalOf(createApp(actingAs(platform, trace, session, { ticket }), trace, actor, newApp(owner, slug))),
  )
  expect((await Promise.all(twice)).toSorted()).toEqual(['done', 'idempotency_key_reused'])
  const made = (await listOwnApps(platform, owner.id)).filter(({ slug }) => slug.startsWith('once-'))
  expect(made).toHaveLength(1)
})

test('an app exists only for its owner', async () => {
  const app = await addApp(platform, owner)
  expect(await ownedApp(platform, owner.id, app.slug)).toMatchObject({ id: app.id })
  expect(await refusalOf(ownedApp(platform, stranger.id, app.slug))).toBe('route_not_found')
  expect(await refusalOf(ownedApp(platform, owner.id, 'no-such-app'))).toBe('route_not_found')
  expect((await listOwnApps(platform, stranger.id)).map(({ slug }) => slug)).not.toContain(app.slug)
})

test('a change that gives an app something new needs its owner and an active app', async () => {
  const app = await addApp(platform, owner)
  const q = platform.database.queries
  expect(await mayInActiveApp(app.slug, 'release')(q, owner.id)).toBeNull()
  expect(await mayInActiveApp(app.slug, 'release')(q, stranger.id)).toMatchObject({ code: 'route_not_found' })
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  expect(await mayInActiveApp(app.slug, 'release')(q, owner.id)).toMatchObject({ code: 'app_inactive' })
  expect(await mayInActiveApp(app.slug, 'release')(q, stranger.id)).toMatchObject({ code: 'route_not_found' })
})

test('renaming changes the name and nothing else, and leaves one row with the old and the new name', async () => {
  const app = await addApp(platform, owner)
  const name = '<script>alert(1)</script>'
  const renamed = await renameApp(platform, trace, operator, { slug: app.slug, name })
  expect(renamed).toMatchObject({ id: app.id, slug: app.slug, name })
  await renameApp(platform, trace, operator, { slug: app.slug, name })
  const trail = await platform.database.queries.audit.pageOfApp(app.id, 'app.renamed', '~', 10)
  expect(trail.map(({ detail }) => JSON.parse(detail ?? ''))).toEqual([{ from: 'Newsletter', to: name }])
})

test.each(['', '   ', 'x'.repeat(201), 'evil\u202Ename', 'two\nlines'])('no app is renamed to %j', async (name) => {
  const app = await addApp(platform, owner)
  expect(await refusalOf(renameApp(platform, trace, operator, { slug: app.slug, name }))).toBe('invalid_request')
})

test('a change of scopes records what was added and withdrawn; setting the same scopes records nothing', async () => {
  const app = await addApp(platform, owner, 'profile:read site:read')
  const change = { slug: app.slug, scopes: 'store:read site:read' }
  expect((await changeAppScopes(platform, trace, operator, change)).scopes).toEqual(['site:read', 'store:read'])
  await changeAppScopes(platform, trace, operator, { ...change, scopes: 'site:read  store:read site:read' })
  const rows = await platform.database.queries.audit.pageOfApp(app.id, 'app.scopes_changed', '~', 10)
  expect(rows).toHaveLength(1)
  expect(JSON.parse(rows[0]?.detail ?? '')).toEqual({ added: ['store:read'], withdrawn: ['profile:read'] })
})

test.each(['', 'site:rule', 'customers:read', 'site:read store.products:read'])(
  'the scopes %j cannot be registered',
  async (scopes) => {
    const app = await addApp(platform, owner)
    const change = changeAppScopes(platform, trace, operator, { slug: app.slug, scopes })
    await expect(change).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'scopes' } })
  },
)

test('a withdrawn scope can no longer be requested, and existing grants keep it, even after a refresh', async () => {
  const app = await addApp(platform, owner)
  const session = await sessionOf(platform, stranger)
  const request = { ...authorizeBody(app, 'profile:read site:read') }
  const { code } = await authorize(platform, trace, session, request, true)
  const tokens = await exchangeCode(platform, trace, exchangeBody(app, code), null)
  const appToken = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })

  await changeAppScopes(platform, trace, operator, { slug: app.slug, scopes: 'profile:read' })

  expect(await refusalOf(authorize(platform, trace, session, request, true))).toBe('scope_not_allowed')
  expect(await refusalOf(issueAppToken(platform, trace, { ...app.development, scope: 'site:read' }))).toBe(
    'scope_not_allowed',
  )
  expect((await authenticateAppToken(platform, appToken.accessToken))?.scope).toBe('site:read')
  expect((await authenticateUserToken(platform, tokens.accessToken))?.scopes).toContain('site:read')
  const refresh = { ...app.development, refreshToken: tokens.refreshToken, scope: null }
  expect((await refreshTokens(platform, trace, refresh, null)).scope).toBe('profile:read site:read')
})

test('the overview has the live version, the development head, the submitted version, and what a first call needs', async () => {
  const app = await addApp(platform, owner)
  const empty = await appOverview(platform, await ownedApp(platform, owner.id, app.slug))
  expect(empty).toMatchObject({ lastUsedAt: null, live: null, developmentHead: null, submitted: null, installs: [] })
  expect(empty.liveSecrets.development).toHaveLength(1)
  expect(empty.redirectUris.production).toEqual([app.liveRedirectUri])

  await uploadVersion(platform, app, '1.0.0', ['submit', 'approve', 'activate'])
  await uploadVersion(platform, app, '1.1.0', ['submit'])
  await uploadVersion(platform, app, '1.2.0')
  const full = await appOverview(platform, await ownedApp(platform, owner.id, app.slug))
  expect(full.live?.version).toBe('1.0.0')
  expect(full.submitted?.version).toBe('1.1.0')
  expect(full.developmentHead?.version).toBe('1.2.0')
  expect(full.lastUsedAt).toBeGreaterThan(0)
  const summary = (await listOwnApps(platform, owner.id)).find(({ slug }) => slug === app.slug)
  expect(summary).toMatchObject({ live: '1.0.0', developmentHead: '1.2.0', status: 'active' })
})

test('lists have each app once, with its own versions only', async () => {
  const owned = await addUser(platform, 'Dora Developer')
  const apps = [await addApp(platform, owned), await addApp(platform, owned), await addApp(platform, owned)] as const
  const [first, second, draft] = apps
  const live = ['submit', 'approve', 'activate'] as const
  for (const version of ['1.0.0', '1.1.0']) await uploadVersion(platform, first, version, live)
  await uploadVersion(platform, first, '1.2.0')
  await uploadVersion(platform, second, '7.0.0', live)
  await uploadVersion(platform, draft, '0.1.0')
  const list = (await listOwnApps(platform, owned.id)).map((app) => [app.slug, app.live, app.developmentHead])
  expect(list).toEqual([
    [first.slug, '1.1.0', '1.2.0'],
    [second.slug, '7.0.0', '7.0.0'],
    [draft.slug, null, '0.1.0'],
  ])
  const offered = async () => {
    const slugs: string[] = []
    let cursor: string | null = null
    do {
      const page: Page<ListedApp> = await listDirectory(platform, 'everybody', { limit: 1, cursor })
      slugs.push(...page.data.map(({ slug, version }) => `${slug} ${version}`))
      cursor = page.nextCursor
    } while (cursor !== null)
    return slugs.filter((text) => apps.some(({ slug }) => text.startsWith(`${slug} `)))
  }
  expect(await offered()).toEqual([`${first.slug} 1.1.0`, `${second.slug} 7.0.0`])
  await setAppStatus(platform, trace, operator, { slug: first.slug, status: 'suspended' })
  expect(await offered()).toEqual([`${second.slug} 7.0.0`])
})
