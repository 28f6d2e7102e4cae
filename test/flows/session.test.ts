import { describe, expect, test } from 'bun:test'
import { createUser } from '../../src/operations/users/users.ts'
import { plainBrowser } from '../pages/support/plain-browser.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken, createWorld, endWorld, grantTokens, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url } = world.server

const tryIn = async (body: object, headers: Readonly<Record<string, string>> = {}) =>
  await call(url, 'POST', '~/api/session', { body, headers })
const right = () => ({ email: world.user.email, password: world.user.password })
const publicUrl = () => `http://localhost:${new URL(url).port}`

describe('signing in', () => {
  test('answers with a session token, and with the same as a cookie for this host only', async () => {
    const { status, body, headers } = await tryIn(right())
    expect(status).toBe(200)
    expect(body).toEqual({
      sessionToken: expect.stringMatching(/^apus_[0-9A-Za-z]{71}$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      user: { id: world.user.id, name: 'Ada Example', email: world.user.email },
    })
    const [cookie = '', ...attributes] = (headers.getSetCookie()[0] ?? '').split('; ')
    expect(cookie).toBe(sessionCookieOf(url, body.sessionToken))
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Lax'])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('sets a secure cookie on HTTPS', async () => {
    const secure = await createWorld({ env: { PUBLIC_URL: 'https://apps.example' } })
    try {
      const body = JSON.stringify({ email: secure.user.email, password: secure.user.password })
      const { headers } = await send(secure.server.url, 'POST', '~/api/session', { body })
      const [cookie = '', ...attributes] = (headers.getSetCookie()[0] ?? '').split('; ')
      expect(cookie).toStartWith('__Host-session=apus_')
      expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Lax', 'Secure'])
      const proof = { Origin: 'https://apps.example' }
      const told = await send(secure.server.url, 'GET', '~/api/session', { headers: { Cookie: cookie, ...proof } })
      expect(told.status).toBe(200)
      const plain = cookie.replace('__Host-', '')
      expectRefusal(
        await send(secure.server.url, 'GET', '~/api/session', { headers: { Cookie: plain, ...proof } }),
        'login_required',
      )
    } finally {
      await endWorld(secure)
    }
  })

  test('accepts the email address in any case', async () => {
    expect((await tryIn({ ...right(), email: world.user.email.toUpperCase() })).status).toBe(200)
  })

  test('accepts a password however the keyboard makes its letters, and an address however its host is written', async () => {
    const typed = {
      email: 'zoe@b\u00fccher.example',
      password: 'cre\u0300me bru\u0302le\u0301e',
    }
    await createUser(world.platform, trace, operator, { ...typed, name: 'Zoe', isOperator: false })
    for (const password of [typed.password, typed.password.normalize('NFC'), typed.password.normalize('NFD')]) {
      for (const email of [typed.email, 'zoe@xn--bcher-kva.example', 'ZOE@BU\u0308CHER.example']) {
        expect((await tryIn({ email, password })).status).toBe(200)
        const browser = plainBrowser(url)
        expect((await browser.submit('/sign-in', '/sign-in', { email, password })).status).toBe(303)
      }
    }
    expect((await tryIn({ ...typed, password: 'creme brulee' })).status).toBe(401)
  })

  test('gives the same answer for an unknown address and a wrong password, and sets no cookie', async () => {
    const told = new Set<string>()
    const wrong = [
      { ...right(), password: 'wrong' },
      { ...right(), password: `${world.user.password} ` },
      { ...right(), password: world.user.password.toUpperCase() },
      { ...right(), email: 'nobody@example.com' },
      { ...right(), email: 'not an address' },
      { ...right(), password: 'x'.repeat(73) },
      { ...right(), password: `${world.user.password}${'\u{1F511}'.repeat(20)}` },
    ]
    for (const body of wrong) {
      const answer = await tryIn(body)
      expectRefusal(answer, 'invalid_login')
      expect(answer.headers.get('set-cookie')).toBeNull()
      const { requestId: _, ...rest } = answer.body.error
      told.add(JSON.stringify(rest))
    }
    expect(told.size).toBe(1)
    expectRefusal(
      await send(url, 'POST', '~/api/session', { body: String.raw`{"email":"a","password":"a\u0000"}` }),
      'invalid_json',
    )
  })

  test('is not possible from a page of another origin', async () => {
    for (const Origin of ['https://evil.example', 'null', '']) {
      expectRefusal(await tryIn(right(), { Origin }), 'origin_not_allowed')
    }
    for (const site of ['cross-site', 'same-site', '']) {
      expectRefusal(await tryIn(right(), { 'Sec-Fetch-Site': site }), 'origin_not_allowed')
    }
    for (const site of ['same-origin', 'none'])
      expect((await tryIn(right(), { 'Sec-Fetch-Site': site })).status).toBe(200)
    expect((await tryIn(right(), { Origin: publicUrl() })).status).toBe(200)
  })
})

describe('the session', () => {
  test('identifies the user, by token or by cookie with proof of the same origin', async () => {
    const token = await signIn(url, world.user)
    const told = {
      expiresAt: expect.stringMatching(/Z$/),
      user: { id: world.user.id, name: 'Ada Example', email: world.user.email },
    }
    expect((await call(url, 'GET', '~/api/session', { token })).body).toEqual(told)
    const Cookie = sessionCookieOf(url, token)
    expect(
      (await send(url, 'GET', '~/api/session', { headers: { Cookie, 'Sec-Fetch-Site': 'same-origin' } })).body,
    ).toEqual(told)
    expectRefusal(await send(url, 'GET', '~/api/session', { headers: { Cookie } }), 'origin_not_allowed')
  })

  test('ends on request and clears its cookie; other sessions of the user continue', async () => {
    const [one, two] = [await signIn(url, world.user), await signIn(url, world.user)]
    const ended = await call(url, 'DELETE', '~/api/session', { token: one })
    expect([ended.status, ended.text]).toEqual([204, ''])
    expect(ended.headers.get('set-cookie')).toStartWith(`${sessionCookieOf(url, '')}; Path=/; Max-Age=0;`)
    expectRefusal(await call(url, 'GET', '~/api/session', { token: one }), 'login_required')
    expectRefusal(await call(url, 'DELETE', '~/api/session', { token: one }), 'login_required')
    expect((await call(url, 'GET', '~/api/session', { token: two })).status).toBe(200)
    const headers = { Cookie: sessionCookieOf(url, two) }
    expectRefusal(await send(url, 'DELETE', '~/api/session', { headers }), 'origin_not_allowed')
    expect((await send(url, 'DELETE', '~/api/session', { headers: { ...headers, Origin: publicUrl() } })).status).toBe(
      204,
    )
    expectRefusal(await call(url, 'GET', '~/api/session', { token: two }), 'login_required')
  })

  test('is not accepted as another kind of token', async () => {
    const session = await signIn(url, world.user)
    for (const path of ['/me', '/versions', '/oauth/me', '/resources?kind=site']) {
      expectRefusal(await call(url, 'GET', path, { token: session }), 'token_type_not_allowed')
    }
    for (const token of [await appToken(url, world.app.development), (await grantTokens(world)).accessToken]) {
      expectRefusal(await call(url, 'GET', '~/api/session', { token }), 'token_type_not_allowed')
      expectRefusal(await call(url, 'DELETE', '~/api/session', { token }), 'token_type_not_allowed')
    }
  })
})
