import { expect, test } from 'bun:test'
import { setOperator } from '../../src/operations/users/users.ts'
import { ticketBook } from '../../src/pages/visit.ts'
import { call } from '../support/call.ts'
import { cookieNamed } from '../support/cookie.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { addUser, grantTokens, signIn } from '../support/world.ts'
import { addOperator, operatorWorldOfFile } from './support/operator-world.ts'
import { hiddenFields, plainBrowser, signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile({ ownProcess: true }) // where hashing a password takes its time
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const queries = () => world.platform.database.queries
const latestEvent = async () => (await queries().audit.list({ appId: null, since: 0, limit: 1 }))[0]
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ')
const newUser = '/desk/users/new'
let counted = 0
const somebody = () => ({ email: `new-${(counted += 1)}@example.com`, name: 'New Person' })
const canSignIn = async (email: string, password: string) =>
  (await call(url, 'POST', '~/api/session', { body: { email, password } })).status === 200
const shownLink = (html: string) => /id="secret"[^>]*value="([^"]+)"/.exec(html)?.[1] ?? ''

const next = 'four unrelated words here'
/** Opens the link in a browser that nobody uses, and sets the password. */
const setPassword = async (link: string, password = next) => {
  const browser = plainBrowser(url)
  const { pathname, search } = new URL(link)
  const shown = await browser.get(pathname + search)
  if (shown.status !== 200) return shown
  const secret = new URL(link).searchParams.get('link') ?? ''
  return await browser.submit(pathname + search, pathname, { link: secret, password, repeated: password })
}

test('one link that is sent 75 times at once sets one password, and keeps nobody from signing in', async () => {
  const made = await desk.submit(newUser, newUser, somebody())
  const { pathname, search, searchParams } = new URL(
    shownLink((await desk.get(made.headers.get('location') ?? '')).text),
  )
  const browser = plainBrowser(url)
  const hidden = hiddenFields((await browser.get(pathname + search)).text, pathname)
  const link = searchParams.get('link') ?? ''
  const uses = Array.from(
    { length: 75 },
    async () => (await browser.post(pathname, { ...hidden, link, password: next, repeated: next })).status,
  )
  const { email, password } = world.colleague
  const known = await call(url, 'POST', '~/api/session', { body: { email, password } })
  const statuses = await Promise.all(uses)
  expect([known.status, statuses.filter((status) => status === 303).length]).toEqual([200, 1])
  expect(statuses.filter((status) => ![303, 410, 429].includes(status))).toEqual([])
})

test('the link of an invitation is shown once and stored nowhere, and with it the user sets a password', async () => {
  const typed = somebody()
  const created = await desk.submit(newUser, newUser, typed)
  expect([created.status, created.text]).toEqual([303, ''])
  const place = created.headers.get('location') ?? ''
  const [name, ...rest] = (created.headers.get('set-cookie') ?? '').split('=')
  expect(name).toBe(cookieNamed(url, 'shown'))
  expect(rest.join('=')).toMatch(/^[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/)
  // Another page, and the same page in another session, do not show it.
  expect(shownLink((await desk.get(`/desk/users/${world.user.id}/new-link`)).text)).toBe('')
  const other = await signedInBrowser(url, world.colleague)
  other.cookies.set('shown', desk.cookies.get('shown') ?? '')
  expect(shownLink((await other.get(place)).text)).toBe('')
  const { status, text, headers } = await desk.get(place)
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const link = shownLink(text)
  expect(shownLink((await desk.get(place)).text)).toBe('')
  expect(new URL(link).pathname).toBe('/set-password')
  expect((await setPassword(link, 'short')).text).toContain('fewer than 8 characters')
  const set = await setPassword(link)
  expect([set.status, set.headers.get('location')]).toEqual([303, '/'])
  expect(await canSignIn(typed.email, next)).toBe(true)
  const again = await setPassword(link)
  expect([again.status, again.text.includes('This link does not work')]).toEqual([410, true])
  const user = await queries().users.byEmail(typed.email)
  expect(user).toMatchObject({ isOperator: false, status: 'active' })
  const secret = new URL(link).searchParams.get('link') ?? ''
  expect((await desk.get(`/desk/users/${user?.id ?? ''}`)).text).not.toContain(secret)
  const events = JSON.stringify(await queries().audit.list({ appId: null, since: 0, limit: 1000 }))
  expect(events).not.toContain(secret)
  expect(world.server.log()).not.toContain(secret)
})

test('the page of a link sends no referrer, is not stored, and takes its form only from the browser that saw it', async () => {
  const place = (await desk.submit(newUser, newUser, somebody())).headers.get('location') ?? ''
  const { pathname, search, searchParams } = new URL(shownLink((await desk.get(place)).text))
  const first = plainBrowser(url)
  const { headers } = await first.get(pathname + search)
  expect(headers.get('referrer-policy')).toBe('strict-origin')
  expect(headers.get('cache-control')).toBe('no-store')
  const hidden = await first.formOn(pathname + search, pathname)
  const fields = { ...hidden, link: searchParams.get('link') ?? '', password: next, repeated: next }
  expect((await plainBrowser(url).post(pathname, fields)).text).toContain('Your browser sent no cookie')
  expect((await first.post(pathname, { ...fields, link: 'appl_other' })).status).not.toBe(303)
  // Two tabs: both show the form, one sets the password.
  expect((await first.post(pathname, fields)).status).toBe(303)
  expect((await first.post(pathname, fields)).status).toBe(410)
  expect((await first.get(pathname + search)).text).toContain('This link does not work') // the back button
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
])('users are not created with %s, and what was typed stays', async (_, wrong, sentence) => {
  const typed = { ...somebody(), name: 'Kept', ...wrong }
  const { status, text } = await desk.submit(newUser, newUser, typed)
  expect(status).toBe(400)
  expect(text).toContain(sentence)
  if (typed.name === 'Kept') expect(text).toContain('value="Kept"')
  expect(text).toContain(`value="${typed.email}"`)
  expect(await queries().users.byEmail(typed.email)).toBeNull()
})

test('a user with an address that is taken is refused', async () => {
  const { status, text } = await desk.submit(newUser, newUser, { ...somebody(), email: world.user.email })
  expect([status, text.includes('A user with this email address already exists.')]).toEqual([400, true])
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

test('a reset link is shown once; the old password and the sessions end when it is used, and only the newest works', async () => {
  const user = await addUser(world.platform, 'Forgetful')
  const token = await signIn(url, user)
  const path = `/desk/users/${user.id}`
  const links: string[] = []
  for (const _ of [1, 2]) {
    const answer = await desk.submit(`${path}/reset-link`, `${path}/reset-link`)
    links.push(shownLink((await desk.get(answer.headers.get('location') ?? '')).text))
  }
  const [older = '', newest = ''] = links
  expect(await canSignIn(user.email, user.password)).toBe(true)
  expect((await setPassword(older)).status).toBe(410)
  expect((await setPassword(newest)).status).toBe(303)
  expect(await canSignIn(user.email, user.password)).toBe(false)
  expect(await canSignIn(user.email, next)).toBe(true)
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(401)
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
    expect([refused.status, refused.text.includes('This does not match.')]).toEqual([400, true])
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
    expect([refused.status, refused.text.includes('You cannot remove your own operator rights')]).toEqual([400, true])
  }
  expect(await queries().users.byId(world.operator.id)).toMatchObject({ status: 'active', isOperator: true })
})

test('an operator cannot make a reset link for themselves: the page links to the one that asks for the current password', async () => {
  const own = `/desk/users/${world.operator.id}`
  const before = (await queries().users.byId(world.operator.id))?.passwordHash
  expect((await desk.get(own)).text).toContain('href="/account/password"')
  const action = `${own}/reset-link`
  const door = { platform: world.platform, serverKey: await serverKeyIn(world.server.database) }
  const tickets = ticketBook(door, desk.cookies.get('session') ?? '')
  const { status, text } = await desk.post(action, { ticket: tickets.issue(action) })
  expect([status, text.includes('You cannot reset your own password here')]).toEqual([400, true])
  expect(shownLink(text)).toBe('')
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

test('a form fails when the operator rights were removed in the meantime', async () => {
  const leaving = await addOperator(world.platform, 'Leaving')
  const browser = await signedInBrowser(url, leaving)
  const path = `/desk/users/${world.user.id}`
  const typed = somebody()
  const reset = await browser.formOn(path, `${path}/reset-link`)
  const create = await browser.formOn(newUser, newUser)
  await setOperator(world.platform, trace, commandLine, { userId: leaving.id, isOperator: false })
  const answers = [
    await browser.post(`${path}/reset-link`, reset),
    await browser.post(newUser, { ...create, ...typed }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404])
  expect(await queries().personal.rows('passwordLinks', world.user.id)).toEqual([])
  expect(await queries().users.byEmail(typed.email)).toBeNull()
})
