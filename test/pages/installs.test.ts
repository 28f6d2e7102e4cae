import { afterAll, beforeAll, expect, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { importResources } from '../../src/operations/resources/import-resources.ts'
import { auditEvents } from '../support/audit-events.ts'
import {
  addEmbeddedVersion,
  embedOrigin,
  embedUrl,
  exchangeInstallCode,
  installEmbedded,
} from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  createWorld,
  endWorld,
  grantTokens,
  type Login,
  type World,
} from '../support/world.ts'
import { hiddenFields, type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

let world: World
let automatic: World
beforeAll(async () => {
  world = await createWorld()
  automatic = await createWorld({ env: { INSTALL_APPROVAL: 'automatic' } })
})
afterAll(async () => {
  await endWorld(world)
  await endWorld(automatic)
})

type Scene = { readonly app: AppInWorld; readonly owner: Login; readonly browser: PlainBrowser }

/** A live app of a developer, and an owner who has not installed it. */
const scene = async (at: World = world): Promise<Scene> => {
  const app = await addApp(at.platform, await addUser(at.platform, 'Dora Developer'))
  await addEmbeddedVersion(at.platform, app)
  const owner = await addUser(at.platform)
  return { app, owner, browser: await signedInBrowser(at.server.url, owner) }
}

const place = { place: 'store my-store' }

/** The owner agrees on the app's page. Returns the install. */
const agree = async ({ app, owner, browser }: Scene, at: World = world) => {
  const answer = await browser.submit(`/apps/${app.slug}/install`, `/apps/${app.slug}/install`, place)
  const page = await at.platform.database.queries.installs.pageOfUser(owner.id, '~', 10)
  return { answer, install: page[0]?.install }
}

const approve = async (id: string) => await moveInstall(world.platform, trace, operator, { id, step: 'approve' })

async function* linesOf(records: readonly unknown[]) {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`)
}

const eventsOf = async (id: string) =>
  (await auditEvents(world.platform))
    .filter(({ target }) => target === id)
    .map(({ action, actorKind }) => `${action} by ${actorKind}`)

test('an owner sees every app with a live version, its publisher and its scopes', async () => {
  const { app, browser } = await scene()
  const { slug } = await addApp(world.platform, await addUser(world.platform))
  const { text } = await browser.get('/apps')
  const card = text.split('<li class="row').find((part) => part.includes(`href="/apps/${app.slug}/install"`)) ?? ''
  for (const words of ['Newsletter', 'Dora Developer', 'See your name and picture', 'List your websites']) {
    expect(card).toContain(words)
  }
  expect(card).not.toContain('List your stores')
  expect(card).not.toContain('@example.com')
  expect(text).not.toContain(`/apps/${slug}/install"`)
  expect((await browser.get(`/apps/${slug}/install`)).status).toBe(404)
})

test('an install waits for an operator, unless the setting approves installs automatically', async () => {
  const there = await scene()
  const { answer, install } = await agree(there)
  expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
    status: 303,
    location: '/installs?done=pending',
  })
  expect(install).toMatchObject({
    approval: 'pending',
    state: 'inactive',
    environment: 'production',
    scopes: 'profile:read site:read',
  })
  expect(await eventsOf(install?.id ?? '')).toEqual(['install.created by user'])
  const { text } = await there.browser.get('/installs')
  expect(text).toContain('Waiting for approval')
  expect(text).toContain('Waiting for approval')

  const atOnce = await scene(automatic)
  const approved = await agree(atOnce, automatic)
  expect(approved.answer.headers.get('location')).toBe('/installs?done=approved')
  expect(approved.install).toMatchObject({ approval: 'approved', state: 'active' })
})

test('an agreement counts once, and only for the scopes that were shown', async () => {
  const there = await scene()
  const { app, browser } = there
  const path = `/apps/${app.slug}/install`
  const shown = await browser.formOn(path, path)
  const more = { ...shown, ...place, scopes: 'profile.email:read profile:read site:read' }
  expect((await browser.post(path, more)).status).toBe(403)
  await addEmbeddedVersion(world.platform, app, { version: '2.0.0', scopes: ['profile.email:read', 'profile:read'] })
  const late = await browser.post(path, { ...shown, ...place })
  expect(late.status).toBe(400)
  expect(late.text).toContain('now asks for something else')
  expect(late.text).toContain('See your email address')
  const again = await browser.formOn(path, path)
  expect((await browser.post(path, { ...again, ...place })).status).toBe(303)
  expect((await browser.post(path, { ...again, place: 'site my-site' })).status).toBe(422)
})

test('an app is installed on a resource once, and only on resources of the owner', async () => {
  const there = await scene()
  const path = `/apps/${there.app.slug}/install`
  await agree(there)
  const { text: offer } = await there.browser.get(path)
  expect([offer.includes('value="site my-site"'), offer.includes('value="store my-store"')]).toEqual([
    place.place !== 'site my-site',
    place.place !== 'store my-store',
  ])
  const twice = await there.browser.submit(path, path, place)
  expect(twice.status).toBe(400)
  expect(twice.text).toContain('already has a pending or active install')
  expect((await there.browser.submit(path, path, { place: 'site somebody-elses' })).status).toBe(400)
  const castle = await there.browser.submit(path, path, { place: 'castle x' })
  expect([castle.status, castle.text.includes('no such website or store')]).toEqual([400, false]) // is no question
})

test('an app for stores offers no websites, and the reverse', async () => {
  for (const [scopes, kinds] of [
    [['store:read'], ['store']],
    [['site:read'], ['site']],
    [
      ['site:read', 'store:read'],
      ['site', 'store'],
    ],
    [['profile:read'], ['site', 'store']],
  ] as const) {
    const { app, browser } = await scene()
    await addEmbeddedVersion(world.platform, app, { version: '2.0.0', scopes })
    const { text } = await browser.get(`/apps/${app.slug}/install`)
    expect(['site', 'store'].filter((kind) => text.includes(`value="${kind} my-${kind}"`))).toEqual([...kinds])
  }
})

test('nobody is offered to install what they have no place for: the directory says so once', async () => {
  const of = await scene()
  const install = `href="/apps/${of.app.slug}/install"`
  expect((await of.browser.get('/apps')).text).toContain(install)
  for (const kind of ['site', 'store'] as const) {
    const { resources } = world.platform.database.queries
    const own = await resources.find(of.owner.id, kind, `my-${kind}`)
    await world.platform.database.transaction(async (q) => await q.resources.forget(own?.id ?? '', 1))
  }
  const { text } = await of.browser.get('/apps')
  expect(text.match(/You have no website or store to install an app on/g)).toHaveLength(1)
  expect(text).not.toContain('/install"')
  const { text: alone } = await of.browser.get(`/apps/${of.app.slug}`)
  expect(alone).not.toContain(install)
  expect(alone).toContain('This app is for websites, and you have none.')
})

test('an owner with more resources than one page shows can choose all of them', async () => {
  const there = await scene()
  await addEmbeddedVersion(world.platform, there.app, { version: '2.0.0', scopes: ['site:read', 'store:read'] })
  const path = `/apps/${there.app.slug}/install`
  const records = Array.from({ length: 1_001 }, (_, index) => ({
    owner: there.owner.email,
    kind: index < 600 ? 'site' : 'store',
    name: `Place ${index}`,
    slug: `place-${String(index).padStart(4, '0')}`,
    status: 'draft',
  }))
  await importResources(world.platform, trace, operator, {
    chunks: linesOf(records),
    progress: () => undefined,
    isOfBuilder: false,
    prunes: false,
  })
  const offered: string[] = []
  let next: string | undefined = path
  for (let pages = 0; next !== undefined && pages < 9; pages += 1) {
    const { text } = await there.browser.get(next)
    offered.push(...[...text.matchAll(/<option value="([^"]+)"/g)].map(([, value = '']) => value))
    next = /<a href="([^"]+)" rel="next">More websites and stores</.exec(text)?.[1]
  }
  const imported = records.map(({ kind, slug }) => `${kind} ${slug}`)
  expect(offered).toEqual([...imported, 'site my-site', 'store my-store'].toSorted())
  expect((await there.browser.submit(path, path, { place: 'store place-1000' })).status).toBe(303)
  expect((await there.browser.get(`${path}?places=nonsense`)).status).toBe(400)
})

test('only the owner can withdraw a pending install and end an active one', async () => {
  const there = await scene()
  const waiting = (await agree(there)).install?.id ?? ''
  const stranger = (await scene()).browser
  const ending = `/installs/${waiting}/end`
  const { ticket } = await there.browser.formOn('/installs', ending)
  expect((await stranger.post(ending, { ticket: ticket ?? '' })).status).toBe(403)
  expect((await there.browser.submit('/installs', ending)).headers.get('location')).toBe('/installs?done=withdraw')
  expect((await there.browser.get('/installs')).text).toContain('Removed <span class="count">1</span>')
  const removed = (await there.browser.get('/installs?show=ended')).text
  expect(removed).toContain('Withdrawn')
  expect(removed).toContain(`href="/apps/${there.app.slug}/install">Install again`)
  expect((await there.browser.get('/installs')).text).not.toContain('Withdrawn')
  expect(await eventsOf(waiting)).toEqual(['install.created by user', 'install.withdrawn by user'])

  const working = (await agree(there)).install?.id ?? ''
  await approve(working)
  const end = `/installs/${working}/end`
  const form = await there.browser.formOn('/installs', end)
  expect((await there.browser.post(end, form)).headers.get('location')).toBe('/installs?done=deactivate')
  expect((await there.browser.post(end, form)).status).toBe(409)
  expect((await there.browser.get('/installs')).text).not.toContain(`action="${end}"`)
})

test('an app that asks for more keeps its scopes until the owner agrees to the ones marked as new', async () => {
  const there = await scene()
  const id = (await agree(there)).install?.id ?? ''
  await approve(id)
  await addEmbeddedVersion(world.platform, there.app, { version: '2.0.0', scopes: ['profile:read', 'store:read'] })
  const scopesNow = async () => (await world.platform.database.queries.installs.find(id))?.install.scopes
  const { text } = await there.browser.get('/installs')
  expect(text).toMatch(/List your stores<\/bdi>\s*<span class="badge waiting">New<\/span>/)
  expect(text).not.toMatch(/See your name and picture<\/bdi>\s*<span class="badge waiting">New<\/span>/)
  expect(await scopesNow()).toBe('profile:read site:read')

  const path = `/installs/${id}/agree`
  const shown = hiddenFields(text, path)
  expect((await there.browser.post(path, { ...shown, scopes: 'profile:read' })).status).toBe(403)
  expect((await there.browser.post(path, shown)).headers.get('location')).toBe('/installs?done=agree')
  expect(await scopesNow()).toBe('profile:read store:read')
  expect(await eventsOf(id)).toContain('install.scopes_changed by user')
  expect((await there.browser.get('/installs')).text).not.toContain(path)
})

test('an installed app opens in a sandboxed frame of its own origin, with a code in the fragment', async () => {
  const there = await scene()
  const { app, browser } = there
  const id = (await agree(there)).install?.id ?? ''
  const path = `/installs/${id}/open`
  const early = await browser.get(path)
  expect({ status: early.status, says: early.text.includes('waits for approval') }).toEqual({ status: 403, says: true })
  await approve(id)

  const { status, headers, text } = await browser.get(path)
  expect(status).toBe(200)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain(`frame-src ${embedOrigin(app)};`)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('cache-control')).toBe('no-store')
  const frame = /<iframe[^>]*>/.exec(text)?.[0] ?? ''
  expect(frame).toContain('sandbox="allow-scripts allow-forms allow-same-origin"')
  expect(frame).toContain('referrerpolicy="no-referrer"')
  const src = URL.parse(/src="([^"]*)"/.exec(frame)?.[1]?.replaceAll('&amp;', '&') ?? '')
  expect(`${src?.origin}${src?.pathname}${src?.search}`).toBe(embedUrl(app))
  const handed = new URLSearchParams(src?.hash.slice(1))
  expect(handed.get('builder')).toBe(world.server.url.replace('127.0.0.1', 'localhost'))
  const exchange = { clientId: app.production.clientId, code: handed.get('code') ?? '', origin: embedOrigin(app) }
  expect((await exchangeInstallCode(world.server.url, exchange)).status).toBe(200)

  expect((await (await scene()).browser.get(path)).status).toBe(404)
})

test('only the form of that page gets a new code, and only while the install is active', async () => {
  const there = await scene()
  const { app, browser } = there
  const id = (await agree(there)).install?.id ?? ''
  await approve(id)
  const [page, path] = [`/installs/${id}/open`, `/installs/${id}/code`]
  const form = await browser.formOn(page, path)
  for (let times = 0; times < 2; times += 1) {
    const { status, headers, text } = await browser.post(path, form)
    expect({ status, cache: headers.get('cache-control') }).toEqual({ status: 200, cache: 'no-store' })
    const { code } = JSON.parse(text)
    const exchange = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
    expect((await exchangeInstallCode(world.server.url, exchange)).status).toBe(200)
  }
  const elsewhere = { 'sec-fetch-site': 'cross-site', origin: embedOrigin(app) }
  expect((await browser.post(path, form, elsewhere)).status).toBe(403)
  expect((await browser.post(path, { ticket: 'none' })).status).toBe(403)
  await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
  expect((await browser.post(path, form)).status).toBe(403)
  await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'active' })
  await moveInstall(world.platform, trace, operator, { id, step: 'deactivate' })
  expect((await browser.post(path, form)).status).toBe(403)
})

test('an app without a valid embed URL in its manifest cannot be opened, and is offered only as installed', async () => {
  const { platform } = world
  const owner = await addUser(platform)
  const browser = await signedInBrowser(world.server.url, owner)
  const app = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, app, { manifest: { name: 'Nothing to show' } })
  const id = await installEmbedded(platform, app, owner)
  const list = (await browser.get('/installs')).text
  expect([list.includes(`/installs/${id}/end`), list.includes(`/installs/${id}/open`)]).toEqual([true, false])
  const { status, text } = await browser.get(`/installs/${id}/open`)
  expect({ status, says: text.includes('no page that can be opened here') }).toEqual({ status: 409, says: true })
})

test('only the developer of an app can install its development head, with its development client', async () => {
  const { platform, server } = world
  const owner = await addUser(platform)
  const browser = await signedInBrowser(server.url, owner)
  const app = await addApp(platform, owner)
  await addEmbeddedVersion(platform, app, { steps: [] })
  expect((await browser.get(`/apps/${app.slug}/install`)).status).toBe(404)
  const path = `/apps/${app.slug}/test`
  const question = (await browser.get(path)).text
  expect(question).toContain('the development head, not reviewed')
  expect(question).toContain('The app starts working right away.')
  expect((await browser.submit(path, path, place)).status).toBe(303)
  expect((await (await scene()).browser.get(path)).status).toBe(404)

  const [row] = await platform.database.queries.installs.pageOfUser(owner.id, '~', 1)
  const id = row?.install.id ?? ''
  expect(row?.install).toMatchObject({ environment: 'development', approval: 'approved', state: 'active' })
  const opened = await browser.get(`/installs/${id}/open`)
  const code = /#code=([0-9A-Za-z_]+)/.exec(opened.text)?.[1] ?? ''
  const origin = embedOrigin(app)
  const exchange = async (clientId: string) => await exchangeInstallCode(server.url, { clientId, code, origin })
  expect((await exchange(app.production.clientId)).status).toBe(401)
  expect((await exchange(app.development.clientId)).body.install.environment).toBe('development')
})

/** An owner who has installed the app, and has allowed it to act for them on two devices. */
const connected = async () => {
  const at = await scene(automatic)
  await agree(at, automatic)
  const { app, owner, browser } = at
  const live = { ...app, development: app.production, redirectUri: app.liveRedirectUri }
  const grant = async () => await grantTokens({ ...automatic, user: owner, app: live })
  const grants = [await grant(), await grant()]
  const { queries } = automatic.platform.database
  const stateOf = async () => ({
    installs: (await queries.installs.openOfUser(owner.id)).length,
    grants: (await Promise.all(grants.map(({ grantId }) => queries.grants.byId(grantId)))).filter(
      (one) => one?.revokedAt === null,
    ).length,
  })
  const [install] = await queries.installs.openOfUser(owner.id)
  const end = `/installs/${install?.id}/end`
  const revoke = `/account/apps/${app.production.clientId}/revoke`
  return { browser, stateOf, end, revoke, clientId: app.production.clientId }
}

test('uninstalling also ends the access to the account if the box is ticked, which it is, and counts what ends', async () => {
  const kept = await connected()
  const { text } = await kept.browser.get(kept.end)
  expect(text).toMatch(/<input type="checkbox" [^>]*name="also" value="yes" checked/)
  expect(text).toContain('2 authorizations end.')
  await kept.browser.submit(kept.end, kept.end)
  expect(await kept.stateOf()).toEqual({ installs: 0, grants: 2 })
  const ended = await connected()
  await ended.browser.submit(ended.end, ended.end, { also: 'yes' })
  expect(await ended.stateOf()).toEqual({ installs: 0, grants: 0 })
  expect((await ended.browser.get(kept.end)).status).toBe(404)
})

test('revoking access also uninstalls the app if the box is ticked, and each list leads to the other', async () => {
  const kept = await connected()
  const { text } = await kept.browser.get(kept.revoke)
  expect(text).toMatch(/<input type="checkbox" [^>]*name="also" value="yes" checked/)
  expect(text).toContain('1 install ends.')
  expect((await kept.browser.get('/installs')).text).toContain(`href="/account/apps/${kept.clientId}"`)
  expect((await kept.browser.get('/account/apps')).text).toContain('<a href="/installs">Installed by you</a>')
  await kept.browser.submit(kept.revoke, kept.revoke)
  expect(await kept.stateOf()).toEqual({ installs: 1, grants: 0 })
  expect((await kept.browser.get(kept.end)).text).not.toContain('name="also"')
  const ended = await connected()
  await ended.browser.submit(ended.revoke, ended.revoke, { also: 'yes' })
  expect(await ended.stateOf()).toEqual({ installs: 0, grants: 0 })
})
