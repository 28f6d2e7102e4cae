import { expect } from 'bun:test'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { freePort } from '../clients/support/free-port.ts'
import { closeBrowsers, openBrowser } from '../pages/support/browser.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { startSampleBuilder } from './builder.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium', 'openssl')

let world: World
let builder: ReturnType<typeof startSampleBuilder>
let platform: string
beforeAll(async () => {
  const port = freePort()
  const env = { SIGN_IN: 'handover', SIGN_IN_URL: `http://localhost:${port}/apps/sign-in` }
  world = await createWorld({ env: { ...env, SIGN_OUT_URL: `http://localhost:${port}/`, PASSWORD_FOR: 'operators' } })
  platform = world.server.url.replace('127.0.0.1', 'localhost')
  const rights = ['users:write', 'resources:write', 'scopes:write', 'sign-in']
  const asked = { name: 'Builder', rights, networks: [], expiresInDays: null }
  const { secret } = await createServiceKey(world.platform, trace, operator, asked)
  builder = startSampleBuilder({ port, platform, serviceKey: secret })
  await builder.sendEverything()
})
afterEach(closeBrowsers)
afterAll(async () => {
  await builder.stop()
  await endWorld(world)
})

const heading = async (page: Awaited<ReturnType<typeof openBrowser>>) =>
  await page.getByRole('heading', { level: 1 }).innerText()

const open = async (javaScript: boolean) => await openBrowser(platform, { javaScript, alsoReaches: [builder.url] })

for (const javaScript of [true, false]) {
  describe(`a person of the builder, ${javaScript ? 'with' : 'without'} JavaScript`, () => {
    test('signs in at the builder, and comes back to the page that was asked for', async () => {
      const page = await open(javaScript)
      await page.goto('/account/sessions')
      expect(await heading(page)).toBe('Sign in to the builder')
      await page.getByLabel('Who are you?').selectOption('ines@builder.example')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${platform}/account/sessions`)
      expect(await page.content()).toContain('Ines Baker')
    })

    test('who is signed in at the builder sees no form', async () => {
      const page = await open(javaScript)
      await page.goto(builder.url)
      await page.getByLabel('Who are you?').selectOption('omar@builder.example')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('link', { name: 'Apps on your sites' }).click()
      await page.waitForURL(`${platform}/installs`)
      expect(await page.content()).toContain('Omar Potter')
    })

    test('signs out here and is led to the builder, and signs out there and is signed out here', async () => {
      const page = await open(javaScript)
      await page.goto('/account')
      await page.getByLabel('Who are you?').selectOption('ines@builder.example')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${platform}/account`)
      await page.goto(builder.url)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Who are you?').waitFor()
      await page.goto(`${platform}/account`)
      expect(await heading(page)).toBe('Sign in to the builder')
    })
  })
}

test('a disabled person is refused when coming back from the builder', async () => {
  await setUserStatus(world.platform, trace, operator, { email: 'omar@builder.example', status: 'disabled' })
  const page = await openBrowser(platform, { alsoReaches: [builder.url] })
  await page.goto('/account')
  await page.getByLabel('Who are you?').selectOption('omar@builder.example')
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect(await heading(page)).toBe('This sign-in has expired')
  await setUserStatus(world.platform, trace, operator, { email: 'omar@builder.example', status: 'active' })
})
