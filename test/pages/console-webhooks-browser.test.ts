import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { listEndpoints } from '../../src/operations/webhooks/endpoints.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { addApp, addUser, createWorld, endWorld, type World } from '../support/world.ts'
import { confirm } from './support/confirm.ts'
import { expectAccessible } from './support/accessible.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'
import { needs } from '../support/needs.ts'

const { afterAll, afterEach, beforeAll, test } = needs('Chromium', 'openssl')

// Webhooks as a developer sets them up, with a real receiver.

let world: World
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  world = await createWorld({
    env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority },
  })
})
afterEach(closeBrowsers)
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

const press = async (page: Page, name: string | RegExp) => {
  const led = page.waitForEvent('framenavigated')
  await page.getByRole('button', { name, exact: true }).first().click()
  await led
  await page.waitForLoadState()
}

test('a developer adds an endpoint, tests it, sees it fail, rotates its secret and removes it', async () => {
  const user = await addUser(world.platform)
  const app = await addApp(world.platform, user)
  const page = await openBrowser(world.server.url)
  await page.goto(`/console/${app.slug}`)
  await signInByForm(page, user)
  await page.getByRole('navigation', { name: 'App' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('link', { name: 'Add an endpoint' }).click()
  await page.getByLabel('URL').fill('https://192.168.0.1/')
  await page.getByText('Choose individual install events').click()
  await page.getByRole('checkbox', { name: 'install.approved' }).check()
  await press(page, 'Add the endpoint')
  expect(await page.getByRole('alert').textContent()).toContain('an address that webhooks do not call')
  expect(await page.getByRole('checkbox', { name: 'install.approved' }).isChecked()).toBe(true)
  await expectAccessible(page)
  await screenshot(page, 'webhook-refused')
  await page.getByLabel('URL').fill(receiver.url)
  await press(page, 'Add the endpoint')
  expect(await page.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/)
  await screenshot(page, 'webhook-secret')
  await page.getByRole('link', { name: 'I have copied it: go to the endpoint' }).click()

  receiver.behave((call) => (call % 2 === 0 ? 200 : 503))
  await press(page, 'Send a ping')
  await press(page, 'Send a ping')
  const outcomes = await page.getByRole('region', { name: 'Attempts' }).locator('.badge').allTextContents()
  expect(outcomes.toSorted()).toEqual(['Answered 503', 'Delivered (200)'])
  await screenshot(page, 'webhook-endpoint')
  receiver.behave(() => 200)
  await press(page, 'Send all failed events again')
  expect(await page.getByRole('status').textContent()).toContain('nothing to send again') // a ping is no event
  await press(page, /^Send again: evt_/)
  expect(await page.getByRole('status').textContent()).toContain('being sent again')
  await confirm(page, 'Rotate the secret…')
  expect(await page.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/)
  await page.goto(`/console/${app.slug}/webhooks`)
  await screenshot(page, 'webhooks')
  await page.getByRole('link', { name: receiver.url }).click()
  await confirm(page, 'Remove the endpoint…')
  expect(await page.getByRole('status').textContent()).toContain('The endpoint is removed')
  expect(await listEndpoints(world.platform, app.slug)).toEqual([])
})
