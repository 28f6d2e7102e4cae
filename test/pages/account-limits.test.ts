import { expect, test } from 'bun:test'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, createWorld, endWorld, type Login } from '../support/world.ts'
import { hiddenFields, plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { sessionCookieOf } from '../support/cookie.ts'

// Wrong passwords slow down the address that guesses, and no other.

const world = await worldOfFile({
  env: { RATE_LIMIT: 'on', RATE_LIMIT_SIGN_IN: '3/300', TRUSTED_PROXIES: '127.0.0.1' },
})
const { url } = world.server

const [attacker, owner] = [{ 'x-forwarded-for': '203.0.113.66' }, { 'x-forwarded-for': '198.51.100.7' }]

/** One attempt to sign in, from that address. */
const tryIn = async ({ email }: Login, password: string, from: Readonly<Record<string, string>>) => {
  const browser = plainBrowser(url)
  const hidden = hiddenFields((await browser.get('/sign-in', from)).text, '/sign-in')
  return await browser.post('/sign-in', { ...hidden, email, password }, from)
}

test('a user can sign in while another address keeps guessing their password', async () => {
  const user = await addUser(world.platform)
  const enough = new AbortController()
  const statuses = new Set<number>()
  const guess = async (): Promise<void> => {
    while (!enough.signal.aborted) statuses.add((await tryIn(user, 'wrong password', attacker)).status)
  }
  const guessers = Array.from({ length: 8 }, guess)
  while (!statuses.has(429)) await Bun.sleep(1)
  expect((await tryIn(user, user.password, owner)).status).toBe(303)
  expect((await tryIn(user, user.password, attacker)).status).toBe(429)
  enough.abort()
  await Promise.all(guessers)
  expect([...statuses].toSorted()).toEqual([401, 429])
})

test('wrong current passwords count for the session, and not against those who sign in at the same address', async () => {
  const user = await addUser(world.platform)
  const browser = await signedInBrowser(url, user)
  const next = { password: 'a much better password', repeated: 'a much better password' }
  const change = async (current: string, from: Readonly<Record<string, string>>) => {
    const ticket = hiddenFields((await browser.get('/account/password', from)).text, '/account/password')
    return await browser.post('/account/password', { ...ticket, ...next, current }, from)
  }
  for (let tries = 0; tries < 3; tries += 1) expect((await change(`wrong ${tries}`, attacker)).status).toBe(401)
  const refused = await change(user.password, owner)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.text).toContain('Too many requests')
  expect((await tryIn(user, user.password, attacker)).status).toBe(303)
})

test('a person signs in, and confirms steps, in their own browser, however others at the same address guess', async () => {
  const user = await addUser(world.platform)
  const { email, password } = user
  const browser = plainBrowser(url)
  const enter = async () => {
    const hidden = hiddenFields((await browser.get('/sign-in', attacker)).text, '/sign-in')
    return (await browser.post('/sign-in', { ...hidden, email, password }, attacker)).status
  }
  expect(await enter()).toBe(303)
  for (let tries = 0; tries < 4; tries += 1) await tryIn(user, 'wrong password', attacker)
  expect((await tryIn(user, password, attacker)).status).toBe(429)
  const form = hiddenFields((await browser.get('/account/prove', attacker)).text, '/account/prove')
  expect((await browser.post('/account/prove', { ...form, password }, attacker)).status).toBe(303)
  browser.cookies.delete('session')
  expect(await enter()).toBe(303)
  browser.cookies.set('device', `${browser.cookies.get('device')}x`)
  browser.cookies.delete('session')
  expect(await enter()).toBe(429)
})

test('the sign-in page stays reachable, however many credentials of other sites were refused at the same address', async () => {
  const visitor = { 'x-forwarded-for': '198.51.100.99' }
  const ended = await signedInBrowser(url, await addUser(world.platform))
  await ended.submit('/account', '/sign-out')
  const fromAfar = { ...visitor, 'sec-fetch-site': 'cross-site' }
  const decision = { request: '', ticket: '', decision: 'allow' }
  const statuses = new Set<number>()
  while (!statuses.has(429)) statuses.add((await plainBrowser(url).post('/oauth/authorize', decision, fromAfar)).status)
  for (const path of ['/', '/account', '/console', '/desk']) {
    const seen = await ended.get(path, { ...visitor, cookie: sessionCookieOf(url, 'over') })
    expect([seen.status, seen.headers.get('location')]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(path)}`])
  }
})

test('a new password that is refused does not count as an attempt', async () => {
  const user = await addUser(world.platform)
  const browser = await signedInBrowser(url, user)
  const short = { current: user.password, password: 'short', repeated: 'short' }
  for (let tries = 0; tries < 5; tries += 1) {
    expect((await browser.submit('/account/password', '/account/password', short)).status).toBe(400)
  }
})

test('attempts that the address limit refused do not count against the account', async () => {
  const env = { RATE_LIMIT: 'on', RATE_LIMIT_SIGN_IN: '3/300', RATE_LIMIT_FAILED: '1/3' }
  const crowded = await createWorld({ env })
  const enter = async (email: string, password: string) => {
    const browser = plainBrowser(crowded.server.url)
    return (await browser.submit('/sign-in', '/sign-in', { email, password })).status
  }
  const { email, password } = crowded.user
  expect(await enter('nobody@nowhere.example', 'wrong password')).toBe(401)
  for (let tries = 0; tries < 4; tries += 1) await enter(email, password)
  await Bun.sleep(3_100) // the address may fail again
  expect(await enter(email, password)).toBe(303)
  await endWorld(crowded)
})

test.each([
  ['at once', 'RATE_LIMIT_WRITE'],
  ['in a day', 'RATE_LIMIT_DAILY'],
])(
  'forms of all pages together take %s from one share of the account, and the other accounts keep theirs',
  async (_, share) => {
    const crowded = await createWorld({ env: { RATE_LIMIT: 'on', [share]: '3/60' } })
    const other = await addUser(crowded.platform)
    const rename = async (login: Login) => {
      const browser = await signedInBrowser(crowded.server.url, login)
      return async () =>
        (await browser.submit('/console/new', '/console/new', { name: '', slug: '', scopes: [] })).status
    }
    const send = await rename(crowded.user)
    expect([await send(), await send(), await send(), await send()]).toEqual([400, 400, 400, 429])
    expect(await (await rename(other))()).toBe(400)
    await endWorld(crowded)
  },
)
