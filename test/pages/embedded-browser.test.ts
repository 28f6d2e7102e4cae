import { expect } from 'bun:test'
import type { FrameLocator, Page } from 'playwright-core'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { addEmbeddedVersion, embedOrigin } from '../support/embedding.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, createWorld, endWorld, type Login, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { type BrowserOptions, openBrowser } from './support/browser.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { type SampleApp, startSampleApp } from './support/sample-app.ts'
import { signInByForm } from './support/sign-in.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

const minutes = 60_000
let world: World
beforeAll(async () => {
  world = await createWorld({ env: { LIFETIME_EMBEDDED_SESSION: '600' } })
})
afterAll(async () => await endWorld(world))

type Scene = { readonly page: Page; readonly app: AppInWorld; readonly owner: Login; readonly sample: SampleApp }

/** A live app with its own page, and a signed-in owner. */
const scene = async (options: BrowserOptions = {}): Promise<Scene> => {
  const { platform, server } = world
  const app = await addApp(platform, await addUser(platform, 'Dora Developer'))
  await addEmbeddedVersion(platform, app)
  const owner = await addUser(platform, 'Olga Owner')
  const origin = embedOrigin(app)
  // The public address, which the builder's own pages use.
  const builder = server.url.replace('127.0.0.1', 'localhost')
  const sample = startSampleApp(new URL(origin).hostname, { clientId: app.production.clientId, builder })
  const page = await openBrowser(builder, {
    ...options,
    alsoReaches: [origin, ...(options.alsoReaches ?? [])],
  })
  await signInByForm(page, owner)
  return { page, app, owner, sample }
}

/** Installs the app on its page, and returns the install after the operator has approved it. */
const install = async ({ page, app, owner }: Scene): Promise<string> => {
  await page.goto(`/apps/${app.slug}/install`)
  await page.getByLabel('Install it on').selectOption('site my-site')
  await page.getByRole('button', { name: 'Agree and install' }).click()
  await page.getByText('waits for an operator').waitFor()
  await page.locator('.badge', { hasText: 'Waiting for approval' }).waitFor()
  const [row] = await world.platform.database.queries.installs.pageOfUser(owner.id, '~', 1)
  const id = row?.install.id ?? ''
  await moveInstall(world.platform, trace, operator, { id, step: 'approve' })
  return id
}

const stateIs = async (frame: FrameLocator, text: string): Promise<void> =>
  await frame.locator('#state', { hasText: new RegExp(`^${text}$`) }).waitFor()

test(
  'an app in a frame gets a session without any secret, renews it, and stops when the install ends',
  async () => {
    const there = await scene({ foreseen: [/^401: .*\/oauth\/me$/, /^403: .*\/code$/] })
    const { page, app, sample } = there
    const id = await install(there)
    await page.goto('/installs')
    await page.getByRole('link', { name: /^Open/ }).click()
    const frame = page.frameLocator('iframe')
    await stateIs(frame, 'Working 1')
    expect(await frame.locator('#who').textContent()).toBe('Olga Owner')
    expect(await frame.locator('#sites').textContent()).toBe('my-site')
    await expectAccessible(page)

    await frame.getByRole('button', { name: 'Renew' }).click()
    await stateIs(frame, 'Working 2')

    const sent = JSON.stringify(sample.requests)
    expect(sample.requests.map(({ url }) => url)).toEqual(['/builder?theme=plain', '/app.js'])
    for (const secret of ['apic_', 'apes_', 'apus_', app.production.clientSecret]) expect(sent).not.toContain(secret)
    for (const { referrer } of sample.requests) expect(referrer ?? '').not.toContain('localhost')

    await moveInstall(world.platform, trace, operator, { id, step: 'deactivate' })
    await frame.getByRole('button', { name: 'Call again' }).click()
    await stateIs(frame, 'Stopped: invalid_token')
    await frame.getByRole('button', { name: 'Renew' }).click()
    await stateIs(frame, 'No more codes')
    expect(await page.getByRole('alert').textContent()).toContain('cannot continue')
  },
  2 * minutes,
)

test(
  'an app that asks for a code while the server cannot be reached gets it afterwards, and is not told that anything has ended',
  async () => {
    const there = await scene({ foreseen: [/^503: .*\/code$/, /ERR_FAILED/] })
    const { page } = there
    const id = await install(there)
    await page.goto(`/installs/${id}/open`)
    const frame = page.frameLocator('iframe')
    await stateIs(frame, 'Working 1')
    const tries: string[] = []
    await page.route('**/code', async (route) => {
      const fault = ['away', 'starting'][tries.length]
      tries.push(fault ?? 'answered')
      if (fault === 'away') await route.abort()
      else if (fault === 'starting') await route.fulfill({ status: 503, headers: { 'retry-after': '1' } })
      else await route.continue()
    })
    // The app asks again and again: the server is asked once at a time, and the app gets one answer.
    for (let count = 0; count < 20; count += 1) await frame.getByRole('button', { name: 'Renew' }).click()
    await stateIs(frame, 'Working 2')
    expect(tries).toEqual(['away', 'starting', 'answered'])
    expect(await page.getByRole('alert').count()).toBe(0)
  },
  2 * minutes,
)

test(
  'an app in a frame cannot navigate the builder, open windows, or read the builder',
  async () => {
    const there = await scene({
      foreseen: [/Unsafe attempt to initiate navigation|not allowed to navigate/, /Blocked opening|allow-popups/],
    })
    const { page } = there
    const id = await install(there)
    await page.goto(`/installs/${id}/open`)
    const frame = page.frameLocator('iframe')
    await stateIs(frame, 'Working 1')
    await frame.getByRole('button', { name: 'Escape' }).click()
    await frame.locator('#state', { hasText: /^Moved .*, opened false, read false$/ }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/installs/${id}/open`)
    expect(page.context().pages()).toHaveLength(1)
  },
  2 * minutes,
)

test(
  'no other page can frame the builder or request a code from it',
  async () => {
    const attacker = 'https://attacker.example'
    const there = await scene({
      alsoReaches: [attacker],
      foreseen: [/frame-ancestors|Refused to frame|Framing/, /failed: .*\/sign-in/],
    })
    const { page } = there
    const id = await install(there)
    const address = `${new URL(page.url()).origin}/installs/${id}/open`
    settleNeighbour('attacker.example', () => {
      const html = `<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><iframe src="${address}"></iframe>`
      return new Response(html, { headers: { 'content-type': 'text/html' } })
    })
    await page.goto(attacker)
    await page.waitForLoadState('networkidle')
    const framed = page.frames().find((frame) => frame !== page.mainFrame())
    expect(await framed?.locator('iframe').count()).toBe(0)

    await page.goto(`/installs/${id}/open`)
    const frame = page.frameLocator('iframe')
    await stateIs(frame, 'Working 1')
    const codes: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/code')) codes.push(request.url())
    })
    // Messages of the builder's own window are not from the frame.
    await page.evaluate("window.postMessage({ type: 'app-platform:code-request' }, '*')")
    await frame.getByRole('button', { name: 'Call again' }).click()
    await stateIs(frame, 'Working 2')
    expect(codes).toEqual([])
  },
  2 * minutes,
)

test(
  'without JavaScript the builder still installs and shows an app, and offers to reload it',
  async () => {
    const there = await scene({ javaScript: false, width: 'phone', theme: 'dark' })
    const { page, sample } = there
    const id = await install(there)
    await page.goto(`/installs/${id}/open`)
    await page.frameLocator('iframe').getByRole('heading', { name: 'Sample app' }).waitFor()
    await page.getByRole('link', { name: 'Reload the app' }).click()
    await page.frameLocator('iframe').getByRole('heading', { name: 'Sample app' }).waitFor()
    expect(sample.requests.filter(({ url }) => url.startsWith('/builder'))).toHaveLength(2)
  },
  2 * minutes,
)
