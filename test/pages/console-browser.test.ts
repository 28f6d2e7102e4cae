import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { listOwnApps } from '../../src/operations/apps/lists.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { listLiveCredentials } from '../../src/operations/credentials/credentials.ts'
import { addUser, appToken, createWorld, endWorld, type Login, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { type BrowserOptions, closeBrowsers, openBrowser } from './support/browser.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'
import { needs } from '../support/needs.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium', 'openssl')

// The console as a developer uses it. What it refuses is in console.test.ts.

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

type Developer = { readonly page: Page; readonly user: Login }

const enter = async (options: BrowserOptions = {}): Promise<Developer> => {
  const user = await addUser(world.platform)
  const page = await openBrowser(world.server.url, options)
  await page.goto('/console')
  await signInByForm(page, user)
  return { page, user }
}
const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).textContent()
const press = async (page: Page, name: string | RegExp) => {
  const led = page.waitForEvent('framenavigated')
  await page.getByRole('button', { name }).first().click()
  await led
  await page.waitForLoadState()
}
const openTab = async (page: Page, name: string) => {
  await page.getByRole('navigation', { name: 'App' }).getByRole('link', { name }).click()
  await page.waitForLoadState()
}
const createSecret = async (page: Page, environment: string) => {
  await page.getByRole('link', { name: `Create a ${environment} secret` }).click()
  await press(page, 'Create the secret')
}
const noticeOn = async (page: Page) => await page.getByRole('status').textContent()
const liveOf = async ({ user }: Developer, slug: string) => {
  const { clientIds } = await ownedApp(world.platform, user.id, slug)
  return await listLiveCredentials(world.platform, clientIds)
}
const createApp = async (page: Page, slug: string) => {
  await page.goto('/console/new')
  await page.getByLabel('Name').fill('Letters & <b>more</b>')
  await page.getByLabel('Slug').fill(slug)
  await page.getByRole('checkbox', { name: 'site:read' }).check()
  await press(page, 'Create the app')
}

const look = async (page: Page, name: string) => {
  await expectAccessible(page)
  await screenshot(page, `console ${name}`)
}

describe('the console', () => {
  test('a developer registers an app, and follows the checklist to its first call', async () => {
    const developer = await enter()
    const { page } = developer
    expect(await page.getByRole('main').textContent()).toContain('You have no apps yet')
    await look(page, 'empty')
    expect(await page.getByRole('link', { name: 'Create an app' }).getAttribute('href')).toBe('/console/new')
    await createApp(page, 'walked')
    expect(await heading(page)).toBe('Letters & <b>more</b>')
    expect(await noticeOn(page)).toContain('Your app is registered.')
    await look(page, 'fresh app')

    await page.getByRole('link', { name: 'Create a development secret' }).click()
    await page.getByLabel('Label').fill('My laptop')
    await press(page, 'Create the secret')
    const clientSecret = await page.getByLabel('Client secret').inputValue()
    expect(clientSecret).toStartWith('aps_dev_')
    await look(page, 'secret')
    const clientId = (await ownedApp(world.platform, developer.user.id, 'walked')).clientIds.development
    expect(await appToken(world.server.url, { clientId, clientSecret })).toStartWith('apat_')

    await page.getByRole('link', { name: 'I have copied it' }).click()
    expect(await page.getByRole('main').textContent()).toContain('My laptop')
    expect(await page.content()).not.toContain(clientSecret)
    await openTab(page, 'Overview')
    expect(await page.getByText('Make the first call').locator('..').textContent()).toContain('done')
  })
})

describe('twice', () => {
  test.each([true, false])('a double click on create makes one app and one secret (script: %p)', async (javaScript) => {
    const developer = await enter({ javaScript })
    const { page, user } = developer
    const slug = `double-${javaScript}`
    await page.goto('/console/new')
    await page.getByLabel('Name').fill('Twice')
    await page.getByLabel('Slug').fill(slug)
    await page.getByRole('checkbox', { name: 'site:read' }).check()
    await page.getByRole('button', { name: 'Create the app' }).dblclick()
    await page.getByRole('heading', { level: 1, name: /^(?:Twice|Already done)/ }).waitFor()
    expect((await listOwnApps(world.platform, user.id)).length).toBe(1)
    await page.goto(`/console/${slug}/credentials/new`)
    await page.getByRole('button', { name: 'Create the secret' }).dblclick()
    await page.getByRole('heading', { level: 1, name: /Your new secret|Already done/ }).waitFor()
    expect((await liveOf(developer, slug)).development).toHaveLength(1)
  })

  test('a secret is not shown again after a reload or with Back', async () => {
    const developer = await enter()
    const { page } = developer
    await createApp(page, 'shown-once')
    await openTab(page, 'Credentials')
    await createSecret(page, 'development')
    const secret = await page.getByLabel('Client secret').inputValue()
    await page.reload()
    expect(await page.getByRole('main').textContent()).toContain('There is no new secret to show.')
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('link', { name: 'Go to the credentials' }).click()
    await page.waitForURL('**/credentials?environment=development')
    await page.goBack()
    expect(await page.content()).not.toContain(secret)
    expect((await liveOf(developer, 'shown-once')).development).toHaveLength(1)
  })
})

test('the copy buttons copy, and are not there without the script', async () => {
  const { page } = await enter()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await createApp(page, 'copied')
  await openTab(page, 'Credentials')
  await createSecret(page, 'development')
  const secret = await page.getByLabel('Client secret').inputValue()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret)
  const plain = await enter({ javaScript: false })
  await createApp(plain.page, 'not-copied')
  expect(await plain.page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
})
