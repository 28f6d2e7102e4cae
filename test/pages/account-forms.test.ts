import { beforeEach, describe, expect, test } from 'bun:test'
import type { AuditEvent } from '../../db/database.ts'
import { formTicket } from '../../src/domain/form-ticket.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { signIn as signInBeside } from '../support/sign-in.ts'
import { auditEvents } from '../support/audit-events.ts'
import { call, codeOf } from '../support/call.ts'
import { trace } from '../support/operator.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { startServer } from '../support/running-server.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addUser,
  authorize,
  createWorld,
  exchange,
  grantTokens,
  type Login,
  refresh,
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
/** The tokens that still work. */
const workingOf = async (all: readonly Tokens[]): Promise<Tokens[]> => {
  const answers = await Promise.all(all.map(async (tokens) => ((await works(tokens)) ? [tokens] : [])))
  return answers.flat()
}
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

describe('a person acts only for themselves', () => {
  test('the session of another user is not ended, even with a genuine ticket', async () => {
    const stranger = await signIn(url, await addUser(world.platform))
    for (const key of [keyOf(stranger), 'nothing']) {
      const action = `/account/sessions/${key}/end`
      const answer = await browser.post(action, { ticket: await ticketFor(world, browser, action) })
      expect(answer.status).toBe(404)
      expect(await eventsOf(answer.headers.get('x-request-id'))).toEqual([])
    }
    expect(await isSignedIn(stranger)).toBe(true)
  })

  test('the grant of another user is not revoked, and does not exist', async () => {
    await connect()
    const stranger = await connect(await addUser(world.platform))
    const action = `/account/apps/${clientId()}/authorizations/${stranger.grantId}/revoke`
    const answer = await browser.post(action, { ticket: await ticketFor(world, browser, action) })
    expect(answer.status).toBe(404)
    expect((await browser.submit('/account/apps', `/account/apps/${clientId()}/revoke`)).status).toBe(303)
    expect((await browser.get(`/account/apps/${clientId()}`)).status).toBe(404)
    expect(await works(stranger)).toBe(true)
  })

  test('an app that only other users have connected cannot be seen or revoked', async () => {
    const stranger = await connect(await addUser(world.platform))
    for (const id of [clientId(), 'nobody']) {
      const [page, action] = [`/account/apps/${id}`, `/account/apps/${id}/revoke`]
      expect([(await browser.get(page)).status, (await browser.get(action)).status]).toEqual([404, 404])
      expect((await browser.post(action, { ticket: await ticketFor(world, browser, action) })).status).toBe(404)
    }
    expect(await works(stranger)).toBe(true)
  })

  test('a form that ends something can be sent twice, and both answers are the same', async () => {
    const [{ grantId }, other] = [await connect(), keyOf(await signIn(url, user))]
    for (const action of [
      `/account/sessions/${other}/end`,
      `/account/apps/${clientId()}/revoke`,
      `/account/apps/${clientId()}/authorizations/${grantId}/revoke`,
    ]) {
      const ticket = await ticketFor(world, browser, action)
      const answers = [await browser.post(action, { ticket }), await browser.post(action, { ticket })]
      expect(answers.map(({ status, headers }) => [action, status, headers.get('location')])).toEqual(
        answers.map(() => [action, 303, answers[0]?.headers.get('location') ?? '']),
      )
    }
  })
})

const passwords = () => ({ current: user.password, password: 'never to be stored', repeated: 'never to be stored' })
const formsOf = (tokens: Tokens, other: string) => [
  { page: '/account/password', action: '/account/password', fields: passwords() },
  { page: '/account/sessions', action: `/account/sessions/${keyOf(other)}/end`, fields: {} },
  { page: '/account/sessions', action: '/account/sessions/end-others', fields: {} },
  { page: '/account/apps', action: `/account/apps/${clientId()}/revoke`, fields: {} },
  {
    page: `/account/apps/${clientId()}`,
    action: `/account/apps/${clientId()}/authorizations/${tokens.grantId}/revoke`,
    fields: {},
  },
]

describe('every form', () => {
  test('is refused without a ticket of its session and path, and from other sites, and changes nothing', async () => {
    const [tokens, other] = [await connect(), await signIn(url, user)]
    const stranger = await signedInBrowser(url, user)
    const ofSignOut = await browser.formOn('/account', '/sign-out')
    for (const { page, action, fields } of formsOf(tokens, other)) {
      const own = await browser.formOn(page, action)
      const answers = [
        await browser.post(action, { ...fields, ticket: '' }),
        await browser.post(action, { ...fields, ...ofSignOut }),
        await browser.post(action, { ...fields, ticket: await ticketFor(world, stranger, action) }),
        await browser.post(
          action,
          { ...fields, ...own },
          { 'sec-fetch-site': 'cross-site', origin: 'https://a.example' },
        ),
        await browser.post(action, { ...fields, ...own }, { 'sec-fetch-site': 'same-site' }),
      ]
      for (const answer of answers) {
        expect(`${action} ${answer.status}`).toBe(`${action} 403`)
        const [event] = await eventsOf(answer.headers.get('x-request-id'))
        expect(event).toMatchObject({
          outcome: 'refused',
          reason: expect.stringMatching(/^form_(?:of_other_session|from_other_site)$/),
        })
      }
    }
    expect([await works(tokens), await isSignedIn(other), await isSignedIn(await signIn(url, user))]).toEqual([
      true,
      true,
      true,
    ])
  })

  test('changes nothing after its session has ended, and leads to the sign-in page', async () => {
    const [tokens, other] = [await connect(), await signIn(url, user)]
    const forms = formsOf(tokens, other)
    const tickets = await Promise.all(forms.map(async ({ page, action }) => await browser.formOn(page, action)))
    await call(url, 'DELETE', '~/api/session', { token: sessionOf(browser) })
    for (const [index, { action, fields }] of forms.entries()) {
      const { status, headers } = await browser.post(action, { ...fields, ...tickets[index] })
      const back = `/sign-in?return_to=${encodeURIComponent(action)}&form=kept`
      expect(`${action} ${status} ${headers.get('location')}`).toBe(`${action} 303 ${back}`)
    }
    expect([await works(tokens), await isSignedIn(other), await isSignedIn(await signIn(url, user))]).toEqual([
      true,
      true,
      true,
    ])
  })

  test('and every page requires a session', async () => {
    browser.cookies.clear()
    for (const path of ['', '/password', '/sessions', '/apps', `/apps/${clientId()}`]) {
      const { status, headers } = await browser.get(`/account${path}`)
      const back = encodeURIComponent(`/account${path}`)
      expect([status, headers.get('location')]).toEqual([303, `/sign-in?return_to=${back}`])
    }
  })
})

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

describe('revoking', () => {
  test('is complete when it is answered: a refresh in flight leaves no working token', async () => {
    const families: Tokens[] = []
    for (let count = 0; count < 6; count += 1) families.push(await connect())
    const action = `/account/apps/${clientId()}/revoke`
    const form = await browser.formOn('/account/apps', action)
    const issued: Tokens[] = [...families]
    /** Refreshes as fast as it can until it is refused, and returns the reason. */
    const keepAlive = async ({ refreshToken }: Tokens): Promise<string> => {
      const answer = await refresh(url, world.app, refreshToken)
      if (answer.status !== 200) return codeOf(answer)
      issued.push(answer.body)
      return await keepAlive(answer.body)
    }
    const alive = Promise.all(families.map(keepAlive))
    while (issued.length < 5 * families.length) await Bun.sleep(1)
    expect((await browser.post(action, form)).status).toBe(303)
    const answeredBefore = [...issued]
    expect(await workingOf(answeredBefore)).toEqual([])
    expect(new Set(await alive)).toEqual(new Set(['invalid_grant']))
    expect(await workingOf(issued)).toEqual([])
    for (const { refreshToken } of issued) {
      expect(codeOf(await refresh(url, world.app, refreshToken))).toBe('invalid_grant')
    }
    expect((await browser.get('/account/apps')).text).toContain('No app can act for you')
  })

  test('ends a code that has not been exchanged yet', async () => {
    const code = await authorize(url, await signIn(url, user), world.app)
    expect((await browser.get('/account/apps')).text).toContain('Never used')
    await browser.submit('/account/apps', `/account/apps/${clientId()}/revoke`)
    expect(codeOf(await exchange(url, world.app, code))).toBe('invalid_grant')
  })
})

describe('a notice', () => {
  test('is shown after a form, and not after a link on another site', async () => {
    const notice = 'Access revoked.'
    const told = async (headers: Readonly<Record<string, string>>, done = 'revoked') =>
      (await browser.get(`/account/apps?done=${done}`, headers)).text.includes(notice)
    expect(await told({ 'sec-fetch-site': 'same-origin' })).toBe(true)
    for (const site of ['cross-site', 'same-site', 'none']) expect(await told({ 'sec-fetch-site': site })).toBe(false)
    expect(await told({})).toBe(false)
    const { status, text } = await browser.get('/account/apps?done=<b>toString', { 'sec-fetch-site': 'same-origin' })
    expect([status, text.includes('toString')]).toEqual([200, false])
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
