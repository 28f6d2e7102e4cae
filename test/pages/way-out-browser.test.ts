import { expect } from 'bun:test'
import { serviceRights } from '../../src/domain/service-key.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { send } from '../flows/support/send.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, type AppInWorld, createWorld, endWorld, type World } from '../support/world.ts'
import { browserKinds } from './support/browser-kinds.ts'
import { type BrowserOptions, closeBrowsers, openBrowser } from './support/browser.ts'
import { askPath } from './support/front-door.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { screenshot } from './support/screenshot.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium', 'openssl')

// Browsers apply form-action to every redirect after a form. Here a form leads to the builder or to an app, which lead on.

const builder = 'https://builder.example'
const email = 'ada@builder.example'
let world: World
let platform: string
let own: AppInWorld
beforeAll(async () => {
  const env = { SIGN_IN: 'handover', SIGN_IN_URL: `${builder}/sign-in`, PASSWORD_FOR: 'operators' }
  world = await createWorld({ env })
  platform = world.server.url.replace('127.0.0.1', 'localhost')
  const stated = { externalId: 'ada', email, name: 'Ada', pictureUrl: null, status: null }
  await putBuilderUser(world.platform, trace, operator, stated)
  own = await addApp(world.platform, { ...world.user, email })
  const asked = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
  const { secret } = await createServiceKey(world.platform, trace, operator, asked)
  settleNeighbour('builder.example', async ({ url }) => {
    const path = `~/api/management/sign-in-requests/${new URL(url).searchParams.get('request') ?? ''}/accept`
    const body = JSON.stringify({ externalId: 'ada', reauthenticated: true })
    const answer = await send(world.server.url, 'POST', path, { token: secret, body })
    return new Response(null, { status: 303, headers: { location: answer.body.redirectTo } })
  })
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

type Page = Awaited<ReturnType<typeof openBrowser>>
const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()
const press = async (page: Page, name: string) => await page.getByRole('button', { name, exact: true }).click()
const open = async (options: BrowserOptions, others: readonly string[] = []) =>
  await openBrowser(platform, { ...options, alsoReaches: [builder, ...others] })

/** Ends the session of an open page, as twelve hours or another tab do. */
const endSession = async (page: Page): Promise<void> => {
  const cookie = (await page.context().cookies()).find(({ name }) => name.endsWith('-session'))
  const session = await authenticateSession(world.platform, cookie?.value ?? '')
  if (session === null) throw new Error('not signed in')
  await signOut(world.platform, trace, session)
}

describe.each(browserKinds)('after the session has ended, with $kind', (kind) => {
  test('a form leads through the builder and is shown again as it was filled in; then it is sent', async () => {
    const page = await open(kind)
    await page.goto('/console/new')
    await page.getByLabel('Name').fill('Words that were typed')
    await page.getByLabel('Slug').fill(`typed-${kind.width}`)
    await endSession(page)
    await press(page, 'Create the app')
    await page.getByRole('status').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Words that were typed')
    await press(page, 'Create the app')
    await page.waitForURL(`${platform}/console/typed-${kind.width}**`)
  })

  test('no button of an open page is dead', async () => {
    const page = await open(kind)
    const buttons = page.locator('main form[method=post] button:visible')
    for (const part of ['credentials/new', 'credentials/rotate', 'scopes']) {
      const path = `/console/${own.slug}/${part}`
      await page.goto(path)
      expect([path, await buttons.count()]).toEqual([path, 1])
      await endSession(page)
      const [left] = await Promise.all([
        page.waitForRequest((request) => request.url().startsWith(builder)),
        buttons.click(),
      ])
      expect(left.method()).toBe('GET')
      await page.getByRole('status').waitFor() // the page before has none: its address says nothing
    }
  })

  test('"Sign out" signs out, and does not go to the builder', async () => {
    const page = await open(kind)
    await page.goto('/account')
    await endSession(page)
    await press(page, 'Sign out')
    await page.waitForURL(`${platform}/signed-out`)
    expect(await heading(page)).toBe('You are signed out')
  })
})

describe.each(browserKinds)('after "Allow", with $kind, the callback of an app goes on', (kind) => {
  /** Allows a new app whose callback redirects. Returns the page and the codes that the callback got. */
  const allow = async (to: string, others: readonly string[] = []) => {
    const app = await addApp(world.platform, world.user)
    const codes: (string | null)[] = []
    const { hostname, origin } = new URL(app.redirectUri)
    settleNeighbour(hostname, ({ url }) => {
      codes.push(new URL(url).searchParams.get('code'))
      return new Response(null, { status: 302, headers: { location: to } })
    })
    const page = await open(kind, [origin, ...others])
    await page.goto(askPath(app))
    await Promise.all([page.waitForRequest(to), press(page, 'Allow')])
    return { page, codes }
  }

  test('to a program on this machine, without HTTPS', async () => {
    const html = { 'content-type': 'text/html' }
    const local = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response('<link rel="icon" href="data:,"><h1>Here</h1>', { headers: html }),
    })
    const to = `http://localhost:${local.port}/`
    const { page, codes } = await allow(to, [new URL(to).origin])
    await page.waitForURL(to)
    expect(codes).toEqual([expect.any(String)])
    await local.stop(true)
  })

  test('to a program with a scheme of its own, and the page that stays says what to do', async () => {
    const { page, codes } = await allow('myapp://done')
    expect(codes).toEqual([expect.any(String)])
    expect(await heading(page)).toBe('Back to the app')
    expect(await page.locator('main').innerText()).toContain('you can close this page')
    expect(await page.getByRole('link', { name: 'Continue' }).isVisible()).toBe(true)
    await screenshot(page, `own-scheme-${kind.width}`)
  })

  test('over two more hosts', async () => {
    settleNeighbour(
      'second.example',
      () => new Response(null, { status: 307, headers: { location: 'https://third.example/end' } }),
    )
    const { page, codes } = await allow('https://second.example/', ['https://second.example', 'https://third.example'])
    await page.waitForURL('https://third.example/end')
    expect(codes).toEqual([expect.any(String)])
  })
})
