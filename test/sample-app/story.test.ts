import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { freePort } from '../clients/support/free-port.ts'
import { closeBrowsers, openBrowser } from '../pages/support/browser.ts'
import type { Json } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'

const { afterAll, afterEach, beforeAll, test } = needs('Chromium', 'openssl')

const builder = `http://localhost:${freePort()}`
const app = `https://localhost:${freePort()}`
let platform = ''
let printed = ''
const demo = Bun.spawn(
  [process.execPath, join(import.meta.dir, '../sample-builder/dev.ts'), '--builder', '--port', '0'],
  {
    env: { PATH: process.env['PATH'] ?? '', BUILDER_PORT: new URL(builder).port, APP_URL: app },
    stdout: 'pipe',
    stderr: 'ignore',
  },
)
const read = async (): Promise<void> => {
  const decoder = new TextDecoder()
  for await (const chunk of demo.stdout) printed += decoder.decode(chunk, { stream: true })
}
let reading: Promise<void>
beforeAll(async () => {
  reading = read()
  await shows(new RegExp(`^${app}$`, 'm')) // what the app says when it listens
  platform = /fresh demo is at (http:\/\/\S+);/.exec(printed)?.[1] ?? ''
}, 120_000)
afterEach(closeBrowsers)
afterAll(async () => {
  demo.kill()
  await demo.exited
  await reading
})

/** Waits until the demo, or the app in it, has printed this. */
const shows = async (pattern: RegExp): Promise<void> => {
  const isThere = async () => pattern.test(printed)
  for (let tries = 0; tries < 10; tries += 1) if (await eventually(isThere, (is) => is)) return
  throw new Error(`${pattern} is not in ${printed}`)
}

const jsonAt = async (page: Page, path: string): Promise<Json> => {
  await page.goto(`${app}${path}`)
  return JSON.parse(await page.innerText('body'))
}

test('a user of the builder installs the app, which reads pages, serves a frame, hears of changes, and is refused after uninstalling', async () => {
  const page = await openBrowser(platform, { alsoReaches: [builder, app] })
  await page.goto(builder)
  await page.getByLabel('Who are you?').selectOption('ines@builder.example')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Apps on your sites' }).click()
  await page.waitForURL(`${platform}/installs`)

  // Before it is installed, the app has consent and nothing to read.
  await page.goto(`${app}/pages`)
  expect(await page.content()).toContain('Read the pages of your websites')
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.waitForURL((url) => url.origin === app)
  expect(await page.innerText('body')).toStartWith('install_required')
  expect(await jsonAt(page, '/pages')).toEqual([])

  await page.goto(`${platform}/apps/page-list/install`)
  await page.getByRole('button', { name: 'Agree and install' }).click()
  await shows(/^install\.approved: installed on site s-1$/m)
  const { data } = await jsonAt(page, '/')
  expect(data.map(({ slug }: { slug: string }) => slug)).toEqual(['bakery'])
  expect(await jsonAt(page, '/pages')).toEqual([{ site: 's-1', pages: ['Home', 'Opening hours'] }])

  // The backend of the page in the frame learns from the server whom it serves.
  await page.goto(`${platform}/installs`)
  await page.getByRole('link', { name: /^Open/ }).click()
  const who = page.frameLocator('iframe').locator('#who')
  await who.filter({ hasText: 'site' }).waitFor()
  expect(JSON.parse(await who.innerText())).toEqual({ user: expect.stringMatching(/^usr_/), site: 's-1' })

  await page.goto(builder)
  await page.getByLabel('New name').fill('Bread and Cake')
  await page.getByRole('button', { name: 'Rename' }).click()
  await shows(/^resource\.updated: installed on site s-1$/m)
  expect((await jsonAt(page, '/')).data[0].name).toBe('Bread and Cake')

  await page.goto(`${platform}/installs`)
  await page.getByRole('link', { name: 'Uninstall' }).click()
  await page.locator('main button.primary').click()
  await shows(/^install\.deactivated: installed on nothing$/m)
  await page.goto(`${app}/pages`) // uninstalling has ended the access as well
  expect(await page.innerText('body')).toStartWith('invalid_token')
  await page.goto(`${app}/pages`)
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.waitForURL((url) => url.origin === app)
  expect(await page.innerText('body')).toStartWith('install_required')
  expect(await jsonAt(page, '/pages')).toEqual([])
})

test('the app forgets a person whose account at the builder is closed', async () => {
  const page = await openBrowser(platform, { alsoReaches: [builder, app] })
  await page.goto(builder)
  await page.getByLabel('Who are you?').selectOption('omar@builder.example')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Rename' }).waitFor()
  await page.goto(`${platform}/apps/page-list/install`)
  await page.getByRole('button', { name: 'Agree and install' }).click()
  await shows(/^install\.approved: installed on site s-2$/m)
  await page.goto(builder)
  await page.getByRole('button', { name: 'Close your account' }).click()
  await page.getByLabel('Who are you?').waitFor()
  await shows(/^user\.erased: installed on nothing$/m)
  await page.goto(app) // the session there has ended with it
  await page.getByLabel('Who are you?').waitFor()
})

test('the app takes no webhook that the server did not sign', async () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'user.erased', data: { userId: 'usr_1' } })
  const id = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
  for (const signature of ['', 'v1,', `v1,${Buffer.alloc(32).toString('base64')}`]) {
    const headers = { ...id, 'webhook-signature': signature }
    const init = { method: 'POST', body, headers, tls: { rejectUnauthorized: false } }
    expect((await fetch(`${app}/webhooks`, init)).status).toBe(400)
  }
})
