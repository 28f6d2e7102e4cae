import { beforeEach, describe, expect, test } from 'bun:test'
import { deviceCookie, mostDevices } from '../../src/domain/device.ts'
import { asRowKey } from '../../src/domain/identifier.ts'
import { endOtherSessions } from '../../src/operations/sessions/own-sessions.ts'
import { findKnownDevice } from '../../src/operations/sessions/entry.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { changePassword, resetPassword } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { plainBrowser } from '../pages/support/plain-browser.ts'
import { openServerKey } from '../../src/operations/server-facts.ts'
import { askBeside } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { cookieNamed, sessionCookieOf } from '../support/cookie.ts'

const world = await worldOfFile()
const { url, database } = world.server
const { platform } = world

const device = cookieNamed(url, 'device')
let user: Login
beforeEach(async () => {
  user = await addUser(platform)
})

const send = async (login: Pick<Login, 'email' | 'password'>, cookie: string | null = null) => {
  const headers = cookie === null ? {} : { Cookie: `${device}=${cookie}` }
  return await call(url, 'POST', '~/api/session', { body: { email: login.email, password: login.password }, headers })
}
const deviceIn = ({ headers }: { readonly headers: Headers }): string | null =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${device}=`))
    ?.slice(device.length + 1)
    .split(';')[0] ?? null
/** Signs in with a browser that is not known yet. */
const enter = async (login = user): Promise<string> => {
  const cookie = deviceIn(await send(login))
  if (cookie === null) throw new Error('the browser was not told that it is known')
  return cookie
}
const rows = async (table: string, where: string) => await askBeside(database, `SELECT * FROM ${table} WHERE ${where}`)
const devicesOf = async ({ id }: Login) => await rows('devices', `user_id = '${id}'`)
const wrong = () => ({ email: user.email, password: 'not the password' })

describe('a browser in which a user has signed in', () => {
  test('is known by an HttpOnly cookie for a year; signing in again does not change it', async () => {
    const first = await send(user)
    const [session = '', known = ''] = first.headers.getSetCookie()
    expect(session).toStartWith(sessionCookieOf(url, 'apus_'))
    expect(known.slice(device.length)).toMatch(
      /^=[0-9A-Za-z]{22}\.[\w-]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
    )
    const again = await send(user, deviceIn(first))
    expect([again.status, deviceIn(again)]).toEqual([200, null])
    expect(await devicesOf(user)).toHaveLength(1)
  })

  test('is known after signing in at the page', async () => {
    const browser = plainBrowser(url)
    const { email, password } = user
    await browser.submit('/sign-in', '/sign-in', { email, password })
    const cookie = browser.cookies.get('device') ?? ''
    expect(deviceIn(await send(user, cookie))).toBeNull()
    await browser.submit('/account', '/sign-out')
    await browser.submit('/sign-in', '/sign-in', { email, password })
    expect(browser.cookies.get('device')).toBe(cookie)
    expect(await devicesOf(user)).toHaveLength(1)
  })

  test('is known for its own account only', async () => {
    const [own, other] = [await enter(), await addUser(platform)]
    const key = keyOfCookie(own)
    expect(await findKnownDevice(platform, key, user.email.toUpperCase())).toBe(key)
    for (const email of [other.email, 'nobody@example.com', 'no address', '']) {
      expect(await findKnownDevice(platform, key, email)).toBeNull()
    }
    const second = await send(other, own)
    expect([second.status, deviceIn(second)]).toEqual([200, expect.any(String)])
  })

  test('cannot sign in with its cookie, which tells nothing about any account', async () => {
    const cookie = await enter()
    const other = await addUser(platform)
    const told = new Set<string>()
    for (const email of [user.email, other.email, 'nobody@example.com']) {
      for (const sent of [cookie, 'junk', null]) {
        const answer = await send({ email, password: 'wrong' }, sent)
        expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []])
        const { requestId: _, ...rest } = answer.body.error
        told.add(JSON.stringify(rest))
      }
    }
    expect(told.size).toBe(1)
    expect((await call(url, 'GET', '~/api/session', { headers: { Cookie: `${device}=${cookie}` } })).status).toBe(401)
  })

  test('is no longer known after five wrong passwords, which is recorded; other browsers stay known', async () => {
    const [cookie, kept] = [await enter(), await enter()]
    for (let count = 1; count <= 4; count += 1) await send(wrong(), cookie)
    expect(deviceIn(await send(user, cookie))).toBeNull()
    const other = await addUser(platform)
    await send({ email: other.email, password: 'wrong for another account' }, cookie)
    expect(await devicesOf(user)).toHaveLength(2)
    await send(wrong(), cookie)
    expect((await devicesOf(user)).map(({ id }) => id)).toEqual([keyOfCookie(kept)])
    expect(await rows('audit_events', `action = 'device.ended' AND target = '${user.id}'`)).toHaveLength(1)
    expect(deviceIn(await send(user, cookie))).not.toBeNull() // it becomes known again
  })

  test.each([
    [
      'the password changes',
      async () => {
        const session = await authenticateSession(platform, (await send(user)).body.sessionToken)
        if (session === null) throw new Error('not signed in')
        const next = 'another good password'
        await changePassword(platform, trace, session, { current: user.password, next, repeated: next })
      },
    ],
    [
      'an operator resets the password',
      async () => {
        await resetPassword(platform, trace, operator, { userId: user.id, password: 'another good password' })
      },
    ],
    [
      'the user is disabled',
      async () => {
        await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled' })
      },
    ],
    [
      'every other session is ended',
      async () => {
        const session = await authenticateSession(platform, (await send(user)).body.sessionToken)
        if (session === null) throw new Error('not signed in')
        await endOtherSessions(platform, trace, session)
      },
    ],
  ])('is no longer known once %s', async (_, end) => {
    const [cookie, other] = [await enter(), await addUser(platform)]
    await enter(other)
    await end()
    expect(await devicesOf(user)).toEqual([])
    expect(await findKnownDevice(platform, keyOfCookie(cookie), user.email)).toBeNull()
    expect(await devicesOf(other)).toHaveLength(1)
  })

  test('is no longer known after a year, and the purge removes it', async () => {
    const key = keyOfCookie(await enter())
    const year = 365 * 24 * 3_600_000
    const at = (offsetMs: number) => ({
      ...platform,
      clock: { ...platform.clock, now: () => platform.clock.now() + offsetMs },
    })
    expect(await findKnownDevice(at(year - 60_000), key, user.email)).toBe(key)
    expect(await findKnownDevice(at(year), key, user.email)).toBeNull()
    const purged = async (before: number) =>
      await platform.database.transaction(async (q) => await q.expiring.remove('devices', before + year, 1_000))
    await purged(platform.clock.now() - 3_600_000)
    expect(await devicesOf(user)).toHaveLength(1)
    expect(await purged(platform.clock.now() + 1_000)).toBeGreaterThan(0)
    expect(await devicesOf(user)).toEqual([])
  })

  test('is replaced by newer ones of its user, so that a program that signs in every minute does not fill the table', async () => {
    for (let count = 0; count < mostDevices + 3; count += 1) await send(user)
    expect(await devicesOf(user)).toHaveLength(mostDevices)
  })
})

test('a cookie that this server has not signed is refused without a read', async () => {
  const key = keyOfCookie(await enter())
  const signed = deviceCookie(await openServerKey(platform), key)
  const forged = [
    deviceCookie(new Uint8Array(32), key),
    key,
    `${key}.`,
    signed.slice(0, -1),
    `${signed}x`,
    '',
    'x'.repeat(8_000),
  ]
  for (const cookie of forged) {
    const answer = await send(user, cookie)
    expect([answer.status, deviceIn(answer)]).toEqual([200, expect.any(String)])
  }
  expect(deviceIn(await send(user, signed))).toBeNull()
})

const keyOfCookie = (cookie: string) => {
  return asRowKey(cookie.slice(0, 22))
}
