import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { keyFromText, totpCode } from '../support/factors.ts'
import { needs } from '../support/needs.ts'
import { addUser, createWorld, endWorld, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { signInByForm } from './support/sign-in.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium')

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

const code = (key: Uint8Array, steps = 0) => totpCode(key, world.platform.clock.now(), steps)
const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()

/** Sets up an authenticator app by hand, from the start page of the account. */
const setUp = async (page: Page): Promise<Uint8Array> => {
  await page.goto('/account')
  await page.getByRole('main').getByRole('link', { name: 'Second factors' }).click()
  await page.getByRole('link', { name: 'Set up' }).click()
  await page.getByText('Enter the key instead').click()
  const key = keyFromText(await page.locator('#totp-key').innerText())
  await page.getByLabel('Code from the app').fill(code(key))
  await page.getByRole('button', { name: 'Turn it on' }).click()
  return key
}

for (const javaScript of [true, false]) {
  /** axe needs JavaScript. */
  const look = async (page: Page) => (javaScript ? await expectAccessible(page) : undefined)

  describe(`a second factor ${javaScript ? 'with' : 'without'} JavaScript`, () => {
    test('is set up, asked for at the next sign-in, and stands in the way of the back button and other tabs', async () => {
      const user = await addUser(world.platform)
      const first = await openBrowser(world.server.url, { javaScript })
      await signInByForm(first, user)
      const key = await setUp(first)
      const codes = (await first.locator('#recovery-codes').innerText()).split('\n')
      expect(codes).toHaveLength(10)
      await look(first)
      await first.getByRole('link', { name: 'I have saved them' }).click()
      expect(await heading(first)).toBe('Second factors')
      await look(first)
      await first.goBack()
      expect(await first.content()).not.toContain(codes[0] ?? '')

      const page = await openBrowser(world.server.url, { javaScript })
      await page.goto('/account/sessions')
      await signInByForm(page, user)
      expect(await heading(page)).toBe('Enter your code')
      await look(page)
      const tab = await page.context().newPage()
      await tab.goto('/account')
      expect(await heading(tab)).toBe('Sign in')
      await page.getByLabel('Code').fill('000000')
      await page.getByRole('button', { name: 'Sign in' }).click()
      expect(await page.getByRole('alert').innerText()).toContain('The code is wrong')
      await page.goBack()
      await page.getByLabel('Code').fill(code(key, 1))
      await page.getByRole('button', { name: 'Sign in' }).click()
      expect(await heading(page)).toBe('Sessions')
      await page.goBack()
      expect(await heading(page)).not.toBe('Enter your code')

      await page.goto('/account/factors')
      await page.getByRole('link', { name: 'Remove' }).click()
      await page.getByRole('button', { name: 'Remove it' }).click()
      expect(await page.getByRole('status').innerText()).toContain('is removed')
    })
  })
}
