import { receivedArtifact } from '../support/received-artifact.ts'
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { eventually } from '../support/crash.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { moveThrough, submitVersion, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, endWorld } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { askedFirst, confirm } from './support/confirm.ts'
import { type BrowserOptions, openBrowser } from './support/browser.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, describe, test } = needs('Chromium', 'openssl')

let world: OperatorWorld
let url: string
beforeAll(async () => {
  world = await createOperatorWorld()
  url = world.server.url
})
afterAll(async () => await endWorld(world))

const queries = () => world.platform.database.queries
const enter = async (options: BrowserOptions = {}): Promise<Page> => {
  const page = await openBrowser(url, options)
  await signInByForm(page, world.operator)
  return page
}
const look = async (page: Page, name: string) => {
  await expectAccessible(page)
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  await screenshot(page, `desk ${name}`)
}
const press = async (page: Page, name: string | RegExp) => {
  const led = page.waitForEvent('framenavigated')
  await page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click()
  await led
  await page.waitForLoadState()
}
const usersCount = async () => (await queries().users.list()).length
const said = async (page: Page) => await page.getByRole('status').textContent()
const alerted = async (page: Page) => await page.getByRole('alert').textContent()
const statusOf = async (app: AppInWorld, version: string) => (await queries().versions.byName(app.id, version))?.status
const pathOf = (app: AppInWorld, version: string) => `/desk/reviews/${app.slug}/${version}`
/** An app with a live version, and one that waits for review. */
const appInReview = async () => {
  const app = await addApp(world.platform, world.user)
  await submitVersion(world.platform, app, { version: '1.0.0', manifest: { name: 'Mail', hosts: ['a.example'] } })
  await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
  await submitVersion(world.platform, app, {
    version: '1.1.0',
    notes: 'Faster start.\nNew look.',
    manifest: { name: 'Mail', hosts: ['b.example', 'c.example'], support: { email: 'help@mail.example' } },
    scopes: ['site:read', 'profile.email:read'],
    artifact: { filename: 'mail.tar.gz', content: receivedArtifact(Buffer.from('content')), sha256: null },
  })
  return app
}

describe('the desk', () => {
  test('a version is compared with the live one, approved and made live', async () => {
    const app = await appInReview()
    const page = await enter()
    await page.goto('/desk')
    expect(new URL(page.url()).pathname).toBe('/desk/reviews')
    await page.locator(`a[href="${pathOf(app, '1.1.0')}"]`).click()
    await page.waitForURL(`**${pathOf(app, '1.1.0')}`)
    expect(await page.getByRole('row').count()).toBe(4)
    await press(page, 'Approve and make live')
    expect(await said(page)).toBe('The version is approved and live.')
    expect(await statusOf(app, '1.1.0')).toBe('active')
    expect(await statusOf(app, '1.0.0')).toBe('superseded')
  })

  test('a version is rejected with reasons, and rows can be added for more; Enter decides nothing', async () => {
    const app = await appInReview()
    const page = await enter()
    await page.goto(pathOf(app, '1.1.0'))
    await askedFirst(page, 'Reject this version')
    await page.getByLabel('Message').fill('Please correct these.')
    for (const row of [1, 2, 3]) {
      await page.getByLabel(`Place ${row}`, { exact: true }).fill(`hosts[${row}]`)
      await page.getByLabel(`What is wrong at place ${row}`).fill(`Reason ${row}`)
    }
    const led = page.waitForEvent('framenavigated')
    await page.getByLabel('What is wrong at place 3').press('Enter') // as a person does who expects another row
    await led
    await page.waitForLoadState()
    expect(await statusOf(app, '1.1.0')).toBe('submitted')
    await page.getByLabel('Place 4', { exact: true }).fill('support')
    await press(page, 'Reject this version')
    expect(await alerted(page)).toBe('Every item needs a place and what is wrong there.')
    await look(page, 'rejection refused')
    await page.getByLabel('What is wrong at place 4').fill('Reason 4')
    await press(page, 'Reject this version')
    expect(await said(page)).toBe('The version is rejected. Its developer can read the reasons.')
    expect(await statusOf(app, '1.1.0')).toBe('rejected')
    expect(await page.getByText('Reason 4').count()).toBe(1)
  })

  test('an install is approved, shown as decided, and deactivated', async () => {
    const { slug } = await addApp(world.platform, world.user)
    const input = { slug, userEmail: world.user.email, kind: 'store', resourceSlug: 'my-store' } as const
    const { id } = await createInstall(world.platform, trace, commandLine, input)
    const page = await enter()
    await page.goto('/desk/installs')
    await press(page, /^Approve Newsletter for/)
    expect(await said(page)).toContain('The install is approved.')
    await page.goto(`/desk/installs?app=${slug}`)
    await confirm(page, /^Deactivate Newsletter for/)
    expect(await said(page)).toContain('The install is deactivated.')
    expect((await queries().installs.find(id))?.install.state).toBe('inactive')
  })

  test('an app is found, suspended and activated', async () => {
    const { slug } = await addApp(world.platform, world.user)
    const page = await enter()
    await page.goto('/desk/apps')
    await page.getByLabel('Name or slug').fill(slug)
    await press(page, 'Filter')
    await page.locator(`a[href="/desk/apps/${slug}"]`).click()
    await page.waitForURL(`**/desk/apps/${slug}`)
    await confirm(page, /^Suspend this app/)
    expect(await said(page)).toBe('The app is suspended. Its secrets and tokens have stopped working.')
    await press(page, 'Activate this app')
    expect((await queries().apps.bySlug(slug))?.status).toBe('active')
  })

  test('a user is invited with a link that is shown once, sets a password, signs in, is disabled and enabled', async () => {
    const email = 'grace@example.com'
    const page = await enter()
    await page.goto('/desk/users')
    await page.getByRole('link', { name: 'Invite a user' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Name', { exact: true }).fill('Grace Hopper')
    await press(page, 'Create the invitation')
    const link = await page.getByLabel('Link').inputValue()
    await look(page, 'new link')
    const theirs = await openBrowser(url)
    const { pathname, search } = new URL(link) // which begins with PUBLIC_URL
    await theirs.goto(pathname + search)
    await look(theirs, 'set a password')
    const password = 'four unrelated words here'
    await theirs.getByLabel('New password', { exact: true }).fill(password)
    await theirs.getByLabel('Repeat the new password').fill(password)
    await press(theirs, 'Set the password')
    expect(new URL(theirs.url()).pathname).toBe('/') // signed in
    await page.getByRole('link', { name: 'I have copied it: go to the user' }).click()
    await confirm(page, /^Disable/)
    expect(await said(page)).toContain('The user is disabled and signed out.')
    await theirs.goto('/account')
    expect(new URL(theirs.url()).pathname).toBe('/sign-in')
    await press(page, 'Enable this user')
    expect((await queries().users.byEmail(email))?.status).toBe('active')
  })

  test('the audit log is asked by app and action, and health is read', async () => {
    const page = await enter()
    await page.goto('/desk/audit')
    await page.getByLabel('App', { exact: true }).fill(world.app.slug)
    await page.getByLabel('Event', { exact: true }).selectOption('app')
    await page.getByLabel('Outcome').selectOption('done')
    await press(page, 'Show events')
    expect(await page.locator('.timeline > li').allTextContents()).toEqual([expect.stringContaining('created')])
    expect(await page.locator('.timeline-day').allTextContents()).toEqual([expect.not.stringContaining('UTC')]) // its own zone
    await page.getByRole('heading', { level: 1 }).click()
    await page.getByLabel('Outcome').selectOption('refused') // with a mouse, a choice needs no button
    await page.waitForURL('**/desk/audit?*outcome=refused*')
    await page.goto('/desk/audit?action=session.created')
    await page.getByText('Details').first().click()
    await page.locator('.timeline a[href*="request="]').first().click()
    await page.waitForURL('**/desk/audit?request=*')
    expect(await page.locator('.timeline > li').count()).toBe(1)
    await page.goto('/desk/health')
  })
})

describe('conflicts between operators', () => {
  test('in two tabs, the second decision is refused as too late, and going back shows the current state', async () => {
    const app = await appInReview()
    const first = await enter()
    const second = await first.context().newPage()
    await first.goto(pathOf(app, '1.1.0'))
    await second.goto(pathOf(app, '1.1.0'))
    await askedFirst(second, 'Reject this version')
    await press(first, 'Approve')
    await second.getByLabel('Message').fill('No.')
    await second.getByRole('button', { name: 'Reject this version' }).click()
    await second.getByRole('alert').waitFor()
    expect(await alerted(second)).toBe('This version is already approved. Your decision changed nothing.')
    expect(await statusOf(app, '1.1.0')).toBe('approved')
    await first.goBack() // the page is not kept, so it is as it now is
    await first.getByRole('button', { name: 'Make it live' }).waitFor()
    expect(await first.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
  })

  test('a button that is pressed twice without JavaScript creates one user', async () => {
    const page = await enter({ javaScript: false })
    await page.goto('/desk/users/new')
    await page.getByLabel('Email').fill('pressed-twice@example.com')
    await page.getByLabel('Name', { exact: true }).fill('Twice')
    const before = await usersCount()
    await page.getByRole('button', { name: 'Create the invitation' }).dblclick()
    // Of two presses, the browser may send one, send both, or leave the first in the middle: what counts is what the
    // server has made when nothing is under way any more.
    await eventually(usersCount, (count) => count > before)
    await page.waitForLoadState('networkidle')
    expect(await usersCount()).toBe(before + 1)
  })

  test('a decision after the session has ended leads to the sign-in page, and back to the page', async () => {
    const app = await appInReview()
    const page = await enter()
    await page.goto(pathOf(app, '1.1.0'))
    await page.context().clearCookies()
    await press(page, 'Approve')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await signInByForm(page, world.operator)
    expect(new URL(page.url()).pathname).toBe(pathOf(app, '1.1.0'))
    expect(await statusOf(app, '1.1.0')).toBe('submitted')
  })

  test('hostile manifests, notes and names are shown as text', async () => {
    const harm = `<script>document.title='stolen'</script><img src=/stolen onerror="document.title='stolen'">`
    const owner = await addUser(world.platform, harm)
    const app = await addApp(world.platform, owner)
    await submitVersion(world.platform, app, { version: '1.0.0', manifest: {} })
    await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
    await uploadVersion(world.platform, app, {
      version: '1.1.0',
      notes: harm,
      manifest: JSON.parse(
        `{"__proto__": {"x": 1}, ${JSON.stringify(harm)}: "\\u202egpj.exe\\u200b", "toString": "x"}`,
      ),
    })
    await moveThrough(world.platform, app, '1.1.0', 'submit')
    const page = await enter()
    await page.goto(pathOf(app, '1.1.0'))
    expect(await page.title()).toStartWith('Newsletter 1.1.0')
    expect(await page.getByText('3 changes, compared with the live version').count()).toBe(1)
    const shown = (await page.locator('main').textContent()) ?? ''
    expect(shown).toContain(harm)
    expect(shown).toContain('\\u202egpj.exe\\u200b')
    expect(shown).not.toMatch(/[\u200b\u202e]/)
    await screenshot(page, 'desk review with harm')
  })
})
