import { expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { addApp, appToken } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const actionsIn = (html: string) =>
  [...html.matchAll(/<dt>Event<\/dt><dd><code>([a-z_.]+)<\/code>/g)].map(([, action = '']) => action)
const ask = async (query: Readonly<Record<string, string>>) =>
  await desk.get(`/desk/audit?${new URLSearchParams(query).toString()}`)

test('the audit log lists all events, including issued tokens, newest first and in pages', async () => {
  const { slug, production } = await addApp(world.platform, world.user)
  await Bun.sleep(2) // the order of events of one millisecond is open
  for (let index = 0; index < 60; index += 1) await appToken(url, production)
  const first = await ask({ app: slug })
  expect(actionsIn(first.text)).toEqual(Array.from({ length: 50 }, () => 'app_token.issued'))
  const next = /href="(\/desk\/audit\?[^"]*cursor=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(next).toContain(`app=${slug}`)
  const rest = actionsIn((await desk.get(next)).text)
  expect(rest.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'app_token.issued'))
  expect(rest.at(-1)).toBe('app.created')
})

test('the audit log is filtered by actor, action, outcome and time', async () => {
  await call(url, 'POST', '~/api/session', { body: { email: world.user.email, password: 'wrong password' } })
  const refused = await ask({ actor: world.user.email, action: 'session', outcome: 'refused', kind: 'user' })
  expect(new Set(actionsIn(refused.text))).toEqual(new Set(['session.create']))
  expect(refused.text).toContain('The email address or the password is wrong.')
  expect(refused.text).toContain('tried to sign in')
  expect(refused.text).toContain(`value="${world.user.email}"`)
  expect(actionsIn((await ask({ since: '2999-01-01' })).text)).toEqual([])
  expect(actionsIn((await ask({ until: '1999-01-01T12:00' })).text)).toEqual([])
  expect(actionsIn((await ask({ since: '2000-01-01 00:00', until: '2999-01-01T00:00:00Z' })).text)).toHaveLength(50)
})

test('the audit log has the events about one thing, issued tokens among them', async () => {
  const [one, other] = [await addApp(world.platform, world.user), await addApp(world.platform, world.user)]
  for (const { production } of [one, other]) await appToken(url, production)
  const { platform } = world
  const [credential] = await platform.database.queries.credentials.listByClient(one.production.clientId)
  const { text } = await ask({ target: credential?.id ?? '' })
  expect(actionsIn(text)).toEqual(['app_token.issued', 'credential.created'])
  expect(text).toContain(`name="target" value="${credential?.id}"`)
  const app = await ask({ target: other.id })
  expect(actionsIn(app.text)).toContain('app.created')
  expect(app.text).not.toContain(one.id)
  expect(actionsIn((await ask({ target: 'nothing' })).text)).toEqual([])
})

test('the audit log lists the events of one request in order', async () => {
  const path = `/desk/apps/${world.app.slug}`
  const { headers } = await desk.submit(path, `${path}/suspend`)
  await desk.submit(path, `${path}/activate`)
  const { text } = await ask({ request: headers.get('x-request-id') ?? '' })
  expect(actionsIn(text)).toEqual(['app.suspended'])
  expect(text).toContain('All events of this request.')
})

test.each([
  [{ app: 'no-such-app' }, 'There is no app with this slug or ID.'],
  [{ actor: 'nobody@example.com' }, 'There is no user with this address.'],
  [{ request: 'abc' }, 'A request ID is req_ followed by 32 of the characters 0-9 and a-f.'],
  [{ since: 'yesterday' }, 'Write a time as 2026-08-01 or 2026-08-01T12:00, in UTC.'],
  [{ until: '2026-02-30' }, 'There is no such day or time.'],
  [{ until: '2026-02-28T24:30' }, 'There is no such day or time.'],
  [{ since: '2026-08-02', until: '2026-08-01' }, 'The end must be after the beginning.'],
])('the audit log says which filter it does not understand: %p', async (query, sentence) => {
  const { status, text } = await ask(query)
  expect([status, text.includes(sentence)]).toEqual([400, true])
  expect(text).toContain('aria-invalid="true"')
})

test('the audit log refuses filter values that its form does not offer', async () => {
  const strange = [{ kind: 'robot' }, { outcome: 'maybe' }, { cursor: 'x' }, { cursor: 'ZGVzay1hdWRpdCB4' }]
  for (const query of strange) expect((await ask(query)).status).toBe(400)
  expect((await desk.get('/desk/audit?app=a&app=b')).status).toBe(400)
})

test('the audit log tells events as sentences with names that lead to their pages', async () => {
  const path = `/desk/apps/${world.app.slug}`
  await desk.submit(path, `${path}/suspend`)
  await desk.submit(path, `${path}/activate`)
  const { text } = await ask({ app: world.app.slug, action: 'app.suspended' })
  expect(text).toContain(
    `<a href="/desk/users/${world.operator.id}"><bdi>Olive Operator</bdi></a> suspended <a href="${path}"><bdi>Newsletter</bdi></a>`,
  )
  expect(text).toMatch(/<time datetime="[^"]+" title="[^"]+ UTC" data-ago[^>]*>just now<\/time>/)
})
