import { expect } from 'bun:test'
import type { CDPSession, Page } from 'playwright-core'
import { setOperator } from '../../src/operations/users/users.ts'
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

  test('signs in without an address, a password and a code', async () => {
    const user = await addUser(world.platform, 'Grace Example')
    const { authenticator } = await enrolled(user)
    const { page } = await elsewhere(authenticator)
    await page.goto('/account/sessions')
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.waitForURL(`${home}/account/sessions`)
    expect(await page.content()).toContain('Grace Example')
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
