import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { inviteMember, addMember, changeMemberRole, removeMember } from '../../src/operations/apps/members.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, createWorld, endWorld, type Login, type World } from '../support/world.ts'
import { hiddenFields, type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await endWorld(world))

let app: AppInWorld
let owner: PlainBrowser
let member: Login
let browser: PlainBrowser
beforeEach(async () => {
  const login = await addUser(world.platform)
  app = await addApp(world.platform, login)
  member = await addUser(world.platform, 'Grace Example')
  await addMember(world.platform, trace, operator, { slug: app.slug, email: member.email, role: 'owner' })
  owner = await signedInBrowser(world.server.url, login)
  browser = await signedInBrowser(world.server.url, member)
})

const at = (path: string) => `/console/${app.slug}${path}`
const q = () => world.platform.database.queries

/** Every form that needs more than a developer: its page, its path if it differs, and its fields. */
const forms = (): readonly (readonly [page: string, action: string, fields: Readonly<Record<string, string>>])[] => [
  ['/settings', '/name', { name: 'Mine' }],
  ['/scopes', '/scopes', { scopes: 'site:read' }],
  ['/redirect-uris', '/redirect-uris', { environment: 'production', uri: 'https://mine.example/' }],
  ['/credentials/new', '/credentials', { environment: 'production', label: 'Mine' }],
  ['/credentials/rotate?environment=production', '/credentials/rotate', { graceHours: '0' }],
  [
    '/webhooks/new?environment=production',
    '/webhooks',
    { environment: 'production', url: 'https://mine.example/', kinds: 'ping' },
  ],
  ['/members', '/members', { email: 'friend@example.com', role: 'owner' }],
  [`/members/${member.id}/role`, `/members/${member.id}/role`, { role: 'owner' }],
  ['/transfer', '/transfer', { email: 'friend@example.com' }],
  ['/delete', '/delete', { typed: app.slug }],
]

for (const [how, end, status] of [
  ['became a developer', async () => await change('developer'), 403],
  ['was removed', async () => await change(null), 404],
] as const) {
  test(`a form that an owner had open does nothing once they ${how}`, async () => {
    const open: (readonly [string, Readonly<Record<string, string>>])[] = []
    for (const [page, action, fields] of forms()) {
      const { text } = await browser.get(at(page))
      open.push([at(action), { ...hiddenFields(text, at(action)), ...fields }])
    }
    await end()
    for (const [action, fields] of open) {
      expect([action, (await browser.post(action, fields)).status]).toEqual([action, status])
    }
    expect(await q().apps.byId(app.id)).toMatchObject({ name: 'Newsletter', deletedAt: null })
    expect(await q().appInvitations.pendingOf(app.id, Date.now())).toEqual([])
    expect((await browser.get(at(''))).status).toBe(status === 404 ? 404 : 200)
  })
}

const change = async (role: 'developer' | null) => {
  const whom = { slug: app.slug, userId: member.id }
  if (role === null) await removeMember(world.platform, trace, operator, whom)
  else await changeMemberRole(world.platform, trace, operator, { ...whom, role })
}

test('an owner invites by a link that is shown once, and the invited person joins after a confirming form', async () => {
  const guest = await addUser(world.platform, 'Ben Example')
  const made = await owner.submit(at('/members'), at('/members'), { email: guest.email, role: 'developer' })
  const shown = await owner.follow(made)
  const link = /apmi_\w+/.exec(shown.text)?.[0] ?? ''
  expect(link).not.toBe('')
  expect((await owner.get(made.headers.get('location') ?? '')).text).not.toContain(link)
  const path = `/invitation?link=${link}`
  expect((await browser.get(path)).status).toBe(403)
  const guests = await signedInBrowser(world.server.url, guest)
  expect((await guests.get(at(''))).status).toBe(404)
  expect((await guests.submit(path, path)).headers.get('location')).toBe(at(''))
  expect((await guests.get('/console')).text).toContain('You are a developer')
  expect((await guests.get(path)).status).toBe(409)
})

test('who removes a member is told before and after that secrets stay valid, with the way to rotate them', async () => {
  const path = at(`/members/${member.id}/remove`)
  const [before, after] = [await owner.get(path), await owner.follow(await owner.submit(path, path))]
  for (const { text } of [before, after]) {
    expect(text).toContain('Client secrets that they have copied keep working until you rotate')
    for (const environment of ['development', 'production']) {
      const rotate = at(`/credentials/rotate?environment=${environment}`)
      expect(text).toContain(`<a href="${rotate}">`)
      expect((await owner.get(rotate)).text).toContain(`Rotate the ${environment} secret?`)
    }
  }
})

test('a link leads somebody without a session to the sign-in', async () => {
  const person = await q().apps.byId(app.id)
  const invited = { slug: app.slug, email: 'x@example.com', role: 'admin', invitedBy: person?.ownerId ?? '' } as const
  const { link } = await inviteMember(world.platform, trace, operator, invited)
  const { pathname, search } = new URL(link)
  const { status, headers } = await fetch(world.server.url + pathname + search, { redirect: 'manual' })
  expect([status, headers.get('location')?.startsWith('/sign-in?')]).toEqual([303, true])
})

test('an invitation that ended while its form was open leaves its own refusal in the audit log', async () => {
  const guest = await addUser(world.platform)
  const invitation = { slug: app.slug, email: guest.email, role: 'admin', invitedBy: member.id } as const
  const { link } = await inviteMember(world.platform, trace, operator, invitation)
  const visitor = await signedInBrowser(world.server.url, guest)
  const path = link.slice(new URL(link).origin.length)
  const { text } = await visitor.get(path)
  await change('developer')
  expect((await visitor.post(path, hiddenFields(text, path))).status).toBe(409)
  const refused = (await auditEvents(world.platform)).filter(({ actorId }) => actorId === guest.id)
  expect(refused.map(({ action, outcome }) => [action, outcome])).toContainEqual(['member.use_invitation', 'refused'])
})
