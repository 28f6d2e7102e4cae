import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { cookieNamed } from '../support/cookie.ts'
import { keyFromText, totpCode } from '../support/factors.ts'
import { needs } from '../support/needs.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, endWorld, type Login } from '../support/world.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { earlier } from './support/earlier.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'

const { afterAll, afterEach, beforeAll, test } = needs('Chromium')

// How many links and buttons somebody presses for a frequent job on a phone, without JavaScript. Typing and ticking are not counted,
// and neither are redirects. A link must be on the page where it can be pressed, and so must the form.

const minutes = 60_000
let world: OperatorWorld
let app: AppInWorld
beforeAll(async () => {
  world = await createOperatorWorld()
  app = await addApp(world.platform, world.user)
  for (const version of ['1.0.0', '1.1.0']) {
    await uploadVersion(world.platform, app, version, ['submit', 'approve', 'activate'])
  }
}, minutes)
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

/** Counts what this person presses from this page on. They signed in so many minutes ago. */
const from = async (
  person: Login,
  start: string,
  { signedInMinutesAgo = 0, reaches = [] as readonly string[] } = {},
) => {
  const page = await openBrowser(world.server.url, { width: 'phone', javaScript: false, alsoReaches: reaches })
  await page.setViewportSize({ width: 390, height: 844 })
  const { sessionToken: value } = await signIn(earlier(world.platform, signedInMinutesAgo), trace, person)
  const name = cookieNamed(world.server.url, 'session')
  await page.context().addCookies([{ name, value, url: world.server.url }])
  await page.goto(start)
  let clicks = 0
  const press = async (selector: string) => {
    clicks += 1
    const led = page.waitForEvent('framenavigated')
    await page.locator(selector).filter({ visible: true }).first().click()
    await led
    await page.waitForLoadState()
  }
  return {
    page,
    follow: async (href: string) => await press(`a[href="${href}"]`),
    /** Fills in the fields of a form and presses its button. */
    send: async (action: string, fields: Readonly<Record<string, string>> = {}) => {
      const form = `form[method="post"]:is([action="${action}"], [action^="${action}?"])`
      for (const [field, value] of Object.entries(fields)) await page.locator(`${form} [name="${field}"]`).fill(value)
      await press(`${form} button[type="submit"]`)
    },
    says: async (words: string) => expect(await page.locator('main').textContent()).toContain(words),
    clicks: () => clicks,
  }
}
const shownSecret = async (page: Page): Promise<number> => await page.locator('#secret').count()

test('an app is allowed with one click, signed in', async () => {
  const { clientId, redirectUri, scope, state, codeChallenge } = authorizeBody(app)
  const asked = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope, state }
  const query = new URLSearchParams({ ...asked, code_challenge: codeChallenge, code_challenge_method: 'S256' })
  const reaches = [new URL(redirectUri).origin]
  const allow = await from(await addUser(world.platform), `/oauth/authorize?${query.toString()}`, { reaches })
  await allow.send('/oauth/authorize')
  await allow.page.waitForURL(`${redirectUri}?code=**`)
  expect(allow.clicks()).toBe(1)
})

test('an app is installed with two clicks from the list, and uninstalled with three from Home, which ends its access as well', async () => {
  const person = await addUser(world.platform)
  const install = await from(person, '/apps')
  await install.follow(`/apps/${app.slug}/install`)
  await install.send(`/apps/${app.slug}/install`)
  await install.says('installed')
  expect(install.clicks()).toBe(2)
  const end = await from(person, '/')
  await end.follow('/installs')
  const href = (await end.page.locator('main a[href$="/end"]').first().getAttribute('href')) ?? ''
  await end.follow(href)
  await end.send(href)
  await end.says('ninstalled')
  expect(end.clicks()).toBe(3)
})

test('an authenticator app is set up with five clicks from Home, with its recovery codes', async () => {
  const setUp = await from(await addUser(world.platform), '/')
  await setUp.follow('/account')
  await setUp.follow('/account/factors')
  await setUp.follow('/account/factors/totp')
  const key = keyFromText((await setUp.page.locator('#totp-key').textContent()) ?? '')
  await setUp.send('/account/factors/totp', { code: totpCode(key, world.platform.clock.now(), 0) })
  expect(await setUp.page.locator('#recovery-codes').count()).toBe(1)
  await setUp.follow('/account/factors')
  expect(setUp.clicks()).toBe(5)
})

test('an app is created with two clicks from Home, its first secret with two more, and a redirect URI with one', async () => {
  const person = await addUser(world.platform)
  const create = await from(person, '/')
  await create.follow('/console/new')
  await create.send('/console/new', { name: 'Few Clicks', slug: 'few-clicks' })
  await create.says('Your app is registered')
  expect(create.clicks()).toBe(2)
  const at = '/console/few-clicks'
  const uri = await from(person, at)
  await uri.send(`${at}/redirect-uris`, { uri: 'https://few-clicks.example/callback' })
  await uri.says('The redirect URI is registered')
  expect(uri.clicks()).toBe(1)
  const secret = await from(person, at)
  await secret.follow(`${at}/credentials/new?environment=development`)
  await secret.send(`${at}/credentials`)
  expect(await shownSecret(secret.page)).toBe(1)
  expect(secret.clicks()).toBe(2)
  const upload = await from(person, at)
  await upload.follow(`${at}/versions/new`)
  expect(await upload.page.locator('form input[type="file"]').count()).toBe(1)
  expect(upload.clicks() + 1).toBe(2)
})

test('a secret is rotated with three clicks from the app', async () => {
  const rotate = await from(world.user, `/console/${app.slug}`)
  await rotate.follow(`/console/${app.slug}/credentials`)
  await rotate.follow(`/console/${app.slug}/credentials/rotate?environment=production`)
  await rotate.send(`/console/${app.slug}/credentials/rotate`, { graceHours: '24' })
  expect(await shownSecret(rotate.page)).toBe(1)
  expect(rotate.clicks()).toBe(3)
})

test('a webhook is added and tested with four clicks from the app', async () => {
  const add = await from(world.user, `/console/${app.slug}`)
  await add.follow(`/console/${app.slug}/webhooks`)
  await add.follow(`/console/${app.slug}/webhooks/new`)
  await add.page.locator('input[name="groups"][value="all"]').check()
  await add.send(`/console/${app.slug}/webhooks`, { url: 'https://93.184.215.14/hooks' })
  expect(await add.page.locator('form[action*="/ping"] button').textContent()).toBe('Send a ping')
  expect(add.clicks() + 1).toBe(4)
})

test('production is rolled back with three clicks from the app', async () => {
  const back = await from(world.user, `/console/${app.slug}`)
  await back.follow(`/console/${app.slug}/versions`)
  await back.follow(`/console/${app.slug}/rollbacks/new`)
  await back.send(`/console/${app.slug}/rollbacks`)
  await back.says('Production is rolled back')
  expect(back.clicks()).toBe(3)
})

test('several installs are approved with two clicks from Home', async () => {
  for (const name of ['Ann', 'Ben', 'Cleo']) {
    const { email: userEmail } = await addUser(world.platform, name)
    const place = { slug: app.slug, userEmail, kind: 'site', resourceSlug: 'my-site' } as const
    await createInstall(world.platform, trace, commandLine, place)
  }
  const approve = await from(world.operator, '/')
  await approve.follow('/desk/installs')
  const boxes = approve.page.locator('input[type="checkbox"][name="id"]')
  expect(await boxes.count()).toBeGreaterThanOrEqual(3)
  for (const box of await boxes.all()) await box.check()
  await approve.send('/desk/installs/approve')
  await approve.says('Approved. The app can now work for this user.')
  expect(approve.clicks()).toBe(2)
})

test('a user is disabled with four clicks from Home, invited with two, and a backup takes two', async () => {
  const user = await addUser(world.platform)
  const disable = await from(world.operator, '/')
  await disable.follow('/desk')
  await disable.follow('/desk/users')
  await disable.follow(`/desk/users/${user.id}/disable`)
  await disable.send(`/desk/users/${user.id}/disable`)
  await disable.says('The user is disabled')
  expect(disable.clicks()).toBe(4)
  const invite = await from(world.operator, '/')
  await invite.follow('/desk/users/new')
  await invite.send('/desk/users/new', { email: 'few@clicks.example', name: 'Fay Few' })
  expect(invite.clicks()).toBe(2)
  const backup = await from(world.operator, '/')
  await backup.follow('/desk/backups')
  await backup.send('/desk/backups')
  expect(backup.clicks()).toBe(2)
})

test('a user is invited with three clicks from Home when the operator has to prove first that it is them', async () => {
  const invite = await from(world.operator, '/', { signedInMinutesAgo: 11 })
  await invite.follow('/desk/users/new')
  await invite.send('/account/prove', { password: world.operator.password })
  await invite.send('/desk/users/new', { email: 'later@clicks.example', name: 'Lee Later' })
  await invite.says('later@clicks.example')
  expect(invite.clicks()).toBe(3)
})
