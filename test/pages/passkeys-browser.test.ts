import { expect } from 'bun:test'
import type { CDPSession, Page } from 'playwright-core'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { freePort } from '../support/postgres.ts'
import { signIn } from '../support/sign-in.ts'
import { addUser, createWorld, endWorld, type Login, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { earlier } from './support/earlier.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { signInByForm } from './support/sign-in.ts'
import { cookieNamed } from '../support/cookie.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium')

let world: World
let home: string
beforeAll(async () => {
  const port = freePort()
  home = `http://localhost:${port}` // browsers give no passkey to an IP address
  world = await createWorld({ port, env: { PUBLIC_URL: home } })
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()

/** An authenticator that belongs to the page. */
type Authenticator = { readonly id: string; readonly session: CDPSession }

const plugIn = async (page: Page, isUserVerified = true): Promise<Authenticator> => {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId: id } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
    },
  })
  return { id, session }
}
const credentialsOf = async ({ id, session }: Authenticator) =>
  (await session.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials
const copy = async (from: Authenticator, to: Authenticator) => {
  for (const credential of await credentialsOf(from)) {
    await to.session.send('WebAuthn.addCredential', { authenticatorId: to.id, credential })
  }
}

/** A browser of the user in which a passkey has been added by hand. */
const enrolled = async (user: Login) => {
  const page = await openBrowser(home)
  const authenticator = await plugIn(page)
  await signInByForm(page, user)
  await page.goto('/account/factors')
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('Laptop')
  await page.getByRole('button', { name: 'Add the passkey' }).click()
  await page.getByRole('link', { name: 'I have saved them' }).click()
  return { page, authenticator }
}

/** Another browser with a copy of the authenticator. */
const elsewhere = async (from: Authenticator, isUserVerified = true) => {
  const page = await openBrowser(home)
  const authenticator = await plugIn(page, isUserVerified)
  await copy(from, authenticator)
  return { page, authenticator }
}

const signInWith = async (page: Page) => {
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey instead' }).click()
  await page.waitForLoadState()
}

describe('a passkey', () => {
  test('is added with a name and brings recovery codes; after the password it is asked for, and signs in', async () => {
    const user = await addUser(world.platform)
    const { page: first, authenticator } = await enrolled(user)
    expect(await first.getByRole('main').innerText()).toContain('Laptop')
    await expectAccessible(first)
    const { page } = await elsewhere(authenticator)
    await signInByForm(page, user)
    expect(await heading(page)).toBe('Confirm that it is you')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL(`${home}/`)
    await page.goto('/account/factors')
    expect(await page.getByRole('main').innerText()).toContain('Last used')
  })

  test('is set up where a sign-in needs a second factor, and finishes it', async () => {
    const user = await addUser(world.platform)
    await setOperator(world.platform, trace, operator, { userId: user.id, isOperator: true })
    await world.platform.database.transaction(async (q) => await q.users.askForFactor(user.id, Date.now() - 1))
    const page = await openBrowser(home)
    const authenticator = await plugIn(page)
    await signInByForm(page, user)
    expect(await heading(page)).toBe('Set up a second factor')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Set up a passkey and sign in' }).click()
    await page.getByRole('link', { name: 'I have saved them' }).click()
    await page.waitForURL(`${home}/`)
    expect(await credentialsOf(authenticator)).toHaveLength(1)
    const { page: other } = await elsewhere(authenticator)
    await signInByForm(other, user)
    expect(await heading(other)).toBe('Confirm that it is you')
  })

  test('alone is a second factor, which the account page names and an operator can reset', async () => {
    const user = await addUser(world.platform)
    const { page } = await enrolled(user)
    await page.goto('/account')
    expect(await page.getByRole('main').innerText()).toContain('Signing in needs a passkey.')
    const boss = await addUser(world.platform)
    await setOperator(world.platform, trace, operator, { userId: boss.id, isOperator: true })
    const desk = await openBrowser(home)
    await signInByForm(desk, boss)
    await desk.goto(`/desk/users/${user.id}`)
    expect(await desk.getByRole('main').innerText()).toMatch(/Second factors\s+1 passkey/)
    await desk.getByRole('link', { name: 'Reset the second factors' }).click()
    await desk.getByRole('button', { name: 'Reset the second factors' }).click()
    expect(await desk.getByRole('main').innerText()).toContain('The second factors of the user are reset')
    expect(await desk.getByRole('link', { name: 'Reset the second factors' }).count()).toBe(0)
  })

  test('signs in without an address, a password and a code', async () => {
    const user = await addUser(world.platform, 'Grace Example')
    const { authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator)
    await page.goto('/account/sessions')
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.waitForURL(`${home}/account/sessions`)
    expect(await page.content()).toContain('Grace Example')
  })

  test('does not sign in alone where the authenticator has not verified the person', async () => {
    const user = await addUser(world.platform)
    const { authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator, false)
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.locator('.problem:visible').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  test('that was removed is refused, and the recovery codes end with the last factor', async () => {
    const user = await addUser(world.platform)
    const { page: first, authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator)
    await page.goto('/sign-in')
    await first.getByRole('link', { name: 'Remove the passkey Laptop' }).click()
    await expectAccessible(first)
    await first.getByRole('button', { name: 'Remove it' }).click()
    expect(await first.getByRole('status').innerText()).toContain('is removed')
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.getByRole('alert').filter({ hasText: 'was not accepted' }).waitFor()
    const refused = (await auditEvents(world.platform)).findLast(({ action }) => action === 'session.create')
    expect(refused).toMatchObject({ outcome: 'refused', reason: 'invalid_login' })
    const other = await openBrowser(home)
    await signInByForm(other, user)
    await other.waitForURL(`${home}/`)
  })

  test('whose answer is sent again is refused, and one of another browser is, too', async () => {
    const user = await addUser(world.platform)
    const { authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator)
    await page.goto('/sign-in')
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST'),
      page.getByRole('button', { name: 'Use a passkey instead' }).click(),
    ])
    const form = Object.fromEntries(new URLSearchParams(sent.postData() ?? ''))
    await page.waitForURL(`${home}/`)
    const again = async (from: Page) => {
      const headers = { Origin: home, 'Sec-Fetch-Site': 'same-origin' }
      return await from.request.post('/sign-in/passkey', { form, headers, maxRedirects: 0 })
    }
    expect((await again(page)).status()).toBe(401)
    const stranger = await openBrowser(home)
    await stranger.goto('/sign-in')
    expect((await again(stranger)).status()).toBeGreaterThanOrEqual(400)
  })

  test('of an authenticator that has been copied is refused once the other copy has counted further', async () => {
    const user = await addUser(world.platform)
    const { authenticator } = await enrolled(user)
    const { page: copied } = await elsewhere(authenticator)
    const { page } = await elsewhere(authenticator)
    await signInWith(page)
    await page.waitForURL(`${home}/`)
    await signInWith(copied)
    await copied.getByRole('alert').filter({ hasText: 'was not accepted' }).waitFor()
  })

  test('proves again that it is them, for a form that asks for it', async () => {
    const user = await addUser(world.platform)
    const { sessionToken: old } = await signIn(earlier(world.platform, 11), trace, user)
    const { authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator)
    await page.context().addCookies([{ name: cookieNamed(home, 'session'), value: old, url: home }])
    await page.goto('/account/factors/passkeys/new')
    expect(await heading(page)).toBe('Confirm that it is you')
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await page.waitForURL(`${home}/account/factors/passkeys/new`)
    expect(await heading(page)).toBe('Add a passkey')
  })

  test('is not offered without JavaScript: the page says so, and a recovery code signs in', async () => {
    const user = await addUser(world.platform)
    const { page: first } = await enrolled(user)
    await first.goto('/account/factors/recovery-codes')
    await first.getByRole('button', { name: 'Create new codes' }).click()
    const [recovery = ''] = (await first.locator('#recovery-codes').innerText()).split('\n')
    const page = await openBrowser(home, { javaScript: false })
    await page.goto('/sign-in')
    expect(await page.getByRole('button', { name: 'Use a passkey instead' }).isVisible()).toBe(false)
    await signInByForm(page, user)
    expect(await page.getByText('Passkeys need JavaScript').isVisible()).toBe(true)
    await page.getByLabel('Recovery code').fill(recovery)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${home}/`)
  })
})
