import { describe, expect, test } from 'bun:test'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { putBuilderResource } from '../../src/operations/resources/resources.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import {
  addApp,
  type AppInWorld,
  addUser,
  appToken,
  authorizeBody,
  grantTokens,
  installApp,
  type Login,
  signIn,
  userScopes,
  verifier,
} from '../support/world.ts'
import { addEmbeddedVersion } from '../support/embedding.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { platform, server } = world
const { url } = server

/** The app in production: its parts of the other environment take the places of those in development. */
const live = (app: AppInWorld): AppInWorld => ({
  ...app,
  development: app.production,
  redirectUri: app.liveRedirectUri,
})

let counted = 0
/** A user whom the builder knows, with one website and one store of the builder's, whose IDs are returned. */
const addBuilderUser = async () => {
  const user = await addUser(platform)
  const externalId = `u${(counted += 1)}`
  await linkUser(platform, trace, operator, { email: user.email, externalId })
  for (const kind of ['site', 'store'] as const) {
    await putBuilderResource(platform, trace, operator, {
      kind,
      externalId: `${externalId}-${kind}`,
      ownerExternalId: externalId,
      name: `Bakery ${kind}`,
      slug: 'bakery',
      status: 'draft',
      createdAt: null,
      updatedAt: null,
    })
  }
  return { user, siteId: `${externalId}-site`, storeId: `${externalId}-store` }
}
const install = async (app: AppInWorld, user: Login, kind: 'site' | 'store', agreed: string = userScopes) => {
  const asked = { slug: app.slug, userEmail: user.email, kind, resourceSlug: 'bakery' } as const
  const { id } = await createInstall(platform, trace, operator, asked)
  await platform.database.transaction(async (q) => await q.installs.setScopes(id, agreed, platform.clock.now()))
  return id
}
const step = async (id: string, name: 'approve' | 'reject' | 'deactivate') =>
  await moveInstall(platform, trace, operator, { id, step: name })

const tokenOf = async (user: Login, app: AppInWorld, scope = userScopes): Promise<string> => {
  const consent = { token: await signIn(url, user), body: authorizeBody(app, scope) }
  const { code } = (await call(url, 'POST', '/oauth/authorize', consent)).body
  const { redirectUri } = app
  const body = { grantType: 'authorization_code', ...app.development, code, redirectUri, codeVerifier: verifier }
  return (await call(url, 'POST', '/oauth/token', { body })).body.accessToken
}
const list = async (token: string, query = '') => await call(url, 'GET', `/installs${query}`, { token })
const idsOf = async (token: string, query = ''): Promise<readonly string[]> =>
  (await list(token, query)).body.data.map(({ id }: { id: string }) => id)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('GET /installs', () => {
  test("tells an app which of the builder's websites it serves and for whom", async () => {
    const app = await addApp(platform, world.user)
    const { user, siteId } = await addBuilderUser()
    const id = await install(app, user, 'site')
    await step(id, 'approve')
    const told = {
      id,
      kind: 'site',
      resource: { id: siteId, name: 'Bakery site', slug: 'bakery' },
      userId: user.id,
      approval: 'approved',
      state: 'active',
      scopes: userScopes.split(' '),
      createdAt: time,
      updatedAt: time,
    }
    for (const token of [await tokenOf(user, live(app)), await appToken(url, app.production)]) {
      expect((await list(token)).body).toEqual({ data: [told], nextCursor: null })
      const one = await call(url, 'GET', `/installs/${id}`, { token })
      expect({ status: one.status, body: one.body }).toEqual({ status: 200, body: told })
    }
  })

  test('has only installs of the environment of the token', async () => {
    const app = await addApp(platform, world.user)
    await installApp(platform, app, world.user)
    expect(await idsOf(await appToken(url, app.production))).toHaveLength(1)
    expect(await idsOf(await appToken(url, app.development))).toEqual([])
    const { accessToken } = await grantTokens({ ...world, app })
    expect(await idsOf(accessToken)).toEqual([])
  })

  test("has no installs of other apps, and by a user's token none of other users", async () => {
    const [app, other] = [await addApp(platform, world.user), await addApp(platform, world.user)]
    const [ada, bob] = [await addBuilderUser(), await addBuilderUser()]
    const ids = [await install(app, ada.user, 'site'), await install(app, bob.user, 'site')]
    const foreign = await install(other, ada.user, 'site')
    for (const id of [...ids, foreign]) await step(id, 'approve')
    const own = await appToken(url, app.production)
    expect(await idsOf(own)).toEqual(ids)
    const token = await tokenOf(bob.user, live(app))
    expect(await idsOf(token)).toEqual(ids.slice(1))
    expectRefusal(await call(url, 'GET', `/installs/${ids[0]}`, { token }), 'install_not_found', 'id')
    expectRefusal(await call(url, 'GET', `/installs/${foreign}`, { token: own }), 'install_not_found', 'id')
  })

  for (const [what, agreed, asked] of [
    ['its user has not agreed to the scope that reads the name', 'profile:read', userScopes],
    ['the token has not the scope that reads the name', userScopes, 'profile:read store:read'],
  ] as const) {
    test(`gives the ID of a website, and neither name nor slug, when ${what}`, async () => {
      const app = await addApp(platform, world.user)
      const { user, siteId } = await addBuilderUser()
      await step(await install(app, user, 'site', agreed), 'approve')
      const own = await appToken(url, app.production, asked === userScopes ? 'site:read' : 'store:read')
      for (const token of [await tokenOf(user, live(app), asked), own]) {
        expect((await list(token)).body.data[0].resource).toEqual({ id: siteId, name: null, slug: null })
      }
    })
  }

  test("shows what an operator has not approved to its user's token only, without names", async () => {
    const app = await addApp(platform, world.user)
    const { user, siteId, storeId } = await addBuilderUser()
    const [pending, rejected] = [await install(app, user, 'site'), await install(app, user, 'store')]
    await step(rejected, 'reject')
    const own = await appToken(url, app.production)
    expect(await idsOf(own)).toEqual([])
    expectRefusal(await call(url, 'GET', `/installs/${pending}`, { token: own }), 'install_not_found')
    expect((await list(await tokenOf(user, live(app)))).body.data).toMatchObject([
      { id: pending, approval: 'pending', state: 'inactive', resource: { id: siteId, name: null, slug: null } },
      { id: rejected, approval: 'rejected', state: 'inactive', resource: { id: storeId, name: null, slug: null } },
    ])
  })

  test("of an ended install, tells the app's own token nothing about the person and the place", async () => {
    const app = await addApp(platform, world.user)
    const { user, siteId } = await addBuilderUser()
    const id = await install(app, user, 'site')
    await step(id, 'approve')
    await step(id, 'deactivate')
    const own = await appToken(url, app.production)
    const ended = { id, approval: 'approved', state: 'inactive', resource: null, userId: null, scopes: [] }
    expect((await list(own)).body.data).toMatchObject([ended])
    expect(await idsOf(own, `?resourceId=${siteId}`)).toEqual([]) // nor by asking for the place
    expect(await idsOf(own, `?resourceId=${siteId}&state=inactive`)).toEqual([])
    const token = await tokenOf(user, live(app))
    expect((await list(token)).body.data[0].resource).toEqual({ id: siteId, name: null, slug: null })
    expect(await idsOf(token, `?resourceId=${siteId}`)).toEqual([id])
  })

  test('is narrowed by kind, state and ID of the place, and comes in pages', async () => {
    const app = await addApp(platform, world.user)
    const { user, siteId, storeId } = await addBuilderUser()
    const [site, store] = [await install(app, user, 'site'), await install(app, user, 'store')]
    await step(site, 'approve')
    for (const token of [await tokenOf(user, live(app))]) {
      expect(await idsOf(token)).toEqual([site, store])
      expect(await idsOf(token, '?kind=store')).toEqual([store])
      expect(await idsOf(token, '?state=active')).toEqual([site])
      expect(await idsOf(token, `?resourceId=${storeId}`)).toEqual([store])
      expect(await idsOf(token, `?resourceId=${siteId}&kind=store`)).toEqual([])
      const first = (await list(token, '?limit=1')).body
      expect(first.data.map(({ id }: { id: string }) => id)).toEqual([site])
      expect(await idsOf(token, `?limit=1&cursor=${first.nextCursor}`)).toEqual([store])
    }
  })

  test('refuses values that it does not know', async () => {
    const token = await appToken(url, world.app.production)
    const cursor = Buffer.from('installs \u0000').toString('base64url')
    for (const [query, param] of [
      ['?kind=page', 'kind'],
      ['?state=ended', 'state'],
      ['?state=', 'state'],
      ['?resourceId=', 'resourceId'],
      ['?resourceId=%00', 'resourceId'],
      [`?resourceId=${'x'.repeat(129)}`, 'resourceId'],
      ['?limit=0', 'limit'],
      ['?cursor=x', 'cursor'],
      [`?cursor=${cursor}`, 'cursor'],
      ['?kind=site&kind=store', 'kind'],
    ] as const) {
      expectRefusal(await list(token, query), 'invalid_request', param)
    }
    for (const id of ['x', 'ins_', `ins_${'0'.repeat(32)}`, `app_${'0'.repeat(32)}`]) {
      expectRefusal(await call(url, 'GET', `/installs/${id}`, { token }), 'install_not_found', 'id')
    }
  })

  test('is for apps and their users, not for a session', async () => {
    const token = await signIn(url, world.user)
    expectRefusal(await list(token), 'token_type_not_allowed')
    expectRefusal(await call(url, 'GET', '/installs'), 'invalid_token')
  })
})

describe("a developer's test on a website of their own", () => {
  test('is approved at once, and opens the lists of resources and installs to tokens of development only', async () => {
    const app = await addApp(platform, world.user)
    await addEmbeddedVersion(platform, app)
    const { accessToken } = await grantTokens({ ...world, app })
    const production = await tokenOf(world.user, live(app))
    const resources = async (token: string) => await call(url, 'GET', '/resources?kind=site', { token })
    expectRefusal(await resources(accessToken), 'install_required')
    const asked = { slug: app.slug, userEmail: world.user.email, kind: 'site', resourceSlug: 'my-site' } as const
    const { id } = await createInstall(platform, trace, operator, { ...asked, environment: 'development' })
    expect((await resources(accessToken)).status).toBe(200)
    expectRefusal(await resources(production), 'install_required')
    expect(await idsOf(accessToken)).toEqual([id])
    expect(await idsOf(await appToken(url, app.development))).toEqual([id])
    expect(await idsOf(production)).toEqual([])
  })
})

const addressFor = async (user: Login, app: AppInWorld): Promise<unknown> => {
  const answer = await call(url, 'GET', '/resources?kind=site', { token: await tokenOf(user, app) })
  expectRefusal(answer, 'install_required')
  return answer.body.error.details
}

describe('a refusal for want of an install', () => {
  test('names the page on which the user installs the app, or tests it; none if there is nothing to install', async () => {
    const [app, empty] = [await addApp(platform, world.user), await addApp(platform, world.user)]
    await addEmbeddedVersion(platform, app)
    const { user } = await addBuilderUser()
    const address = url.replace('127.0.0.1', 'localhost')
    expect(await addressFor(user, live(app))).toEqual({ installUrl: `${address}/apps/${app.slug}/install` })
    expect(await addressFor(user, app)).toEqual({ installUrl: `${address}/apps/${app.slug}/install` })
    expect(await addressFor(world.user, app)).toEqual({ installUrl: `${address}/apps/${app.slug}/test` })
    expect(await addressFor(user, live(empty))).toBeUndefined()
  })
})

describe('GET /resources, narrowed', () => {
  test('has only those of a status, and only those on which the app is in use', async () => {
    const app = await addApp(platform, world.user)
    const { user } = await addBuilderUser()
    await step(await install(app, user, 'site'), 'approve')
    for (const token of [await tokenOf(user, live(app)), await tokenOf(user, app)]) {
      const slugs = async (query: string) =>
        (await call(url, 'GET', `/resources?${query}`, { token })).body.data.map(({ slug }: { slug: string }) => slug)
      expect(await slugs('kind=site')).toEqual(['bakery', 'my-site'])
      expect(await slugs('kind=site&status=published')).toEqual(['my-site'])
      expect(await slugs('kind=site&installed=true')).toEqual(['bakery'])
      expect(await slugs('kind=site&installed=false')).toEqual(['bakery', 'my-site'])
      expect(await slugs('kind=site&installed=true&status=published')).toEqual([])
      expect(await slugs('kind=store&installed=true')).toEqual([])
      for (const [query, param] of [
        ['status=live', 'status'],
        ['installed=yes', 'installed'],
        ['installed=', 'installed'],
      ] as const) {
        expectRefusal(await call(url, 'GET', `/resources?kind=site&${query}`, { token }), 'invalid_request', param)
      }
    }
  })

  test('does not count an install of development for a token of production', async () => {
    const app = await addApp(platform, world.user)
    await addEmbeddedVersion(platform, app)
    const asked = { slug: app.slug, userEmail: world.user.email, resourceSlug: 'my-site', kind: 'site' } as const
    await createInstall(platform, trace, operator, { ...asked, environment: 'development' })
    const store = { ...asked, kind: 'store', resourceSlug: 'my-store' } as const
    await step((await createInstall(platform, trace, operator, store)).id, 'approve')
    const token = await tokenOf(world.user, live(app))
    const { body } = await call(url, 'GET', '/resources?kind=site&installed=true', { token })
    expect(body.data).toEqual([])
    const { accessToken } = await grantTokens({ ...world, app })
    const inTest = await call(url, 'GET', '/resources?kind=site&installed=true', { token: accessToken })
    expect(inTest.body.data).toHaveLength(1)
  })
})
