import { beforeEach, expect, test } from 'bun:test'
import { ownFormFields } from '../../src/domain/form-ticket.ts'
import { call } from '../support/call.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, type Login } from '../support/world.ts'
import { type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'

// A form that is sent after its session has ended, and the way back to it.

const world = await worldOfFile()
const { url } = world.server
const newApp = '/console/new'
const typed = { name: 'Typed with care', slug: 'typed-slug', scopes: ['site:read'] }
const queries = () => world.platform.database.queries

let user: Login
let browser: PlainBrowser
beforeEach(async () => {
  user = await addUser(world.platform)
  browser = await signedInBrowser(url, user)
})

const endSession = async () =>
  await call(url, 'DELETE', '~/api/session', { token: browser.cookies.get('session') ?? '' })
/** Fills in the form at a path, ends the session, and sends the form. */
const sendTooLate = async (
  fields: Readonly<Record<string, string | readonly string[]>>,
  path = newApp,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> => {
  const hidden = await browser.formOn(path, path)
  await endSession()
  return await browser.post(path, { ...hidden, ...fields }, headers)
}
const locationOf = ({ headers }: Seen) => headers.get('location') ?? ''
const signIn = async ({ email, password }: Login, page: string): Promise<Seen> =>
  await browser.follow(await browser.submit(page, '/sign-in', { email, password }))

test('a form that was sent after the session had ended is shown again after the sign-in, filled in and not sent', async () => {
  const refused = await sendTooLate(typed)
  expect([refused.status, locationOf(refused)]).toEqual([303, '/sign-in?return_to=%2Fconsole%2Fnew&form=kept'])
  expect((await browser.get(locationOf(refused))).text).toContain('Sign in to see your form again')
  const { status, text } = await signIn(user, locationOf(refused))
  expect(status).toBe(200)
  expect(text).toContain('Not sent yet.')
  expect(text).toContain('value="Typed with care"')
  expect(text).toContain('value="typed-slug"')
  expect(text).toMatch(/value="site:read" checked/)
  expect(text).not.toMatch(/value="profile:read" checked/)
  expect(await queries().apps.bySlug('typed-slug')).toBeNull()

  expect((await browser.submit(newApp, newApp, typed)).status).toBe(303)
  expect((await browser.get(newApp)).text).not.toContain('Typed with care')
})

test('what was typed is in no address and readable in no cookie, and a password is not kept at all', async () => {
  const refused = await sendTooLate(
    { current: user.password, password: 'a secret word', repeated: 'a secret word' },
    '/account/password',
  )
  const { text } = await signIn(user, locationOf(refused))
  expect(text).not.toContain('a secret word')
  await sendTooLate(typed)
  const kept = browser.cookies.get('kept') ?? ''
  expect(kept).not.toBe('')
  expect(Buffer.from(kept, 'base64url').toString('latin1')).not.toContain('Typed')
})

test('nobody else sees it, although they use the same browser', async () => {
  const refused = await sendTooLate(typed)
  const other = await addUser(world.platform)
  expect((await signIn(other, locationOf(refused))).text).not.toContain('Typed with care')
})

test.each([{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, { 'sec-fetch-site': 'none' }])(
  'no other site can fill in a form: %j',
  async (headers) => {
    const refused = await sendTooLate(typed, newApp, headers)
    expect(locationOf(refused)).toBe('/sign-in?return_to=%2Fconsole%2Fnew&form=ended')
    expect(browser.cookies.has('kept')).toBe(false)
  },
)

test('a form without the mark of its account, or with a wrong one, is not filled in', async () => {
  for (const mark of ['', 'somebody']) {
    const refused = await sendTooLate({ ...typed, [ownFormFields.owner]: mark })
    expect((await signIn(user, locationOf(refused))).text).not.toContain('Typed with care')
  }
})

test('the sign-in page says when a form is too long to be kept', async () => {
  const refused = await sendTooLate({ ...typed, name: randomText(6_000) })
  expect(locationOf(refused)).toEndWith('&form=lost')
  expect((await browser.get(locationOf(refused))).text).toContain('This form cannot be kept')
})

test('a form from before the person signed in again in another tab is shown again at once, and nobody else sees it', async () => {
  const hidden = await browser.formOn(newApp, newApp)
  const again = async (who: Login) => {
    await endSession()
    browser.cookies.delete('session')
    await browser.submit('/sign-in', '/sign-in', { email: who.email, password: who.password })
    return await browser.post(newApp, { ...hidden, ...typed, slug: 'typed-before' })
  }
  const shown = await again(user)
  expect([shown.status, locationOf(shown)]).toEqual([303, newApp])
  const { text } = await browser.follow(shown)
  expect([text.includes('Not sent yet.'), text.includes('value="Typed with care"')]).toEqual([true, true])
  expect(await queries().apps.bySlug('typed-before')).toBeNull()
  expect((await browser.submit(newApp, newApp, { ...typed, slug: 'typed-later' })).status).toBe(303)

  const refused = await again(await addUser(world.platform))
  expect([refused.status, (await browser.get(newApp)).text.includes('Typed with care')]).toEqual([403, false])
})

test('forms of two tabs are both shown again, each on its page, until each is sent', async () => {
  const { slug } = await addApp(world.platform, user)
  const [page, rename] = [`/console/${slug}/settings`, `/console/${slug}/name`]
  const [first, second] = [await browser.formOn(newApp, newApp), await browser.formOn(page, rename)]
  await endSession()
  await browser.post(newApp, { ...first, ...typed, slug: `two-${slug}` })
  const refused = await browser.post(rename, { ...second, name: 'Renamed with care' })
  expect(locationOf(refused)).toEndWith('&form=kept')
  await signIn(user, locationOf(refused))
  const shows = async (path: string, words: string) => (await browser.get(path)).text.includes(words)
  expect([await shows(newApp, 'Typed with care'), await shows(page, 'Renamed with care')]).toEqual([true, true])
  expect((await browser.submit(page, rename, { name: 'Renamed with care' })).status).toBe(303)
  expect([await shows(newApp, 'Typed with care'), await shows(page, 'Not sent yet.')]).toEqual([true, false])
  expect((await browser.submit(newApp, newApp, { ...typed, slug: `two-${slug}` })).status).toBe(303)
  expect(await shows(newApp, 'Not sent yet.')).toBe(false)
})

test('of two tabs with the same form both come back, the latest first', async () => {
  const hidden = [await browser.formOn(newApp, newApp), await browser.formOn(newApp, newApp)] as const
  await endSession()
  await browser.post(newApp, { ...hidden[0], ...typed, name: 'The first one' })
  await signIn(user, locationOf(await browser.post(newApp, { ...hidden[1], ...typed, name: 'The second one' })))
  expect((await browser.get(newApp)).text).toContain('value="The second one"')
  await browser.submit(newApp, newApp, { ...typed, slug: `second-${user.id.slice(-8)}` })
  expect((await browser.get(newApp)).text).toContain('value="The first one"')
})

const randomText = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')

test('the sign-in page says when an earlier form has no room any more', async () => {
  const hidden = await browser.formOn(newApp, newApp)
  await endSession()
  for (const form of ['kept', 'instead']) {
    const refused = await browser.post(newApp, { ...hidden, ...typed, name: randomText(1_100) })
    expect(locationOf(refused)).toEndWith(`&form=${form}`)
    if (form === 'instead')
      expect((await browser.get(locationOf(refused))).text).toContain('A form that you sent before it has no room')
  }
})
