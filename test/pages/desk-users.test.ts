import { afterAll, beforeAll, expect, test } from 'bun:test'
import { setOperator } from '../../src/operations/users/change-user.ts'
import { ticketBook } from '../../src/pages/visit.ts'
import { call } from '../support/call.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { addUser, endWorld, grantTokens, signIn } from '../support/world.ts'
import { addOperator, createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import { type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

let world: OperatorWorld
let url: string
let desk: PlainBrowser
beforeAll(async () => {
  world = await createOperatorWorld({ ownProcess: true }) // where hashing a password takes its time
  url = world.server.url
  desk = await signedInBrowser(url, world.operator)
})
afterAll(async () => await endWorld(world))

const queries = () => world.platform.database.queries
const latestEvent = async () => (await queries().audit.list({ appId: null, since: 0, limit: 1 }))[0]
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ')
const newUser = '/desk/users/new'
let counted = 0
const somebody = () => ({ email: `new-${(counted += 1)}@example.com`, name: 'New Person', password: '' })
const canSignIn = async (email: string, password: string) =>
  (await call(url, 'POST', '~/api/session', { body: { email, password } })).status === 200
const shownPassword = (html: string) => /id="secret"[^>]*value="([^"]+)"/.exec(html)?.[1] ?? ''

test('a generated password of a new user is shown once and stored nowhere', async () => {
  const typed = somebody()
  const created = await desk.submit(newUser, newUser, typed)
  expect([created.status, created.text]).toEqual([303, ''])
  const place = created.headers.get('location') ?? ''
  expect(created.headers.get('set-cookie')).toMatch(/^shown=[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/)
  // Another page, and the same page in another session, do not show it.
  expect(shownPassword((await desk.get(`/desk/users/${world.user.id}/new-password`)).text)).toBe('')
  const other = await signedInBrowser(url, world.colleague)
  other.cookies.set('shown', desk.cookies.get('shown') ?? '')
  expect(shownPassword((await other.get(place)).text)).toBe('')
  const { status, text, headers } = await desk.get(place)
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const password = shownPassword(text)
  expect(shownPassword((await desk.get(place)).text)).toBe('')
  expect(password).toMatch(/^[0-9A-Za-z]{22}$/)
  expect(await canSignIn(typed.email, password)).toBe(true)
  const user = await queries().users.byEmail(typed.email)
  expect(user).toMatchObject({ isOperator: false, status: 'active' })
  expect((await desk.get(`/desk/users/${user?.id ?? ''}`)).text).not.toContain(password)
  const events = JSON.stringify(await queries().audit.list({ appId: null, since: 0, limit: 1000 }))
  expect(events).not.toContain(password)
  expect(world.server.log()).not.toContain(password)
})

test('a typed password of a new user is shown on no page', async () => {
  const typed = { ...somebody(), password: 'typed by a person', operator: 'yes' } // a field that the form does not have
  const { status, headers, text } = await desk.submit(newUser, newUser, typed)
  expect([status, text]).toEqual([303, ''])
  const location = headers.get('location') ?? ''
  expect((await desk.get(location, { 'sec-fetch-site': 'same-origin' })).text).toContain('The user is created')
  // A link on another site shows no notice.
  expect((await desk.get(location, { 'sec-fetch-site': 'cross-site' })).text).not.toContain('The user is created')
  expect(await canSignIn(typed.email, typed.password)).toBe(true)
  expect((await queries().users.byEmail(typed.email))?.isOperator).toBe(false)
})

test('a user is created once, even if the form is sent several times', async () => {
  const typed = somebody()
  const hidden = await desk.formOn(newUser, newUser)
  const answers = await Promise.all(
    Array.from({ length: 3 }, async () => await desk.post(newUser, { ...hidden, ...typed, email: `x${typed.email}` })),
  )
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  for (const { text, headers } of answers.filter(({ status }) => status !== 303)) {
    expect(headers.get('set-cookie')).toBeNull()
    expect(text).toContain('Nothing was done a second time.')
  }
  const another = await desk.post(newUser, { ...hidden, ...typed })
  expect(another.text).toContain('Nothing was done a second time.')
  expect(await queries().users.byEmail(typed.email)).toBeNull()
})

test.each([
  ['a malformed address', { email: 'nobody' }, 'The email address is malformed.'],
  ['a name that turns the text round', { name: 'a\u202eb' }, 'The name has control characters.'],
  ['an empty name', { name: ' ' }, 'The name is empty.'],
  ['a short password', { password: 'short' }, 'The password has fewer than 8 characters.'],
  ['a password that everybody uses', { password: 'Password1' }, 'one of the 10,000 most common ones'],
])('users are not created with %s, and what was typed stays but the password', async (_, wrong, sentence) => {
  const typed = { ...somebody(), name: 'Kept', password: 'long enough, this', ...wrong }
  const { status, text } = await desk.submit(newUser, newUser, typed)
  expect(status).toBe(400)
  expect(text).toContain(sentence)
  if (typed.name === 'Kept') expect(text).toContain('value="Kept"')
  expect(text).toContain(`value="${typed.email}"`)
  expect(text).not.toContain(typed.password)
  expect(await queries().users.byEmail(typed.email)).toBeNull()
})

test('a user with an address that is taken is refused', async () => {
  const { status, text } = await desk.submit(newUser, newUser, { ...somebody(), email: world.user.email })
  expect([status, text.includes('This email address has a user already.')]).toEqual([400, true])
})

test('disabling a user ends their sessions and stops their grants, and enabling restores the grants', async () => {
  const user = await addUser(world.platform, 'Disabled Soon')
  const token = await signIn(url, user)
  const { accessToken } = await grantTokens({ ...world, user })
  const path = `/desk/users/${user.id}`
  const allowed = async () => (await call(url, 'GET', '/oauth/me', { token: accessToken })).status
  expect((await desk.submit(path, `${path}/disable`)).status).toBe(303)
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(401)
  expect(await allowed()).toBe(401)
  expect(await canSignIn(user.email, user.password)).toBe(false)
  expect((await desk.submit(path, `${path}/enable`)).status).toBe(303)
  expect(await canSignIn(user.email, user.password)).toBe(true)
  expect(await allowed()).toBe(200)
})

test('a new password is shown once, and ends the old one and every session', async () => {
  const user = await addUser(world.platform, 'Forgetful')
  const token = await signIn(url, user)
  const path = `/desk/users/${user.id}`
  const hidden = await desk.formOn(path, `${path}/password`)
  const answers = await Promise.all(Array.from({ length: 5 }, async () => await desk.post(`${path}/password`, hidden)))
  const sealed = answers.flatMap(({ headers }) => /^shown=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? [])
  const passwords: string[] = []
  for (const value of sealed) {
    desk.cookies.set('shown', value)
    passwords.push(shownPassword((await desk.get(`${path}/new-password`)).text))
  }
  // Of simultaneous requests one wins, and only its redirect leads to a password; a later request may win again.
  const works = await Promise.all(passwords.map(async (password) => await canSignIn(user.email, password)))
  expect(works.filter((works) => works)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(5 - passwords.length)
  expect(await canSignIn(user.email, user.password)).toBe(false)
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(401)
  expect((await queries().users.byId(user.id))?.status).toBe('active')
})

test('users get operator rights and lose them again', async () => {
  const user = await addUser(world.platform, 'Promoted')
  const path = `/desk/users/${user.id}`
  await desk.submit(path, `${path}/make-operator`)
  expect((await (await signedInBrowser(url, user)).get('/desk/reviews')).status).toBe(200)
  expect(await latestEvent()).toMatchObject({ action: 'session.created', actorId: user.id })
  await desk.submit(path, `${path}/withdraw-operator`)
  expect(await latestEvent()).toMatchObject({ action: 'user.operator_withdrawn', actorId: world.operator.id })
  expect((await (await signedInBrowser(url, user)).get('/desk/reviews')).status).toBe(404)
})

test('an operator is disabled only by typing their address', async () => {
  const other = await addOperator(world.platform, 'Typed Twice')
  const path = `/desk/users/${other.id}`
  for (const typed of ['', world.operator.email]) {
    const refused = await desk.submit(path, `${path}/disable`, { typed })
    expect([refused.status, refused.text.includes('This is not the name above.')]).toEqual([400, true])
    expect((await queries().users.byId(other.id))?.status).toBe('active')
  }
  expect((await desk.submit(path, `${path}/disable`, { typed: ` ${other.email}` })).status).toBe(303)
  expect((await queries().users.byId(other.id))?.status).toBe('disabled')
})

test('an operator cannot remove their own rights: no page has the form, and a forged one is refused', async () => {
  const own = `/desk/users/${world.operator.id}`
  const { text } = await desk.get(own)
  expect(text).toContain('This is you.')
  expect(text).not.toContain(`action="${own}/`)
  // No page has such a form, so its ticket is made here as the server would make it.
  const door = { platform: world.platform, serverKey: await serverKeyIn(world.server.database) }
  const tickets = ticketBook(door, desk.cookies.get('session') ?? '')
  for (const step of ['disable', 'withdraw-operator']) {
    const action = `${own}/${step}`
    const refused = await desk.post(action, { ticket: tickets.issue(action), typed: world.operator.email })
    expect([refused.status, refused.text.includes('You cannot take your own rights away')]).toEqual([400, true])
  }
  expect(await queries().users.byId(world.operator.id)).toMatchObject({ status: 'active', isOperator: true })
})

test('an operator cannot generate a new password for themselves: the page links to the one that asks for the current password', async () => {
  const own = `/desk/users/${world.operator.id}`
  const before = (await queries().users.byId(world.operator.id))?.passwordHash
  expect((await desk.get(own)).text).toContain('href="/account/password"')
  const action = `${own}/password`
  const door = { platform: world.platform, serverKey: await serverKeyIn(world.server.database) }
  const tickets = ticketBook(door, desk.cookies.get('session') ?? '')
  const { status, text } = await desk.post(action, { ticket: tickets.issue(action) })
  expect([status, text.includes('You cannot reset your own password here')]).toEqual([400, true])
  expect(shownPassword(text)).toBe('')
  expect((await queries().users.byId(world.operator.id))?.passwordHash).toBe(before ?? '')
  const told = { action: 'page.change', outcome: 'refused', reason: 'invalid_request', actorId: world.operator.id }
  expect(await latestEvent()).toMatchObject(told)
  expect((await desk.get(own)).status).toBe(200)
})

test('users are found by a part of their name or address', async () => {
  const { text } = await desk.get('/desk/users?q=olive')
  expect(text).toContain(`href="/desk/users/${world.operator.id}"`)
  expect(text).not.toContain(`href="/desk/users/${world.user.id}"`)
  expect(textOf(text)).toMatch(/Olive Operator\s+Active\s+Operator/)
  expect((await desk.get('/desk/users/usr_nobody')).status).toBe(404)
})

test('a form fails in its transaction when the operator rights were removed in the meantime', async () => {
  const leaving = await addOperator(world.platform, 'Leaving')
  const browser = await signedInBrowser(url, leaving)
  const path = `/desk/users/${world.user.id}`
  const typed = somebody()
  const reset = await browser.formOn(path, `${path}/password`)
  const create = await browser.formOn(newUser, newUser)
  const before = await queries().users.byId(world.user.id)
  // Both requests are authenticated by now, and still hash a password.
  const answers = Promise.all([browser.post(`${path}/password`, reset), browser.post(newUser, { ...create, ...typed })])
  await Bun.sleep(100)
  await setOperator(world.platform, trace, commandLine, { userId: leaving.id, isOperator: false })
  expect((await answers).map(({ status }) => status)).toEqual([404, 404])
  expect((await queries().users.byId(world.user.id))?.passwordHash).toBe(before?.passwordHash ?? '')
  expect(await queries().users.byEmail(typed.email)).toBeNull()
})
