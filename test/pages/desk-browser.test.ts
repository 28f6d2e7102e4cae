import { receivedArtifact } from '../support/received-artifact.ts'
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { moveThrough, submitVersion, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, endWorld } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { askedFirst } from './support/confirm.ts'
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
