import { beforeEach, describe, expect, test } from 'bun:test'
import type { AuditEvent } from '../../db/database.ts'
import { formTicket } from '../../src/domain/form-ticket.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { signIn as signInBeside } from '../support/sign-in.ts'
import { auditEvents } from '../support/audit-events.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { startServer } from '../support/running-server.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addApp,
  addUser,
  createWorld,
  grantTokens,
  type Login,
  signIn,
  type Tokens,
  type World,
} from '../support/world.ts'
import { type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server

let user: Login
let browser: PlainBrowser
beforeEach(async () => {
  user = await addUser(world.platform)
  browser = await signedInBrowser(url, user)
})

const sessionOf = ({ cookies }: PlainBrowser): string => cookies.get('session') ?? ''
const keyOf = (sessionToken: string): string => sessionToken.slice(5, 27)
const isSignedIn = async (token: string) => (await call(url, 'GET', '~/api/session', { token })).status === 200
const works = async ({ accessToken }: Pick<Tokens, 'accessToken'>) =>
  (await call(url, 'GET', '/oauth/me', { token: accessToken })).status === 200
const connect = async (by = user) => await grantTokens({ ...world, user: by })
/** A ticket as the server would issue it to this browser. A person can compute one, because they know their own cookie. */
const ticketFor = async ({ platform, server }: World, of: PlainBrowser, action: string): Promise<string> =>
  formTicket(
    { server: await serverKeyIn(server.database), browser: sessionOf(of) },
    { action, bound: [] },
    rowKey(platform.random.uuid(platform.clock.now())),
  )
const eventsOf = async (requestId: string | null): Promise<AuditEvent[]> =>
  (await auditEvents(world.platform)).filter((event) => event.requestId === requestId)
const clientId = () => world.app.development.clientId

test('a form that ends something ends it, and can be sent twice with the same answer', async () => {
  const [tokens, other] = [await connect(), await signIn(url, user)]
  for (const action of [
    `/account/sessions/${keyOf(other)}/end`,
    `/account/apps/${clientId()}/authorizations/${tokens.grantId}/revoke`,
    `/account/apps/${clientId()}/revoke`,
  ]) {
    const ticket = await ticketFor(world, browser, action)
    const answers = [await browser.post(action, { ticket }), await browser.post(action, { ticket })]
    expect(answers.map(({ status, headers }) => [action, status, headers.get('location')])).toEqual(
      answers.map(() => [action, 303, answers[0]?.headers.get('location') ?? '']),
    )
  }
  expect([await works(tokens), await isSignedIn(other)]).toEqual([false, false])
})

test('all other sessions end together, and so does the access of every app', async () => {
  const app = await addApp(world.platform, user)
  const [tokens, others, other] = [await connect(), await grantTokens({ ...world, user, app }), await signIn(url, user)]
  expect((await browser.get('/account')).text).toContain('You are signed in here and in 3 other places.')
  await browser.submit('/account/sessions', '/account/sessions/end-others')
  await browser.submit('/account/apps', '/account/apps/revoke-all', { typed: user.email })
  expect([await works(tokens), await works(others), await isSignedIn(other)]).toEqual([false, false, false])
  expect(await isSignedIn(sessionOf(browser))).toBe(true)
  expect((await browser.get('/account/apps')).text).toContain('No app can act for you')
})

test('connected apps are shown with what each may do, and whether it is suspended', async () => {
  const app = await addApp(world.platform, await addUser(world.platform, 'Grace Publisher'))
  await grantTokens({ ...world, user, app }, 'profile:read')
  await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
  for (const scope of ['profile.email:read', 'site:read']) await grantTokens({ ...world, user }, scope)
  const text = (await browser.get('/account/apps')).text.replaceAll(/<[^>]*>/g, ' ')
  const [connected = '', suspended = ''] = text.split(/Revoke access(?! of every)/)
  for (const words of ['Suspended', 'Grace Publisher', 'See your name and picture']) expect(suspended).toContain(words)
  for (const words of ['Development', 'See your email address', 'List your websites', '2 devices or browsers'])
    expect(connected).toContain(words)
  expect(connected).not.toContain('Suspended')
})

const passwords = () => ({ current: user.password, password: 'never to be stored', repeated: 'never to be stored' })

const change = async (fields: Partial<ReturnType<typeof passwords>> = {}) =>
  await browser.submit('/account/password', '/account/password', { ...passwords(), ...fields })

test('what is typed is read without the spaces around it, which a keyboard adds; a password is read as it is', async () => {
  const app = { name: ' Reports\u00a0', slug: ' reports\t', scopes: ['profile:read '] }
  expect((await browser.submit('/console/new', '/console/new', app)).headers.get('location')).toStartWith(
    '/console/reports',
  )
  const page = '/console/reports/redirect-uris'
  const uri = { environment: 'development', uri: '\n https://reports.example/callback ' }
  expect((await browser.submit(page, page, uri)).status).toBe(303)
  expect((await browser.get(page)).text).toContain('>https://reports.example/callback<')
  const spaced = ' spaces are a part of it '
  expect((await change({ password: spaced, repeated: spaced })).status).toBe(303)
  await expect(signIn(url, { ...user, password: spaced.trim() })).rejects.toThrow()
  await signIn(url, { ...user, password: spaced })
})

describe('a changed password', () => {
  test('has each fault at its field', async () => {
    for (const [fields, field, says] of [
      [{ current: 'wrong password' }, 'current', 'The current password is wrong.'],
      [{ repeated: 'another one' }, 'repeated', 'The two new passwords differ.'],
      [{ password: 'short', repeated: 'short' }, 'password', 'The password has fewer than 8 characters.'],
    ] as const)
      expect((await change(fields)).text).toMatch(new RegExp(`id="${field}-fault"[^>]*>${says}`))
  })

  test('gives this browser a new session cookie, and leaves an audit event', async () => {
    const [before, elsewhere, tokens] = [sessionOf(browser), await signIn(url, user), await connect()]
    const stale = await browser.formOn('/account/sessions', '/account/sessions/end-others')
    const answer = await change()
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account/password?done=changed'])
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^app-platform-\d+-session=apus_\w{71}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/),
    ])
    expect(sessionOf(browser)).not.toBe(before)
    expect(await Promise.all([before, elsewhere, sessionOf(browser)].map(isSignedIn))).toEqual([false, false, true])
    expect(await works(tokens)).toBe(true)
    expect((await browser.post('/account/sessions/end-others', stale)).status).toBe(303) // what was typed is shown again
    expect(await eventsOf(answer.headers.get('x-request-id'))).toMatchObject([
      { action: 'user.password_changed', actorId: user.id, target: user.id, outcome: 'done' },
    ])
  })

  test('is never sent back to the browser, and a wrong current password leaves an audit event', async () => {
    const answer = await change({ current: 'wrong password' })
    expect(answer.status).toBe(401)
    for (const secret of ['wrong password', 'never to be stored', user.password]) {
      expect(answer.text).not.toContain(secret)
    }
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await eventsOf(answer.headers.get('x-request-id'))).toMatchObject([
      { action: 'user.change_password', actorId: user.id, outcome: 'refused', reason: 'invalid_login' },
    ])
  })
})

describe('long lists', () => {
  test('of sessions are paged, and each session appears once', async () => {
    for (let count = 0; count < 70; count += 1) await signInBeside(world.platform, trace, user)
    const seen: string[] = []
    for (let path: string | undefined = '/account/sessions'; path !== undefined;) {
      const { text } = await browser.get(path)
      seen.push(...[...text.matchAll(/href="\/account\/sessions\/(\w{22})\/end["?]/g)].map(([, key = '']) => key))
      path = /href="(\/account\/sessions\?cursor=[\w-]+)" rel="next"/.exec(text)?.[1]
    }
    // The session of this browser has a button that signs out.
    expect([seen.length, new Set(seen).size]).toEqual([70, 70])
    expect(seen).not.toContain(keyOf(sessionOf(browser)))
    for (const cursor of ['x', '', 'c2Vzc2lvbnMgeA', 'a&cursor=b']) {
      expect((await browser.get(`/account/sessions?cursor=${cursor}`)).status).toBe(400)
    }
  })
})

test('a form stays valid after a restart, and a form made with another server key is refused', async () => {
  const own = await createWorld()
  const { database } = own.server
  const before = await signedInBrowser(own.server.url, own.user)
  const action = '/account/sessions/end-others'
  const ticket = await ticketFor(own, before, action)
  const session = { 'Sec-Fetch-Site': 'same-origin' }
  await own.server.stop()
  const again = await startServer({ database })
  const send = async (body: string) =>
    await fetch(`${again.url}${action}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...session,
        Cookie: sessionCookieOf(again.url, sessionOf(before)),
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ ticket: body }),
    })
  const { clock, random } = own.platform
  const keys = { server: new Uint8Array(32), browser: sessionOf(before) }
  const forged = formTicket(keys, { action, bound: [] }, rowKey(random.uuid(clock.now())))
  expect((await send(forged)).status).toBe(403)
  expect((await send(ticket)).status).toBe(303)
  await own.platform.database.close()
  await again.stop()
})
