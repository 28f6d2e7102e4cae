import { expect } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import type { Page } from 'playwright-core'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { findVersion } from '../../src/operations/versions/version-record.ts'
import { needs } from '../support/needs.ts'
import { addApp, createWorld, endWorld, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'

const { afterAll, afterEach, beforeAll, test } = needs('Chromium', 'openssl')

// An upload as a developer makes it. What it refuses is in console-versions.test.ts.

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

const archive = (manifest: string) => ({
  name: 'app.zip',
  mimeType: 'application/zip',
  buffer: Buffer.from(
    zipSync({
      'app.json': strToU8(manifest),
      'data.bin': [crypto.getRandomValues(new Uint8Array(60_000)), { level: 0 }],
    }),
  ),
})

/** Presses Tab until the control with this name has the focus. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>(
      'document.activeElement.name || document.activeElement.textContent.trim()',
    )
    if (focused === name) return
  }
  throw new Error(`Tab does not reach ${name}.`)
}

test('a version is uploaded by keyboard alone, with progress, and after a refusal the file is still chosen', async () => {
  const app = await addApp(world.platform, world.user)
  const page = await openBrowser(world.server.url, { foreseen: [/^400: .*\/versions$/] })
  page.on('filechooser', () => undefined) // the browser begins to report them a moment after somebody listens
  await page.goto(`/console/${app.slug}/versions`)
  await signInByForm(page, world.user)
  await tabTo(page, 'Upload a version')
  await page.keyboard.press('Enter')
  await page.waitForURL(/versions\/new$/)
  await tabTo(page, 'version')
  await page.keyboard.type('1.0')
  const choose = async (manifest: string) => {
    await tabTo(page, 'file')
    const chooser = page.waitForEvent('filechooser')
    await page.keyboard.press('Enter')
    await (await chooser).setFiles(archive(manifest))
  }
  await choose('{"name":"Letters","scopes":["site:read"]}')
  await tabTo(page, 'Upload')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  // The page of the refusal came without a navigation: the focus is on the field at fault, and the file is kept.
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('version')
  expect(await page.evaluate<number>('document.querySelector("input[type=file]").files.length')).toBe(1)
  await expectAccessible(page)
  await screenshot(page, 'console upload refused')
  await page.keyboard.press('End')
  await page.keyboard.type('.0')
  const seen = Promise.withResolvers<void>()
  await page.route(/\/versions$/, async (route) => {
    await seen.promise // so that the upload lasts until the bar was seen
    await route.continue()
  })
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar', { name: 'Upload' }).waitFor()
  seen.resolve()
  await page.waitForURL(/versions\/1\.0\.0\?done=uploaded$/)
  expect(await page.getByRole('status').textContent()).toContain('The draft is created.')
  const found = await findVersion(world.platform, await ownedApp(world.platform, world.user.id, app.slug), '1.0.0')
  expect(found).toMatchObject({
    manifest: { name: 'Letters' },
    artifact: { filename: 'app.zip' },
    scopes: ['site:read'],
  })
})

test('a version is uploaded without JavaScript', async () => {
  const app = await addApp(world.platform, world.user)
  const page = await openBrowser(world.server.url, { javaScript: false })
  await page.goto(`/console/${app.slug}/versions/new`)
  await signInByForm(page, world.user)
  await page.getByLabel('Version').fill('1.0.0')
  await page.locator('input[type=file]').setInputFiles(archive('{"name":"Letters"}'))
  await page.getByRole('button', { name: 'Upload' }).click()
  await page.waitForURL(/versions\/1\.0\.0\?done=uploaded$/)
  expect(await page.getByRole('status').textContent()).toContain('The draft is created.')
})
