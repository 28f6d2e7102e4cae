import { beforeEach, describe, expect, test } from 'bun:test'
import { resetFactors } from '../../src/operations/factors/change-factors.ts'
import { resetPassword } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { call, codeOf } from '../support/call.ts'
import { addTotp, keyFromText, totpCode } from '../support/factors.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { hiddenFields, plainBrowser, type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'

// Second factors over HTTP, without JavaScript.

const world = await worldOfFile({ env: { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.1,::1' } })
const { platform } = world
const { url } = world.server
const now = () => platform.clock.now()
const locationOf = ({ headers }: Seen) => headers.get('location') ?? ''
const setUp = '/account/factors/totp'
const codePage = '/sign-in/code'

let user: Login
beforeEach(async () => {
  user = await addUser(platform)
})

/** The first half of a sign-in, as far as the page that asks for the code. */
const withPassword = async (login = user, page = '/sign-in'): Promise<PlainBrowser> => {
  const browser = plainBrowser(url)
  const answer = await browser.submit(page, '/sign-in', login)
  expect([answer.status, locationOf(answer).split('?')[0]]).toEqual([303, codePage])
  return browser
}
const sendCode = async (browser: PlainBrowser, code: string) => await browser.submit(codePage, codePage, { code })
const isSignedIn = async (browser: PlainBrowser) => (await browser.get('/account')).status === 200
const keyOn = ({ text }: Seen) => keyFromText(/id="totp-key">([A-Z2-7 ]+)</.exec(text)?.[1] ?? '')
const codesOn = ({ text }: Seen) =>
  text.replace(/href="data:[^"]*"/, '').match(/\b(?:[a-z2-7]{4}-){3}[a-z2-7]{4}\b/g) ?? []

test('an authenticator app is set up with the key of the page, and ten recovery codes are shown once', async () => {
  const browser = await signedInBrowser(url, user)
  const page = await browser.get(setUp)
  expect(page.text).toContain('<svg class="qr"')
  const key = keyOn(page)
  const { ticket = '', key: sealed = '' } = await fieldsOn(browser, page)
  const wrong = await browser.post(setUp, { ticket, key: sealed, code: totpCode(key, now(), 9) })
  expect(wrong.status).toBe(400)
  expect(keyOn(wrong)).toEqual(key) // the app that has scanned it goes on
  const done = await browser.post(setUp, { ticket, key: sealed, code: totpCode(key, now()) })
  const shown = await browser.follow(done)
  expect(codesOn(shown)).toHaveLength(10)
  expect(codesOn(await browser.get('/account/factors/recovery-codes/new'))).toEqual([])
  const own = await browser.get('/account/factors')
  expect(own.text).toContain('10 of 10 left')
  expect(own.text).not.toContain(Buffer.from(key).toString('base64'))
  const back = await browser.post(setUp, { ticket, key: sealed, code: totpCode(key, now(), 1) })
  expect(back.status).toBe(409)
})

const fieldsOn = async (browser: PlainBrowser, { text }: Seen) => {
  expect(browser.cookies.has('session')).toBe(true)
  const inputs = [...text.matchAll(/<input type="hidden" name="(ticket|key)" value="([^"]*)"/g)]
  return Object.fromEntries(inputs.slice(-2).map(([, name = '', value = '']) => [name, value]))
}

test('the key of another tab, session or user cannot be confirmed', async () => {
  const [mine, other] = [await signedInBrowser(url, user), await signedInBrowser(url, await addUser(platform))]
  const page = await other.get(setUp)
  const { key: foreign = '' } = await fieldsOn(other, page)
  const { ticket = '' } = await fieldsOn(mine, await mine.get(setUp))
  const refused = await mine.post(setUp, { ticket, key: foreign, code: totpCode(keyOn(page), now()) })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('Scan the new code')
})

test('the page of the code names the account, and a code that comes too late is told so', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword()
  expect((await browser.get(codePage)).text).toContain(`You are signing in as <bdi>${user.email}</bdi>.`)
  const form = await browser.formOn(codePage, codePage)
  browser.cookies.delete('pending')
  const late = await browser.post(codePage, { ...form, code: totpCode(key, now()) })
  expect([late.status, new URL(locationOf(late), url).searchParams.get('form')]).toEqual([303, 'late'])
  expect((await browser.follow(late)).text).toContain('This sign-in took longer than ten minutes')
  expect(locationOf(await browser.get(codePage))).not.toContain('late')
})

test.each([
  ['an operator resets the factors', async () => await resetFactors(platform, trace, operator, user)],
  [
    'the password changes',
    async () => await resetPassword(platform, trace, operator, { userId: user.id, password: 'another long password' }),
  ],
  [
    'the user is disabled',
    async () => await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled' }),
  ],
])('a code that comes after %s leads to the sign-in page, which says why', async (_, change) => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword(user, '/sign-in?return_to=%2Faccount%2Fsessions')
  const fields = await browser.formOn(`${codePage}?return_to=%2Faccount%2Fsessions`, codePage)
  await change()
  const answer = await browser.post(codePage, { ...fields, code: totpCode(key, now(), 1) })
  expect([answer.status, browser.cookies.has('pending'), browser.cookies.has('session')]).toEqual([303, false, false])
  const page = await browser.follow(answer)
  expect(page.text).toContain('were changed after this sign-in had begun. Sign in again.')
  expect(page.text).not.toContain('took')
  expect(page.text).toContain('name="return_to" value="/account/sessions"')
})

test('the sign-in asks for the code on a page of its own, and leads to the page that was wanted', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword(user, '/sign-in?return_to=%2Faccount%2Fsessions')
  expect(browser.cookies.has('session')).toBe(false)
  expect(await isSignedIn(browser)).toBe(false)
  const wrong = await sendCode(browser, '000000')
  expect(wrong.status).toBe(401)
  expect(wrong.text).not.toContain('000000')
  const done = await browser.submit(`${codePage}?return_to=%2Faccount%2Fsessions`, codePage, {
    code: totpCode(key, now(), 1),
  })
  expect(locationOf(done)).toBe('/account/sessions')
  expect(await isSignedIn(browser)).toBe(true)
  expect(browser.cookies.has('pending')).toBe(false)
})

test('after the sign-in the page of the code leads nowhere, also in another tab', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword()
  const tab = await browser.formOn(codePage, codePage)
  await sendCode(browser, totpCode(key, now(), 1))
  expect(locationOf(await browser.get(codePage))).toBe('/sign-in?return_to=%2F')
  expect(locationOf(await browser.post(codePage, { ...tab, code: '000000' }))).toBe('/sign-in?return_to=%2F&form=late')
  expect(await isSignedIn(browser)).toBe(true)
})

test('the waiting sign-in belongs to its browser: its cookie alone is of no use, and shows nothing', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword()
  const pending = browser.cookies.get('pending') ?? ''
  expect(Buffer.from(pending, 'base64url').toString('latin1')).not.toContain(user.email)
  const thief = plainBrowser(url)
  await thief.get('/sign-in')
  thief.cookies.set('pending', pending)
  expect(locationOf(await thief.get(codePage))).toBe('/sign-in?return_to=%2F')
  const stolen = await thief.post(codePage, {
    ...(await browser.formOn(codePage, codePage)),
    code: totpCode(key, now(), 1),
  })
  expect(locationOf(stolen)).toStartWith('/sign-in?return_to=')
  browser.cookies.set('pending', pending.replace(/.$/, 'A').replace(/^./, 'B'))
  expect(locationOf(await browser.get(codePage))).toBe('/sign-in?return_to=%2F')
})

test('a form of another page or site sends no code', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword()
  const code = totpCode(key, now(), 1)
  for (const [fields, headers] of [
    [{ ticket: '' }, {}],
    [await browser.formOn('/sign-in', '/sign-in'), {}],
    [await browser.formOn(codePage, codePage), { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ] as const) {
    expect((await browser.post(codePage, { ...fields, code }, headers)).status).toBe(403)
  }
  expect((await sendCode(browser, code)).status).toBe(303)
})

const send = async (browser: PlainBrowser, code: string, address: string) => {
  const fields = await browser.formOn(codePage, codePage)
  return (await browser.post(codePage, { ...fields, code }, { 'x-forwarded-for': address })).status
}

describe('guessing codes with the right password', () => {
  test('ends after ten tries from any addresses; recovery codes and known browsers still sign in', async () => {
    const known = await signedInBrowser(url, user)
    known.cookies.delete('session')
    const { key, codes } = await addTotp(platform, user)
    const guesser = await withPassword()
    const statuses: number[] = []
    const guesses = [
      '000000',
      '000 000',
      ' 000-000',
      '０００００１',
      '٠٠٠٠٠٢',
      '0\u00a000000',
      '00\u200b0000',
      '1',
      'é'.repeat(16),
      '0'.repeat(16),
    ]
    for (const [index, guess] of [...guesses, '000 001'].entries())
      statuses.push(await send(guesser, guess, `192.0.2.${index}`))
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    const code = totpCode(key, now(), 1)
    expect(await send(guesser, code, '198.51.100.1')).toBe(429)
    await known.submit('/sign-in', '/sign-in', user)
    expect(await send(known, code, '198.51.100.2')).toBe(303)
    expect(await send(guesser, codes[0]?.toUpperCase().replaceAll('-', ' ') ?? '', '198.51.100.3')).toBe(303)
  })
})

test('somebody who has given the password goes on with a code, however others at the same address guess', async () => {
  const { key } = await addTotp(platform, user)
  const browser = await withPassword()
  const headers = { 'x-forwarded-for': '192.0.2.77' }
  const body = { email: user.email, password: 'not the password' }
  const statuses = new Set<number>()
  for (let count = 0; count < 11; count += 1) {
    statuses.add((await call(url, 'POST', '~/api/session', { body, headers })).status)
  }
  expect([...statuses]).toEqual([401, 429])
  expect(await send(browser, totpCode(key, now(), 1), '192.0.2.77')).toBe(303)
})

const ask = async (more: Readonly<Record<string, string>> = {}) =>
  await call(url, 'POST', '~/api/session', { body: { email: user.email, password: user.password, ...more } })

describe('POST /api/session', () => {
  test('answers second_factor_required until a code comes with the password', async () => {
    const { key, codes } = await addTotp(platform, user)
    const refused = await ask()
    expect([refused.status, codeOf(refused), refused.headers.get('set-cookie')]).toEqual([
      401,
      'second_factor_required',
      null,
    ])
    expect(codeOf(await ask({ code: '000000' }))).toBe('invalid_login')
    expect(codeOf(await ask({ password: 'wrong', code: totpCode(key, now(), 1) }))).toBe('invalid_login')
    const code = totpCode(key, now(), 1)
    const { status, body } = await ask({ code })
    expect(status).toBe(200)
    expect(body.sessionToken).toStartWith('apus_')
    expect(codeOf(await ask({ code }))).toBe('invalid_login')
    expect((await ask({ code: codes[0] ?? '' })).status).toBe(200)
    expect(codeOf(await ask({ code: codes[0] ?? '' }))).toBe('invalid_login')
  })

  test('one code signs in one of many requests that come at once', async () => {
    const { key } = await addTotp(platform, user)
    const code = totpCode(key, now(), 1)
    const answers = await Promise.all(Array.from({ length: 4 }, async () => await ask({ code })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('ignores a code that nobody asked for', async () => {
    expect((await ask({ code: 'something' })).status).toBe(200)
  })
})

test('an operator is asked to set up a second factor, and can put it off', async () => {
  await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
  const browser = plainBrowser(url)
  const answer = await browser.submit('/sign-in?return_to=%2Fdesk', '/sign-in', user)
  expect(locationOf(answer)).toBe('/account/factors/offer?return_to=%2Fdesk')
  const { text } = await browser.follow(answer)
  expect(text).toContain('you cannot sign in without one')
  expect(text).toMatch(/<a class="button" href="\/desk">\s*Not now/)
  expect((await browser.get('/desk')).status).toBeLessThan(400)
})

test('an operator who has put it off for seven days sets it up before anything else', async () => {
  await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
  await platform.database.transaction(async (q) => await q.users.askForFactor(user.id, now() - 1))
  const browser = plainBrowser(url)
  const answer = await browser.submit('/sign-in?return_to=%2Fdesk', '/sign-in', user)
  expect(locationOf(answer)).toBe('/sign-in/factor?return_to=%2Fdesk')
  expect(browser.cookies.has('session')).toBe(false)
  expect(
    codeOf(await call(url, 'POST', '~/api/session', { body: { email: user.email, password: user.password } })),
  ).toBe('second_factor_required')
  const page = await browser.follow(answer)
  const key = keyOn(page)
  const fields = hiddenFields(page.text, '/sign-in/factor')
  const done = await browser.post('/sign-in/factor', { ...fields, code: totpCode(key, now()) })
  expect(locationOf(done)).toBe('/account/factors/recovery-codes/new?return_to=%2Fdesk')
  const shown = await browser.follow(done)
  expect(codesOn(shown)).toHaveLength(10)
  expect(shown.text).toMatch(/href="\/desk">\s*I have saved them/)
  const events = (await auditEvents(platform)).filter(({ actorId }) => actorId === user.id).map(({ action }) => action)
  expect(events).toEqual(expect.arrayContaining(['factor.asked', 'factor.added', 'session.created']))
})

test('an operator resets the factors of somebody else on the desk, not their own', async () => {
  const boss = await addUser(platform, 'Olive Operator')
  await setOperator(platform, trace, operator, { userId: boss.id, isOperator: true })
  const desk = await signedInBrowser(url, boss)
  await addTotp(platform, user)
  const page = `/desk/users/${user.id}`
  expect((await desk.get(page)).text).toContain('Second factors</dt><dd>Authenticator app</dd>')
  expect((await desk.submit(page, `${page}/reset-factors`)).status).toBe(303)
  expect((await signedInBrowser(url, user)).cookies.has('session')).toBe(true)
  const own = `/desk/users/${boss.id}/reset-factors`
  expect((await desk.post(own, { ticket: await genuineTicket(world, desk, own) })).status).toBe(400)
})

test('a page that waits for a code leads back to the sign-in once the second factors were reset', async () => {
  await addTotp(platform, user)
  const browser = await withPassword()
  expect((await browser.get(codePage)).text).toContain('name="code"')
  await resetFactors(platform, trace, operator, { userId: user.id })
  const page = await browser.get(codePage)
  expect([page.status, locationOf(page)]).toEqual([303, expect.stringMatching(/^\/sign-in\?.*form=changed$/)])
})
