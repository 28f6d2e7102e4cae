import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addMember } from '../../src/operations/apps/members.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, createWorld, endWorld, type Login } from '../support/world.ts'
import { addOperator } from './support/operator-world.ts'
import { pageTable } from './support/page-table.ts'
import { leadsTo, type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'

// The pages of an app are written once: members use them in the console, and operators on the desk. Here each form is sent at both
// addresses, and the audit log says who acted, and as what.

const world = await createWorld({ env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } })
afterAll(async () => await endWorld(world))
const { platform, server } = world

const places = ['console', 'desk'] as const
type Place = (typeof places)[number]

let owner: Login
let operator: Login
const browsers = new Map<Place, PlainBrowser>()
beforeAll(async () => {
  owner = await addUser(platform, 'Olga Owner')
  operator = await addOperator(platform, 'Otto Operator')
  browsers.set('console', await signedInBrowser(server.url, owner))
  browsers.set('desk', await signedInBrowser(server.url, operator))
})

type Scene = {
  readonly app: AppInWorld
  readonly browser: PlainBrowser
  /** The address of a page of the app. */
  readonly at: (path: string) => string
  readonly secretId: string
  readonly endpointId: string
  readonly memberId: string
  readonly actor: { readonly actorKind: string; readonly actorId: string }
}

const inSettings = /^\/(name|scopes|redirect-uris)/
/** This test's own calls do not check addresses as the server does. */
const callingAnything = { ...platform, webhooks: { ...platform.webhooks, check: async () => null } }

const browserAt = (place: Place): PlainBrowser => {
  const browser = browsers.get(place)
  if (browser === undefined) throw new Error('nobody is signed in')
  return browser
}

const sceneAt = async (place: Place): Promise<Scene> => {
  const app = await addApp(platform, owner)
  const { slug } = app
  const browser = browserAt(place)
  const member = await addUser(platform, 'Mia Member')
  await addMember(platform, trace, commandLine, { slug, email: member.email, role: 'developer' })
  const endpoint = { slug, environment: 'development', url: 'https://127.0.0.1:1/', kinds: ['ping'] } as const
  const [secret] = await platform.database.queries.credentials.liveOfClient(app.development.clientId, Date.now())
  return {
    app,
    browser,
    at: (path) =>
      place === 'console'
        ? `/console/${slug}${path}`
        : `/desk/apps/${slug}${inSettings.test(path) ? '/settings' : ''}${path}`,
    secretId: secret?.id ?? '',
    endpointId: (await addEndpoint(callingAnything, trace, commandLine, endpoint)).id,
    memberId: member.id,
    actor:
      place === 'console' ? { actorKind: 'user', actorId: owner.id } : { actorKind: 'operator', actorId: operator.id },
  }
}

type Fields = Readonly<Record<string, string | readonly string[]>>

/** A form: the page that it is on or that leads to it, its address, its fields, and the event that it leaves. */
type Walked = {
  readonly name: string
  readonly page: (scene: Scene) => string
  readonly path: (scene: Scene) => string
  readonly fields?: Fields | ((scene: Scene) => Fields)
  readonly event: string
}

const walked: readonly Walked[] = [
  {
    name: 'creates a secret',
    page: () => '/credentials/new',
    path: () => '/credentials',
    fields: { environment: 'production', label: 'Walk' },
    event: 'credential.created',
  },
  {
    name: 'rotates a secret',
    page: () => '/credentials',
    path: () => '/credentials/rotate',
    fields: { graceHours: '0' },
    event: 'credential.rotated',
  },
  {
    name: 'revokes a secret',
    page: () => '/credentials',
    path: ({ secretId }) => `/credentials/${secretId}/revoke`,
    event: 'credential.revoked',
  },
  {
    name: 'changes the scopes',
    page: () => '/scopes',
    path: () => '/scopes',
    fields: { scopes: ['site:read'] },
    event: 'app.scopes_changed',
  },
  {
    name: 'adds a redirect URI',
    page: () => '/redirect-uris',
    path: () => '/redirect-uris',
    fields: ({ app }) => ({ environment: 'development', uri: `https://${app.slug}.example/walk` }),
    event: 'redirect_uri.added',
  },
  {
    name: 'removes a redirect URI',
    page: ({ app }) =>
      `/redirect-uris/remove?${new URLSearchParams({ environment: 'development', uri: app.redirectUri }).toString()}`,
    path: () => '/redirect-uris/remove',
    event: 'redirect_uri.removed',
  },
  {
    name: 'adds a webhook endpoint',
    page: () => '/webhooks/new',
    path: () => '/webhooks',
    fields: { environment: 'development', url: 'https://127.0.0.1:2/', kinds: ['ping'] },
    event: 'webhook.created',
  },
  {
    name: 'changes a webhook endpoint',
    page: ({ endpointId }) => `/webhooks/${endpointId}/edit`,
    path: ({ endpointId }) => `/webhooks/${endpointId}/edit`,
    fields: { url: 'https://127.0.0.1:3/', kinds: ['ping'] },
    event: 'webhook.changed',
  },
  {
    name: 'rotates the secret of a webhook endpoint',
    page: ({ endpointId }) => `/webhooks/${endpointId}`,
    path: ({ endpointId }) => `/webhooks/${endpointId}/rotate`,
    fields: { graceHours: '1' },
    event: 'webhook.secret_rotated',
  },
  {
    name: 'disables a webhook endpoint',
    page: ({ endpointId }) => `/webhooks/${endpointId}`,
    path: ({ endpointId }) => `/webhooks/${endpointId}/disable`,
    event: 'webhook.disabled',
  },
  {
    name: 'removes a webhook endpoint',
    page: ({ endpointId }) => `/webhooks/${endpointId}`,
    path: ({ endpointId }) => `/webhooks/${endpointId}/remove`,
    event: 'webhook.removed',
  },
  {
    name: 'changes the role of a member',
    page: () => '/members',
    path: ({ memberId }) => `/members/${memberId}/role`,
    fields: { role: 'admin' },
    event: 'member.role_changed',
  },
  {
    name: 'removes a member',
    page: () => '/members',
    path: ({ memberId }) => `/members/${memberId}/remove`,
    event: 'member.removed',
  },
  {
    name: 'deletes the app',
    page: () => '/delete',
    path: () => '/delete',
    fields: ({ app }) => ({ typed: app.slug }),
    event: 'app.deleted',
  },
]

/** The latest event of an app with this action. */
const eventOf = async (app: AppInWorld, action: string) =>
  (await platform.database.queries.audit.list({ appId: app.id, since: 0, limit: 5 })).findLast(
    (event) => event.action === action,
  )

const submit = async (scene: Scene, { page, path, fields = {} }: Walked): Promise<Seen> =>
  await scene.browser.submit(
    scene.at(page(scene)),
    scene.at(path(scene)),
    typeof fields === 'function' ? fields(scene) : fields,
  )

for (const place of places) {
  describe(`at /${place}`, () => {
    test.each(walked.map((step) => [step.name, step] as const))('a form %s', async (_, step) => {
      const scene = await sceneAt(place)
      const sent = await submit(scene, step)
      expect([sent.status, sent.headers.get('location')?.split(/[/?]/)[1]]).toEqual([303, place])
      expect(await eventOf(scene.app, step.event)).toMatchObject({ outcome: 'done', ...scene.actor })
      const shown = await scene.browser.follow(sent)
      expect(shown.status).toBe(200)
      if (/secret|rotate/.test(step.name) && !step.name.startsWith('revokes'))
        expect(shown.text).toContain('id="secret"')
    })
  })
}

test('a member is invited in the console, and added at once on the desk', async () => {
  const [console, desk] = [await sceneAt('console'), await sceneAt('desk')]
  const { email, id } = await addUser(platform, 'Nina New')
  const fields = { email, role: 'developer' }
  const invited = await console.browser.submit(console.at('/members'), console.at('/members'), fields)
  expect(invited.headers.get('location')).toContain('/invitations/inv_')
  expect(await eventOf(console.app, 'member.invited')).toMatchObject(console.actor)
  const added = await desk.browser.submit(desk.at('/members'), desk.at('/members'), fields)
  expect(added.headers.get('location')).toBe(desk.at('/members?done=added'))
  expect(await eventOf(desk.app, 'member.added')).toMatchObject({ target: id, ...desk.actor })
  const links = (await desk.browser.get(desk.at('/members'))).text
  expect(links).toContain(desk.at(`/members/${id}/role`))
  expect(links).toContain(`/desk/users/${id}`)
})

const slugged = (routes: readonly { readonly method: string; readonly pattern: string }[], root: string) =>
  routes.filter(({ pattern }) => pattern.startsWith(`${root}/:slug/`))

test('operators have each page of secrets, webhooks and members, and a thing of another app is not found there', async () => {
  const routes = pageTable(platform)
  const shared = /\/(credentials|webhooks|members)(\/|$)/
  const below = (root: string) =>
    slugged(routes, root)
      .filter(({ pattern }) => shared.test(pattern))
      .map(({ method, pattern }) => `${method} ${pattern.slice(root.length)}`)
      .toSorted()
  const onlyOnDesk = /credentials\/:id\/confirm$/
  expect(below('/desk/apps').filter((route) => !onlyOnDesk.test(route))).toEqual(below('/console'))
  const [scene, other] = [await sceneAt('desk'), await sceneAt('desk')]
  for (const step of walked.filter(({ path }) => /_|usr/.test(path(scene)))) {
    const foreign = scene.at(step.path(other))
    expect([foreign, (await scene.browser.get(foreign)).status]).toEqual([foreign, 404])
  }
})

test('a deleted app has no page on the desk but its overview', async () => {
  const scene = await sceneAt('desk')
  await scene.browser.submit(scene.at('/delete'), scene.at('/delete'), { typed: scene.app.slug })
  for (const path of ['/credentials', '/members', '/webhooks', '/scopes', `/webhooks/${scene.endpointId}`]) {
    expect([path, (await scene.browser.get(scene.at(path))).status]).toEqual([path, 404])
  }
  expect((await scene.browser.get(scene.at(''))).text).toContain('Restore this app')
})

test('an operator who is no member has nothing in the console, and a member nothing on the desk', async () => {
  const scene = await sceneAt('console')
  const [member, boss] = [browsers.get('console'), browsers.get('desk')]
  for (const path of ['', '/credentials', '/webhooks', '/members', '/delete']) {
    expect((await boss?.get(`/console/${scene.app.slug}${path}`))?.status).toBe(404)
    expect((await member?.get(`/desk/apps/${scene.app.slug}${path}`))?.status).toBe(404)
  }
})

test('the endpoints of the builder have the same steps, which operators take', async () => {
  const given = { slug: null, environment: 'production', url: 'https://builder.example/hook', kinds: ['ping'] } as const
  const { id } = await addEndpoint(callingAnything, trace, commandLine, given)
  const desk = browserAt('desk')
  const [list, page] = ['/desk/webhooks', `/desk/webhooks/${id}`]
  const rotated = await desk.submit(`${page}/rotate`, `${page}/rotate`, { graceHours: '0' })
  expect(leadsTo(rotated)).toBe(`${page}/secret`)
  expect((await desk.get(`${page}/secret`)).text).toContain('whsec_')
  expect((await desk.get(`${page}/disable`)).text).toContain(given.url)
  expect(leadsTo(await desk.submit(`${page}/disable`, `${page}/disable`))).toBe(`${page}?done=disabled`)
  expect(leadsTo(await desk.submit(`${page}/remove`, `${page}/remove`))).toBe(`${list}?done=removed`)
  expect((await desk.get(list)).text).toContain('No endpoints yet')
  expect((await desk.get(page)).status).toBe(404)
  expect((await browserAt('console').get(`${page}/rotate`)).status).toBe(404)
  const actions = (await platform.database.queries.audit.list({ appId: null, since: 0, limit: 10 })).filter(
    ({ target }) => target === id,
  )
  const byOperator = actions.filter(({ actorId }) => actorId === operator.id).map(({ action }) => action)
  expect(byOperator).toEqual(['webhook.secret_rotated', 'webhook.disabled', 'webhook.removed'])
})
