import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { call } from '../support/call.ts'
import { cookieNamed } from '../support/cookie.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, grantTokens, type Login, signIn } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { browserKinds } from './support/browser-kinds.ts'
import { type BrowserOptions, openBrowser } from './support/browser.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'

const { describe, test } = needs('Chromium', 'openssl')

const world = await worldOfFile()
const { url } = world.server

type Kind = BrowserOptions & { readonly kind: string }

const enter = async (user: Login, options: BrowserOptions = {}): Promise<Page> => {
  const page = await openBrowser(url, options)
  await signInByForm(page, user)
  return page
}
/** Checks a page: its appearance, and its accessibility with axe. */
const look = async (page: Page, kind: Kind, name: string) => {
  if (kind.javaScript === true) await expectAccessible(page)
  expect(await widthBeyondScreen(page)).toBe(0)
  await screenshot(page, `account ${name} ${kind.kind}`)
}
const widthBeyondScreen = async (page: Page): Promise<number> =>
  await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
const pathOf = (page: Page): string => new URL(page.url()).pathname
const isSignedIn = async (token: string) => (await call(url, 'GET', '~/api/session', { token })).status === 200
const works = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status === 200
/** Presses a button of a form, and waits for the page that follows. */
const send = async (page: Page, button: Locator) => {
  const led = page.waitForEvent('framenavigated')
  await button.click()
  await led
  await page.waitForLoadState()
}
const press = async (page: Page, name: string) => await send(page, page.getByRole('button', { name }))
/** Follows a link to a confirmation page, and confirms there, if necessary by typing a name. */
const confirm = async (page: Page, link: Locator, typed?: string) => {
  await send(page, link)
  if (typed !== undefined) await page.getByLabel('To confirm, type').fill(typed)
  await send(page, page.locator('main button.primary'))
}
const fillPasswords = async (page: Page, current: string, next: string, repeated = next) => {
  await page.getByLabel('Current password').fill(current)
  await page.getByLabel('New password', { exact: true }).fill(next)
  await page.getByLabel('Repeat the new password').fill(repeated)
  await press(page, 'Change password')
}
const noticeOn = async (page: Page) => await page.getByRole('status').textContent()

describe('the overview', () => {
  test('tells a person who they are and how things stand', async () => {
    const user = await addUser(world.platform)
    await signIn(url, user)
    await grantTokens({ ...world, user })
    const page = await enter(user)
    await page.goto('/')
    await page.getByRole('link', { name: 'Account' }).first().click()
    await page.waitForURL('**/account')
    const main = page.getByRole('main')
    expect(await main.textContent()).toContain('Ada Example')
    expect(await main.textContent()).toContain(user.email)
    expect(await main.textContent()).toContain('You are signed in here and in 2 other places.')
  })
})

describe('changing the password', () => {
  test.each(browserKinds)('says at the field what is wrong, then changes it: $kind', async (kind) => {
    const user = await addUser(world.platform)
    const elsewhere = await signIn(url, user)
    const tokens = await grantTokens({ ...world, user })
    const page = await enter(user, kind)
    await page.goto('/account/password')

    const next = 'a much better password'
    await fillPasswords(page, 'wrong password', next)
    expect(await page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('#current-fault').textContent()).toBe('The current password is wrong.')
    expect(await page.getByLabel('Current password').inputValue()).toBe('')
    expect(await page.content()).not.toContain(next)
    await look(page, kind, 'password refused')
    await fillPasswords(page, user.password, next, 'another one')
    expect(await page.locator('#repeated-fault').textContent()).toBe('The two new passwords differ.')
    await fillPasswords(page, user.password, 'short')
    expect(await page.locator('#password-fault').textContent()).toBe('The password has fewer than 8 characters.')
    expect(await isSignedIn(elsewhere)).toBe(true)

    await fillPasswords(page, user.password, next)
    expect(await noticeOn(page)).toContain('Your password is changed')
    await look(page, kind, 'password changed')
    await page.goto('/account')
    expect(pathOf(page)).toBe('/account')
    expect([await isSignedIn(elsewhere), await works(tokens.accessToken)]).toEqual([false, true])
    expect(await isSignedIn(await signIn(url, { ...user, password: next }))).toBe(true)
  })
})

describe('sessions', () => {
  test('show where one is signed in, and end one by one or all others', async () => {
    const user = await addUser(world.platform)
    const [first, second, third] = [await signIn(url, user), await signIn(url, user), await signIn(url, user)]
    const page = await enter(user)
    await page.goto('/account/sessions')
    const rows = page.locator('.row')
    expect(await rows.count()).toBe(4)
    expect(await rows.first().textContent()).toContain('This session')
    expect(await rows.first().textContent()).toContain('Chrome on ')
    expect(await rows.last().textContent()).toContain('127.0.0.1')
    expect(await rows.getByText('This session').count()).toBe(1)

    await confirm(page, rows.last().getByRole('link'))
    expect(await noticeOn(page)).toContain('The session has ended.')
    expect(await rows.count()).toBe(3)
    expect([await isSignedIn(first), await isSignedIn(second), await isSignedIn(third)]).toEqual([false, true, true])

    await confirm(page, page.getByRole('link', { name: 'End all other sessions' }))
    expect(await noticeOn(page)).toBe('Every other session has ended.')
    expect(await rows.count()).toBe(1)
    expect(await page.getByRole('link', { name: 'End all other sessions' }).count()).toBe(0)
    expect([await isSignedIn(second), await isSignedIn(third)]).toEqual([false, false])
  })

  test.each(browserKinds)('end here, too, and then the way back leads to signing in: $kind', async (kind) => {
    const user = await addUser(world.platform)
    const page = await enter(user, kind)
    await page.goto('/account/sessions')
    await press(page, 'Sign out here')
    expect(pathOf(page)).toBe('/sign-in')
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain(
      cookieNamed(world.server.url, 'session'),
    )
    await page.goBack()
    expect(pathOf(page)).toBe('/sign-in')
  })

  test('that end in one tab lead the other tab to the sign-in page, and back to its page', async () => {
    const user = await addUser(world.platform)
    const [here, there] = [await enter(user), await enter(user)]
    await there.goto('/account/email')
    await here.goto('/account/sessions')
    await confirm(here, here.getByRole('link', { name: 'End all other sessions' }))
    await there.getByRole('link', { name: 'Password' }).click()
    await there.waitForURL('**/sign-in?**')
    await signInByForm(there, user)
    expect(pathOf(there)).toBe('/account/password')

    const tab = await there.context().newPage()
    await tab.goto('/account/sessions')
    await press(tab, 'Sign out here')
    await fillPasswords(there, user.password, 'never to be stored')
    expect(pathOf(there)).toBe('/sign-in')
    expect(await isSignedIn(await signIn(url, user))).toBe(true)
  })
})

describe('connected apps', () => {
  test('show what each may do, and lose it when it is taken back', async () => {
    const user = await addUser(world.platform)
    const publisher = await addUser(world.platform, 'Grace Publisher')
    const other = { ...world, user, app: await addApp(world.platform, publisher) }
    const [email, sites] = [
      await grantTokens({ ...world, user }, 'profile.email:read'),
      await grantTokens({ ...world, user }, 'site:read'),
    ]
    const profile = await grantTokens(other, 'profile:read')
    await setAppStatus(world.platform, trace, operator, { slug: other.app.slug, status: 'suspended' })
    const page = await enter(user)
    await page.goto('/account/apps')
    const rows = page.locator('.row')
    expect(await rows.count()).toBe(2)
    const [suspended, connected] = [rows.first(), rows.last()]
    expect(await suspended.textContent()).toMatch(/Suspended.*Grace Publisher.*See your name and picture/)
    expect(await connected.getByRole('listitem').allTextContents()).toEqual([
      'See your email address',
      'List your websites',
    ])
    expect(await connected.textContent()).toMatch(/Development.*Last used.*2 devices or browsers/)
    expect(await connected.textContent()).not.toContain('Suspended')

    await connected.getByRole('link').first().click()
    await page.waitForURL(`**/${world.app.development.clientId}`)
    expect(await rows.count()).toBe(2)
    expect(await rows.last().textContent()).toContain('See your email address')
    await confirm(page, rows.last().getByRole('link'))
    expect(await noticeOn(page)).toContain('This authorization is revoked.')
    expect([await works(email.accessToken), await works(sites.accessToken)]).toEqual([false, true])

    await confirm(page, page.getByRole('link', { name: 'Revoke access' }))
    expect(pathOf(page)).toBe('/account/apps')
    expect(await noticeOn(page)).toContain('Access revoked.')
    expect(await works(sites.accessToken)).toBe(false)
    expect(await rows.count()).toBe(1)

    await confirm(page, page.getByRole('link', { name: 'Revoke access' }))
    expect(await page.getByRole('main').textContent()).toContain('No app can act for you')
    await setAppStatus(world.platform, trace, operator, { slug: other.app.slug, status: 'active' })
    expect(await works(profile.accessToken)).toBe(false)
    await expectAccessible(page)
  })

  test('all lose their access together, and an app without authorizations leaves the list', async () => {
    const user = await addUser(world.platform)
    const other = { ...world, user, app: await addApp(world.platform, user) }
    const tokens = [await grantTokens({ ...world, user }), await grantTokens(other)]
    const page = await enter(user)
    await page.goto('/account/apps')
    await confirm(page, page.getByRole('link', { name: 'Revoke access of every app' }), user.email)
    expect(await noticeOn(page)).toContain('Access revoked for every app.')
    expect(await Promise.all(tokens.map(async ({ accessToken }) => await works(accessToken)))).toEqual([false, false])

    await grantTokens(other)
    await page.goto(`/account/apps/${other.app.development.clientId}`)
    await confirm(page, page.getByRole('link', { name: 'Revoke this authorization' }))
    expect(pathOf(page)).toBe('/account/apps')
    expect(await page.locator('.row').count()).toBe(0)
  })

  test('with hostile names are shown as text, within their place', async () => {
    const name = `<script>alert(1)</script>"'><img src=/stolen onerror=alert(2)>&amp;שלום`.padEnd(200, 'W')
    const user = await addUser(world.platform, name)
    const app = await addApp(world.platform, user)
    const { platform } = world
    await platform.database.transaction(async (q) => await q.apps.change(app.id, { name }, platform.clock.now()))
    await grantTokens({ ...world, user, app })
    const page = await enter(user)
    for (const path of ['/account', '/account/apps', `/account/apps/${app.development.clientId}`]) {
      await page.goto(path)
      expect(await page.getByRole('main').textContent()).toContain(name)
    }
  })

  test('are revoked once when the button is pressed twice, and the page says so', async () => {
    const user = await addUser(world.platform)
    const { accessToken } = await grantTokens({ ...world, user })
    for (const javaScript of [true, false]) {
      await grantTokens({ ...world, user })
      const page = await enter(user, { javaScript })
      await page.goto('/account/apps')
      await send(page, page.getByRole('link', { name: 'Revoke access' }))
      await page.getByRole('button', { name: 'Revoke access' }).dblclick()
      // Not by its URL, because the second press cancels the first navigation.
      await page.getByText('Access revoked.').waitFor()
      expect(await noticeOn(page)).toContain('Access revoked.')
      expect(await works(accessToken)).toBe(false)
    }
  })
})
