import { beforeEach, describe, expect, test } from 'bun:test'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addTotp, totpCode } from '../support/factors.ts'
import { operator, trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { plainBrowser, type PlainBrowser, type Seen } from './support/plain-browser.ts'

// What a stolen session cookie is not enough for.

const world = await worldOfFile({ env: { RATE_LIMIT: 'on', RATE_LIMIT_CODE: '2/3600' } })
const { platform } = world
const { url } = world.server
const locationOf = ({ headers }: Seen) => headers.get('location') ?? ''

let user: Login
let app: AppInWorld
beforeEach(async () => {
  user = await addUser(platform)
  app = await addApp(platform, user)
})

/** A browser with a session that began some minutes ago. */
const signedInSince = async (minutes: number, login = user): Promise<PlainBrowser> => {
  const browser = plainBrowser(url)
  browser.cookies.set('session', (await signIn(earlier(platform, minutes), trace, login)).sessionToken)
  return browser
}
const uris = () => `/console/${app.slug}/redirect-uris`
/** Sends a form that was loaded while the proof was fresh. */
const sendLate = async (browser: PlainBrowser, path: string, fields: Readonly<Record<string, string>> = {}) =>
  await browser.post(path, { ...fields, ticket: await genuineTicket(world, browser, path) })
const addUri = async (browser: PlainBrowser, uri = 'https://evil.example/callback') =>
  await sendLate(browser, uris(), { environment: 'production', uri })
const prove = async (browser: PlainBrowser, page: string, fields: Readonly<Record<string, string>>) =>
  await browser.submit(page, '/account/prove', fields)
const isRegistered = async (uri = 'https://evil.example/callback') =>
  (await plainTextOf(await signedInSince(0))).includes(uri)
const plainTextOf = async (browser: PlainBrowser) => (await browser.get(`${uris()}?environment=production`)).text

describe('a form that needs a proof', () => {
  test('changes nothing eleven minutes after the sign-in, and is shown again after the password', async () => {
    const browser = await signedInSince(11)
    const uri = `https://kept.example/${app.slug}`
    const asked = await addUri(browser, uri)
    expect(asked.status).toBe(303)
    expect(locationOf(asked)).toStartWith('/account/prove?return_to=')
    expect(await isRegistered(uri)).toBe(false)
    expect((await prove(browser, locationOf(asked), { password: 'wrong' })).status).toBe(401)
    expect(await isRegistered(uri)).toBe(false)
    const done = await prove(browser, locationOf(asked), { password: user.password })
    expect(done.status).toBe(303)
    const again = await browser.get(uris())
    expect(again.text).toContain('class="notice waiting" role="status">Not sent yet.')
    expect(again.text).toContain(uri)
    expect((await addUri(browser, uri)).status).toBe(303)
    expect(await isRegistered(uri)).toBe(true)
    const events = (await auditEvents(platform)).filter(({ actorId }) => actorId === user.id)
    expect(events.map(({ action }) => action)).toEqual(expect.arrayContaining(['session.prove', 'session.proved']))
  })

  test('needs none within ten minutes of the sign-in', async () => {
    const browser = await signedInSince(9)
    expect(locationOf(await addUri(browser, `https://${app.slug}.example/now`))).not.toContain('/account/prove')
  })

  test('is refused without its ticket before any proof is asked for', async () => {
    const browser = await signedInSince(11)
    expect((await browser.post(uris(), { uri: 'https://evil.example/', environment: 'production' })).status).toBe(403)
  })

  test('takes a code of the authenticator app once, and no recovery code', async () => {
    const entry = await signedInSince(11)
    const { key, codes } = await addTotp(platform, user)
    const page = '/account/prove?return_to=%2Faccount'
    expect((await prove(entry, page, { kind: 'code', code: codes[0] ?? '' })).status).toBe(401)
    const code = totpCode(key, platform.clock.now(), 1)
    expect((await prove(entry, page, { kind: 'code', code })).status).toBe(303)
    expect((await prove(entry, page, { kind: 'code', code })).status).toBe(401)
  })
})

test('codes guessed with a stolen session do not use up the tries of the person in their own', async () => {
  const [thief, own] = [await signedInSince(11), await signedInSince(11)]
  const { key } = await addTotp(platform, user)
  const page = '/account/prove?return_to=%2Faccount'
  const guess = async () => (await prove(thief, page, { kind: 'code', code: '000000' })).status
  expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429])
  const code = totpCode(key, platform.clock.now(), 1)
  expect((await prove(own, page, { kind: 'code', code })).status).toBe(303)
})

test('the proof of one session is none in another, nor for another person', async () => {
  const [mine, other] = [await signedInSince(11), await signedInSince(11)]
  await prove(mine, '/account/prove', { password: user.password })
  other.cookies.set('proved', mine.cookies.get('proved') ?? '')
  expect(locationOf(await addUri(other))).toStartWith('/account/prove')
  expect(await isRegistered()).toBe(false)
})

test('a stolen session of an operator resets no factors, and makes no operator and no reset link', async () => {
  const boss = await addUser(platform, 'Olive Operator')
  await setOperator(platform, trace, operator, { userId: boss.id, isOperator: true })
  await addTotp(platform, user)
  const thief = await signedInSince(11, boss)
  for (const step of ['reset-factors', 'make-operator', 'reset-link']) {
    const path = `/desk/users/${user.id}/${step}`
    expect(locationOf(await thief.get(path))).toStartWith('/account/prove')
    expect(locationOf(await sendLate(thief, path))).toStartWith('/account/prove')
  }
  const found = await platform.database.queries.users.byId(user.id)
  expect(found?.isOperator).toBe(false)
  expect(await platform.database.queries.totpKeys.ofUser(user.id)).not.toBeNull()
})
