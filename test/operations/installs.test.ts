import { expect, test } from 'bun:test'
import { deleteApp, setAppStatus, undeleteApp } from '../../src/operations/apps/apps.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import {
  agreeToScopes,
  endInstall,
  moveInstall,
  createInstall,
  prepareInstall,
  ownsInstall,
} from '../../src/operations/installs/installs.ts'
import { listInstalls, listOwnInstalls } from '../../src/operations/installs/lists.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedVersion, installEmbedded, scopesIn } from '../support/embedding.ts'
import { endInstallAndAccess } from '../../src/operations/connected-apps.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'
import { listResources } from '../../src/operations/resources/resources.ts'
import type { UserCaller } from '../../src/operations/authenticate.ts'
import { refusalOf, sessionOf } from './support/owner.ts'
import { meanwhileOn } from './support/meanwhile.ts'

const platform = await platformOfFile()
const developer = await addUser(platform, 'Dora Developer')
const user = await addUser(platform)

const asked = scopesIn('profile:read site:read')
const liveApp = async (): Promise<AppInWorld> => {
  const app = await addApp(platform, developer)
  await addEmbeddedVersion(platform, app, { scopes: asked })
  return app
}
type Change = Partial<Parameters<typeof createInstall>[3]>
const install = async ({ slug }: AppInWorld, change: Change = {}, on: Platform = platform) =>
  await createInstall(on, trace, operator, {
    slug,
    userEmail: user.email,
    kind: 'site',
    resourceSlug: 'my-site',
    ...change,
  })
const paramOf = async (answer: Promise<unknown>): Promise<unknown> =>
  await answer.then(
    () => 'done',
    (error: { facts?: { param?: string } }) => error.facts?.param,
  )
const eventsOf = async (id: string) => (await auditEvents(platform)).filter(({ target }) => target === id)
const detailsOf = async (id: string) => (await eventsOf(id)).map(({ detail }) => JSON.parse(detail ?? 'null'))

test('an install needs an existing user and their website or store, and gets the scopes of the live version', async () => {
  const app = await liveApp()
  const agreedTo = asked
  expect(await paramOf(install(app, { agreedTo, slug: 'no-such-app' }))).toBe('app')
  expect(await paramOf(install(app, { agreedTo, userEmail: 'nobody@example.com' }))).toBe('user')
  expect(await paramOf(install(app, { agreedTo, resourceSlug: 'no-such-site' }))).toBe('resource')
  expect(await paramOf(install(app, { agreedTo: scopesIn('site:read') }))).toBe('scopes')
  const { id } = await install(app, { agreedTo })
  expect(await paramOf(install(app, { agreedTo }))).toBe('resource')
  expect(await detailsOf(id)).toEqual([{ scope: 'profile:read site:read' }])
})

test('an owner cannot install an app that is suspended or has no live version; only its developer can test it', async () => {
  const draft = await addApp(platform, developer)
  await addEmbeddedVersion(platform, draft, { steps: [] })
  expect(await paramOf(install(draft, { agreedTo: asked }))).toBe('app')
  const environment = 'development'
  expect(await paramOf(install(draft, { agreedTo: asked, environment }))).toBe('app')
  expect(await paramOf(install(draft, { environment }))).toBe('app')
  expect(await paramOf(install(draft, { agreedTo: asked, environment, userEmail: developer.email }))).toBe('done')
  const asleep = await liveApp()
  await setAppStatus(platform, trace, operator, { slug: asleep.slug, status: 'suspended' })
  expect(await paramOf(install(asleep, { agreedTo: asked }))).toBe('app')
  const empty = await addApp(platform, developer)
  expect(await paramOf(install(empty, { agreedTo: asked, environment, userEmail: developer.email }))).toBe('app')
  const { id } = await install(empty) // by an operator, for whom no version needs to be live
  expect(await detailsOf(id)).toEqual([{ scope: '' }])
})

test('with automatic approval an install is active at once, and the trail says who approved it', async () => {
  const app = await liveApp()
  const { id, approval, state } = await install(app, {}, { ...platform, installApproval: 'automatic' })
  expect([approval, state]).toEqual(['approved', 'active'])
  expect((await eventsOf(id)).map(({ action, actorKind }) => [action, actorKind])).toEqual([
    ['install.created', 'operator'],
    ['install.approved', 'system'],
  ])
})

test('an owner agrees to the scopes of the current version, as long as the install has not ended', async () => {
  const app = await liveApp()
  const id = await installEmbedded(platform, app, user)
  const agree = async (text: string, at = id) =>
    await paramOf(agreeToScopes(platform, trace, operator, { id: at, agreedTo: scopesIn(text) }))
  await addEmbeddedVersion(platform, app, { version: '2.0.0', scopes: scopesIn('site:read store:read') })
  expect(await agree('site:read')).toBe('scopes')
  expect(await agree('site:read store:read', `ins_${'0'.repeat(32)}`)).toBe('install')
  expect(await agree('store:read site:read')).toBe('done')
  expect((await eventsOf(id)).at(-1)?.action).toBe('install.scopes_changed')
  expect((await detailsOf(id)).at(-1)).toEqual({ added: ['store:read'], withdrawn: ['profile:read'] })
  expect((await platform.database.queries.installs.find(id))?.install.scopes).toBe('site:read store:read')
  await endInstall(platform, trace, operator, id)
  expect(await agree('site:read store:read')).toBe('install')
  const empty = await addApp(platform, developer)
  const { id: waiting } = await install(empty, { kind: 'store', resourceSlug: 'my-store' })
  expect(await agree('', waiting)).toBe('scopes')
})

test('an unknown install takes no step', async () => {
  const id = `ins_${'0'.repeat(32)}`
  for (const step of ['approve', 'reject', 'withdraw', 'deactivate'] as const) {
    await expect(moveInstall(platform, trace, operator, { id, step })).rejects.toMatchObject({
      facts: { message: 'There is no such install.' },
    })
  }
  expect(await refusalOf(endInstall(platform, trace, operator, id))).toBe('version_not_eligible')
})

test('an install is approved only while its app and its user can use it, and can always be rejected', async () => {
  const app = await liveApp()
  const suspended = { slug: app.slug, status: 'suspended' } as const
  const disabled = { email: user.email, status: 'disabled', apps: { kind: 'keep' } } as const
  for (const [end, begin, words] of [
    [
      async () => await setAppStatus(platform, trace, operator, suspended),
      async () => await setAppStatus(platform, trace, operator, { ...suspended, status: 'active' }),
      'Its app is suspended',
    ],
    [
      async () => await deleteApp(platform, trace, operator, app.slug),
      async () => {
        await undeleteApp(platform, trace, operator, app.slug)
        await setAppStatus(platform, trace, operator, { ...suspended, status: 'active' })
      },
      'Its app was deleted',
    ],
    [
      async () => await setUserStatus(platform, trace, operator, disabled),
      async () => await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' }),
      'Its user is disabled',
    ],
  ] as const) {
    const approved = await install(app)
    await end()
    await expect(moveInstall(platform, trace, operator, { id: approved.id, step: 'approve' })).rejects.toThrow(words)
    expect((await eventsOf(approved.id)).map(({ action }) => action)).toEqual(['install.created'])
    await moveInstall(platform, trace, operator, { id: approved.id, step: 'reject' })
    await begin()
    const { id } = await install(app)
    expect((await moveInstall(platform, trace, operator, { id, step: 'approve' })).state).toBe('active')
    await moveInstall(platform, trace, operator, { id, step: 'deactivate' })
  }
  await setUserStatus(platform, trace, operator, disabled)
  expect(await paramOf(install(app))).toBe('user')
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' })
})

test('ending an install says the step that was taken, though it was approved a moment before', async () => {
  const { id } = await install(await liveApp())
  const approved = meanwhileOn(platform, async (transaction) => {
    if (transaction === 1) await moveInstall(platform, trace, operator, { id, step: 'approve' })
  })
  expect(await endInstallAndAccess(approved, trace, operator, id)).toBe('deactivate')
  const steps = (await eventsOf(id)).map(({ action }) => action)
  expect(steps.toSorted()).toEqual(['install.approved', 'install.created', 'install.deactivated']) // of one moment
})

test('an install takes each step once, and its owner ends it once', async () => {
  const { id } = await install(await liveApp())
  const move = async (step: 'approve' | 'withdraw') =>
    await paramOf(moveInstall(platform, trace, operator, { id, step }))
  expect([await move('approve'), await move('approve'), await move('withdraw')]).toEqual(['done', 'install', 'install'])
  expect(await endInstall(platform, trace, operator, id)).toBe('deactivate')
  expect(await refusalOf(endInstall(platform, trace, operator, id))).toBe('version_not_eligible')
  expect((await eventsOf(id)).map(({ action }) => action)).toEqual([
    'install.created',
    'install.approved',
    'install.deactivated',
  ])
})

test('an install exists only for its user', async () => {
  const id = await installEmbedded(platform, await liveApp(), user)
  const q = platform.database.queries
  expect(await ownsInstall(id)(q, user.id)).toBeNull()
  expect(await ownsInstall(id)(q, developer.id)).toMatchObject({ code: 'route_not_found' })
  expect(await ownsInstall('ins_none')(q, user.id)).toMatchObject({ code: 'route_not_found' })
})

test('operators see the installs of one app or of all, oldest first', async () => {
  const [app, other] = [await liveApp(), await liveApp()]
  const ids = [await installEmbedded(platform, app, user), await installEmbedded(platform, other, user)]
  const listed = async (slug: string | null) => (await listInstalls(platform, slug)).map(({ id }) => id)
  expect(await listed(app.slug)).toEqual(ids.slice(0, 1))
  expect(await listed(null)).toEqual(expect.arrayContaining(ids))
  expect(await listed(null)).toEqual((await listed(null)).toSorted())
  expect(await paramOf(listInstalls(platform, 'no-such-app'))).toBe('app')
})

test('an owner sees the scopes that the version in use asks for: the live one, or in a test the head', async () => {
  const app = await liveApp()
  const head = scopesIn('store:read')
  await addEmbeddedVersion(platform, app, { version: '2.0.0', scopes: head, steps: [] })
  const test = await installEmbedded(platform, app, developer, { environment: 'development' })
  const real = await installEmbedded(platform, app, developer, { kind: 'site' })
  const { id: none } = await install(await addApp(platform, developer), { userEmail: developer.email })
  const page = await listOwnInstalls(platform, await sessionOf(platform, developer), { limit: 100, cursor: null })
  const askedBy = (id: string) => page.data.find((own) => own.id === id)?.asked
  expect([askedBy(test), askedBy(real), askedBy(none)]).toEqual([head, asked, null])
})

test('an app can be installed if it is active and has a version, and tested only by its own developer', async () => {
  const app = await liveApp()
  const draft = await addApp(platform, developer)
  await addEmbeddedVersion(platform, draft, { steps: [], scopes: ['site:read', 'store:read'] })
  const asleep = await liveApp()
  await setAppStatus(platform, trace, operator, { slug: asleep.slug, status: 'suspended' })
  const [theirs, own] = [await sessionOf(platform, user), await sessionOf(platform, developer)]
  const question = async (session: typeof own, slug: string, environment: 'development' | 'production') =>
    await prepareInstall(platform, session, slug, environment, null)
  expect(await question(theirs, app.slug, 'production')).toMatchObject({ app: { slug: app.slug, scopes: asked } })
  expect(await question(theirs, 'no-such-app', 'production')).toBeNull()
  expect(await question(theirs, asleep.slug, 'production')).toBeNull()
  expect(await question(theirs, draft.slug, 'production')).toBeNull()
  expect(await question(theirs, draft.slug, 'development')).toBeNull()
  const places = [
    { kind: 'site', slug: 'my-site', name: 'My site' },
    { kind: 'store', slug: 'my-store', name: 'My store' },
  ] as const
  for (const [cursor, shown] of [
    [null, places],
    ['site/a', places],
    ['site/my-site', places.slice(1)],
    ['site/z', places.slice(1)],
    ['store/a', places.slice(1)],
    ['store/my-store', []],
  ] as const) {
    const asking = await prepareInstall(platform, own, draft.slug, 'development', cursor)
    expect(asking?.places.data).toEqual([...shown])
  }
})

test('places are listed in pages of 500, websites before stores', async () => {
  const live = await liveApp()
  const { slug } = live
  await addEmbeddedVersion(platform, live, { version: '2.0.0', scopes: ['site:read', 'store:read'] })
  const owner = await addUser(platform)
  const row = await platform.database.queries.resources.find(owner.id, 'site', 'my-site')
  if (row === null) throw new Error('there is no place')
  await platform.database.transaction(async (q) => {
    for (let count = 0; count < 500; count += 1) {
      await q.resources.insert({ ...row, id: `res_many_${count}`, slug: `site-${String(count).padStart(3, '0')}` })
    }
  })
  const session = await sessionOf(platform, owner)
  const after = async (cursor: string | null) =>
    (await prepareInstall(platform, session, slug, 'production', cursor))?.places
  const first = await after(null)
  expect([first?.data.length, first?.nextCursor]).toEqual([500, 'site/site-498'])
  expect(await after('site/site-498')).toMatchObject({
    data: [
      { kind: 'site', slug: 'site-499' },
      { kind: 'store', slug: 'my-store' },
    ],
    nextCursor: null,
  })
})

test('an install that is approved while its websites are asked for hides none of them', async () => {
  const app = await liveApp()
  const { id } = await install(app)
  const { database } = platform
  const { queries } = database
  const hasLive: typeof queries.installs.hasLive = async (...asked) => {
    await moveInstall(platform, trace, operator, { id, step: 'approve' }).catch(() => undefined) // by the first call
    return await queries.installs.hasLive(...asked)
  }
  const meanwhile = { ...queries, installs: { ...queries.installs, hasLive } }
  const on = {
    ...platform,
    database: new Proxy(database, {
      get: (store, name) => (name === 'queries' ? meanwhile : Reflect.get(store, name)),
    }),
  }
  const caller = {
    appId: app.id,
    clientId: app.development.clientId,
    scopes: ['site:read'],
    user,
  } as unknown as UserCaller // what is read of one
  const page = await listResources(
    on,
    caller,
    { kind: 'site', status: null, isInstalled: false },
    { limit: 1, cursor: null },
  )
  expect(page.data.map(({ slug }) => slug)).toEqual(['my-site'])
})
