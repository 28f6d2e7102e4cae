import { expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { addMember } from '../../src/operations/apps/members.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { developmentCaller } from '../operations/support/owner.ts'
import { operator, trace } from '../support/operator.ts'
import { receivedArtifact } from '../support/received-artifact.ts'
import { addApp, addUser, appToken, grantTokens, type Login, signIn } from '../support/world.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { hiddenFields, signedInBrowser } from './support/plain-browser.ts'

// What operators do on the desk instead of the command line: accounts, apps, secrets, installs, quotas and backups.

const world = await operatorWorldOfFile()
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const queries = () => world.platform.database.queries
const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const scene = async () => {
  const owner = await addUser(world.platform, 'Dora Developer')
  const app = await addApp(world.platform, owner)
  return { owner, app, path: `/desk/apps/${app.slug}`, ofOwner: `/desk/users/${owner.id}` }
}
const canSignIn = async ({ email, password }: Pick<Login, 'email' | 'password'>) =>
  (await call(url, 'POST', '~/api/session', { body: { email, password } })).status === 200
const tokenStatus = async (credentials: Parameters<typeof appToken>[1]) =>
  (await call(url, 'POST', '/token', { body: { ...credentials, scope: 'site:read' } })).status
/** The latest event and who caused it. */
const latest = async () => {
  const events = await queries().audit.list({ appId: null, since: 0, limit: 1 })
  return { action: events.at(-1)?.action, actor: events.at(-1)?.actorId }
}
const done = (action: string) => ({ action, actor: world.operator.id })

test('a user gets another name and another address, and signs in with the new one', async () => {
  const user = await addUser(world.platform)
  const path = `/desk/users/${user.id}`
  const session = await signIn(url, user)
  await desk.submit(`${path}/edit`, `${path}/rename`, { name: ' Grace Example ' })
  expect(await latest()).toEqual(done('user.changed'))
  await desk.submit(`${path}/edit`, `${path}/set-email`, { to: 'Grace.New@Example.com' })
  expect(await latest()).toEqual(done('user.email_changed'))
  expect(await queries().users.byId(user.id)).toMatchObject({ name: 'Grace Example', email: 'grace.new@example.com' })
  expect(await canSignIn({ ...user, email: 'grace.new@example.com' })).toBe(true)
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(200)
  const taken = await desk.submit(`${path}/edit`, `${path}/set-email`, { to: world.user.email })
  expect([taken.status, taken.text.includes('id="to-fault"')]).toEqual([400, true])
  expect(taken.text).toContain(`value="${world.user.email}"`)
})

test('ending the access of a user ends sessions and grants, and leaves the password', async () => {
  const user = await addUser(world.platform)
  const path = `/desk/users/${user.id}`
  const { accessToken } = await grantTokens({ ...world, user })
  const session = await signIn(url, user)
  const asked = words((await desk.get(`${path}/end-access`)).text)
  expect(asked).toContain('2 sessions end')
  expect(asked).toContain('1 app loses its access to their data')
  await desk.submit(path, `${path}/end-access`)
  expect(await latest()).toEqual(done('user.access_ended'))
  expect((await call(url, 'GET', '/oauth/me', { token: accessToken })).status).toBe(401)
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(401)
  expect(await canSignIn(user)).toBe(true)
})

test('operators cannot end their own access on the desk', async () => {
  const own = `/desk/users/${world.operator.id}/end-access`
  const refused = await desk.post(own, { ticket: await genuineTicket(world, desk, own) })
  expect([refused.status, refused.text.includes('You cannot end your own access here')]).toEqual([400, true])
  expect((await desk.get('/desk/users')).status).toBe(200)
})

test('the page of an app lists its members with their roles, and leads to each', async () => {
  const { app, path, ofOwner } = await scene()
  const colleague = await addUser(world.platform, 'Carl Colleague')
  await addMember(world.platform, trace, operator, { slug: app.slug, email: colleague.email, role: 'developer' })
  const { text } = await desk.get(path)
  for (const link of [ofOwner, `/desk/users/${colleague.id}`]) expect(text).toContain(`href="${link}"`)
  expect(words(text)).toMatch(/Dora Developer .*Owner Publisher .*Carl Colleague .*Developer/)
})

test('an app is created for an owner, and a refusal keeps what was typed', async () => {
  const { owner, ofOwner } = await scene()
  const form = '/desk/apps/new'
  const typed = { owner: owner.email, name: 'Made here', slug: 'made-on-the-desk', scopes: ['site:read', 'store:read'] }
  expect((await desk.get(ofOwner)).text).toContain(`${form}?owner=${encodeURIComponent(owner.email)}`)
  const refused = await desk.submit(form, form, { ...typed, owner: 'nobody@example.com' })
  expect([refused.status, refused.text.includes('id="owner-fault"')]).toEqual([400, true])
  expect(refused.text).toContain('value="Made here"')
  expect(refused.text).toMatch(/value="store:read" checked/)
  const created = await desk.submit(form, form, typed)
  expect(created.headers.get('location')).toBe('/desk/apps/made-on-the-desk?done=created')
  expect(await queries().apps.bySlug(typed.slug)).toMatchObject({ ownerId: owner.id, scopes: 'site:read store:read' })
  expect(await latest()).toEqual(done('app.created'))
})

test('an app is deleted only by typing its slug', async () => {
  const { app, path } = await scene()
  for (const typed of ['', 'Newsletter']) {
    const refused = await desk.submit(path, `${path}/delete`, { typed })
    expect([refused.status, (await queries().apps.byId(app.id))?.deletedAt]).toEqual([400, null])
  }
  expect((await desk.submit(path, `${path}/delete`, { typed: app.slug })).status).toBe(303)
  expect((await queries().apps.byId(app.id))?.deletedAt).not.toBeNull()
})

test('an app is transferred to an active user', async () => {
  const { app, path } = await scene()
  const refused = await desk.submit(path, `${path}/transfer`, { to: 'nobody@example.com' })
  expect([refused.status, refused.text.includes('id="to-fault"')]).toEqual([400, true])
  await desk.submit(path, `${path}/transfer`, { to: world.colleague.email })
  expect((await queries().apps.byId(app.id))?.ownerId).toBe(world.colleague.id)
  expect(await latest()).toEqual(done('app.transferred'))
})

test('ending the access of an app ends its tokens and grants, and leaves its secrets', async () => {
  const { app, path } = await scene()
  const token = await appToken(url, app.development)
  const { accessToken } = await grantTokens({ ...world, app })
  const asked = words((await desk.get(`${path}/end-access`)).text)
  for (const count of ['1 user has allowed this app', '1 grant ends', '1 app token ends']) {
    expect(asked).toContain(count)
  }
  await desk.submit(path, `${path}/end-access`, { typed: app.slug })
  expect(await latest()).toEqual(done('app.access_ended'))
  expect((await call(url, 'GET', '/me', { token })).status).toBe(401)
  expect((await call(url, 'GET', '/oauth/me', { token: accessToken })).status).toBe(401)
  expect(await tokenStatus(app.development)).toBe(200)
})

const shownSecret = (html: string) => /id="secret"[^>]*value="([^"]+)"/.exec(html)?.[1] ?? ''

test('a new client secret is shown once on a page of its own, and works', async () => {
  const { app, path } = await scene()
  const form = `${path}/credentials`
  const hidden = await desk.formOn(`${form}/new`, form)
  const fields = { ...hidden, environment: 'production', label: 'For the vault' }
  const answers = await Promise.all([1, 2].map(async () => await desk.post(form, fields)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409])
  expect(await latest()).toMatchObject({ actor: world.operator.id })
  const shown = answers.find(({ status }) => status === 303)?.headers.get('location') ?? ''
  const { text } = await desk.get(shown)
  const clientSecret = shownSecret(text)
  expect(text).toContain(app.production.clientId)
  expect(await tokenStatus({ clientId: app.production.clientId, clientSecret })).toBe(200)
  expect((await desk.get(shown)).text).not.toContain(clientSecret)
  expect((await desk.get(`${form}?environment=production`)).text).toContain('For the vault')
  const third = await desk.submit(`${form}/new`, form, { environment: 'production', label: '' })
  expect(third.status).toBe(409)
})

test('a rotation without grace ends the older secrets at once, and a revoked secret its tokens', async () => {
  const { app, path } = await scene()
  const form = `${path}/credentials`
  const rotation = `${form}/rotate`
  const refused = await desk.submit(rotation, rotation, { environment: 'development', graceHours: '169' })
  expect([refused.status, refused.text.includes('id="graceHours-fault"')]).toEqual([400, true])
  expect((await desk.get(form)).text).toContain(`href="${rotation}?environment=development"`)
  const rotated = await desk.submit(rotation, rotation, { environment: 'development', graceHours: '0' })
  const clientSecret = shownSecret((await desk.follow(rotated)).text)
  expect(await tokenStatus(app.development)).toBe(401)
  const renewed = { clientId: app.development.clientId, clientSecret }
  const token = await appToken(url, renewed)
  const secrets = await queries().credentials.liveOfClient(renewed.clientId, Date.now())
  const id = secrets.at(-1)?.id ?? ''
  const stranger = await scene()
  expect((await desk.get(`${stranger.path}/credentials/${id}/revoke`)).status).toBe(404)
  await desk.submit(form, `${form}/${id}/revoke`)
  expect(await latest()).toEqual(done('credential.revoked'))
  expect([await tokenStatus(renewed), (await call(url, 'GET', '/me', { token })).status]).toEqual([401, 401])
})

test('the name, the scopes and the redirect URIs of an app are changed', async () => {
  const { app, path } = await scene()
  const settings = `${path}/settings`
  await desk.submit(settings, `${settings}/name`, { name: 'Other name' })
  await desk.submit(`${settings}/scopes`, `${settings}/scopes`, { scopes: ['site:read'] })
  expect(await queries().apps.byId(app.id)).toMatchObject({ name: 'Other name', scopes: 'site:read' })
  const uri = 'https://other.example/callback'
  const uris = async () => (await queries().redirectUris.listByApp(app.id)).map((row) => row.uri)
  const form = `${settings}/redirect-uris`
  for (const part of [form, `${settings}/scopes`]) expect((await desk.get(settings)).text).toContain(`href="${part}"`)
  const refused = await desk.submit(form, form, { uri: 'http://other.example/', environment: 'production' })
  expect([refused.status, refused.text.includes('id="uri-production-fault"')]).toEqual([400, true])
  await desk.submit(form, form, { uri, environment: 'production' })
  expect(await uris()).toContain(uri)
  const removal = `${form}/remove`
  const link = `${removal}?${new URLSearchParams({ environment: 'production', uri }).toString()}`
  expect((await desk.get(`${form}?environment=production`)).text).toContain(link.replaceAll('&', '&amp;'))
  await desk.post(removal, await desk.formOn(link, removal))
  expect(await uris()).not.toContain(uri)
  expect((await desk.get(link)).status).toBe(404)
})

test('an app is installed for a user, and the install waits for approval', async () => {
  const { app } = await scene()
  const form = '/desk/installs/new'
  const typed = { app: app.slug, user: world.user.email, kind: 'store', resource: 'my-store' }
  const refused = await desk.submit(form, form, { ...typed, resource: 'no-such-store' })
  expect([refused.status, refused.text.includes('id="resource-fault"')]).toEqual([400, true])
  const { headers } = await desk.submit(form, form, typed)
  expect(headers.get('location')).toBe('/desk/installs?done=created')
  expect(words((await desk.get('/desk/installs')).text)).toContain(world.user.email)
  expect(await latest()).toEqual(done('install.created'))
})

test('the settings page shows every setting, where it comes from, and its default', async () => {
  const told = words((await desk.get('/desk/settings')).text)
  expect(told).toContain('RATE_LIMIT_TOKEN 600/60 Default 600/60')
  expect(told).toContain('PORT 0 Flag --port 3000')
  expect(told).toContain('SMTP_URL None Default None')
})

test('the quotas page shows what apps and accounts use of what they may', async () => {
  const { app, owner } = await scene()
  const { platform } = world
  const artifact = { filename: 'app.zip', content: receivedArtifact(Buffer.alloc(2_048)), sha256: null }
  for (const version of ['1.0.0', '1.1.0']) {
    const upload = { version, notes: null, manifest: {}, scopes: ['site:read'], artifact }
    await createVersion(platform, trace, await developmentCaller(platform, app), upload, null)
  }
  const told = words((await desk.get('/desk/quotas')).text)
  expect(told).toContain(`${app.slug} 2.0 KiB of 1.0 GiB (below 1 %)`)
  expect(told).toContain(`${owner.email} 1 of 100 (1 %)`)
  expect(words((await desk.get(`/desk/apps/${app.slug}`)).text)).toContain('Artifacts 2.0 KiB of 1.0 GiB')
  // With more than it may read, the page sorts nothing.
  expect([await queries().artifacts.largestUses(50, 1), await queries().apps.ownersOfMost(50, 1)]).toEqual([null, null])
})

const onFile = onSqlite('restore of a file')

onFile('a backup is made on the desk, listed and checked, and cannot be downloaded', async () => {
  const form = '/desk/backups'
  expect((await desk.submit(form, form, { keep: '0' })).text).toContain('id="keep-fault"')
  expect((await desk.submit(form, form, { keep: '3' })).headers.get('location')).toBe(form)
  const finished = async (): Promise<string> => {
    const { text } = await desk.get(form)
    return text.includes('follows it by itself') ? await finished() : text
  }
  const made = await finished()
  expect(await latest()).toEqual(done('database.backed_up'))
  expect(words(made)).toContain('passed its check')
  const name = /app-[^<"/]+Z\.db/.exec(made)?.[0] ?? ''
  expect(words(made)).toContain('No problems found')
  await desk.submit(form, `${form}/${name}/check`)
  expect(words(await finished())).toContain('No problems found')
  expect(made).not.toMatch(/href="[^"]*\.db/)
  expect((await desk.get(`${form}/${name}`)).headers.get('location')).toBe(form)
})

test.skipIf(!onPostgres)('on PostgreSQL the page of backups shows the command', async () => {
  const { text } = await desk.get('/desk/backups')
  expect(text).toContain('app-platform backup /var')
  expect(text).not.toContain('action="/desk/backups"')
})

test.skipIf(onPostgres)(
  'making a backup asks before it removes older ones, and again if there are more than it said',
  async () => {
    const { database } = world.platform
    const names = () => database.backups?.list().map(({ name }) => name) ?? []
    const form = '/desk/backups'
    const ended = async () => {
      while ((await desk.get(form)).text.includes('follows it by itself')) await Bun.sleep(10)
    }
    await desk.submit(form, form, { keep: '30' })
    await ended()
    const before = names()
    const asked = await desk.submit(form, form, { keep: '1' })
    expect(asked.status).toBe(200)
    expect(asked.text).toContain(`Remove ${before.length} older backup`)
    expect(names()).toEqual(before)
    const hidden = hiddenFields(asked.text, form)
    expect(await desk.post(form, { ...hidden, removes: String(before.length + 1) })).toMatchObject({ status: 200 })
    expect(names()).toEqual(before)
    expect((await desk.post(form, hidden)).status).toBe(303)
    await ended()
    expect(names()).toHaveLength(1)
  },
)
