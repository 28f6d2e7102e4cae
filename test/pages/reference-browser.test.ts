import { expect } from 'bun:test'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'

// The API reference: its two pages, and *Authorize*, which asks for consent in a window of its own.

const { afterAll, afterEach, beforeAll, test } = needs('Chromium', 'openssl')

let world: World
/** Redirect URIs need https. */
const origin = 'https://platform.example'
beforeAll(async () => {
  world = await createWorld({ env: { PUBLIC_URL: origin } })
  settleNeighbour('platform.example', async (request) => {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'POST' ? await request.bytes() : null
    return await fetch(world.server.url + pathname + search, {
      method,
      headers,
      body,
      redirect: 'manual',
      decompress: false,
    })
  })
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

test('Authorize gets a token by consent, and a call of the page is answered with it', async () => {
  const { platform, app, user } = world
  const uri = `${origin}/docs/oauth2-redirect.html`
  await addRedirectUri(platform, trace, operator, { slug: app.slug, environment: 'development', uri })
  const page = await openBrowser(origin)
  await signInByForm(page, user)
  await page.goto('/docs/api')
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  const form = page.locator('.auth-container', { hasText: 'authorizationCode' })
  await form.getByLabel('client_id').fill(app.development.clientId)
  await form.getByLabel('client_secret').fill(app.development.clientSecret)
  await form.getByText('profile:read', { exact: true }).click()
  const opened = page.waitForEvent('popup')
  await form.getByText('Authorize', { exact: true }).click()
  const consent = await opened
  await consent.getByRole('button', { name: 'Allow', exact: true }).click()
  await form.getByText('Logout', { exact: true }).waitFor()
  await form.getByRole('button', { name: 'Close', exact: true }).click()

  const operation = page.locator('#operations-OAuth-identifyUser')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.getByText(user.id).first().waitFor()
  expect(await answer.locator('.response-col_status').innerText()).toContain('200')
  await screenshot(page, 'reference-authorized')
})

test('each page of the reference has the operations of its document, and leads to the other', async () => {
  const page = await openBrowser(origin, { width: 'phone', theme: 'dark' })
  await page.goto('/docs/api')
  await page.locator('#operations-Versions-createVersion').waitFor()
  expect(await page.locator('[id^=operations-Management]').count()).toBe(0)
  await page.getByRole('link', { name: 'For the builder' }).click()
  await page.locator('#operations-Management-putUser').waitFor()
  expect(await page.locator('[id^=operations-Versions]').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'For the builder' }).getAttribute('aria-current')).toBe('page')
  await screenshot(page, 'reference-builder')
})
