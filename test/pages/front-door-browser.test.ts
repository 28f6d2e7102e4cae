import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { call } from '../support/call.ts'
import { needs } from '../support/needs.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  createWorld,
  endWorld,
  exchangeBody,
  type Login,
  type World,
} from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { browserKinds } from './support/browser-kinds.ts'
import { type BrowserOptions, closeBrowsers, openBrowser } from './support/browser.ts'
import { askPath } from './support/front-door.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium', 'openssl')

let world: World
let app: AppInWorld
let appOrigin: string
beforeAll(async () => {
  world = await createWorld()
  app = await addApp(world.platform, await addUser(world.platform, 'Grace Publisher'))
  appOrigin = new URL(app.redirectUri).origin
})
afterEach(closeBrowsers)
afterAll(async () => await endWorld(world))

const question = 'Allow this app?'
const neighbour = 'A neighbour'
const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()
const press = async (page: Page, name: string) => await page.getByRole('button', { name, exact: true }).click()
const grantsOf = async ({ id }: Login) => (await world.platform.database.queries.personal.rows('grants', id)).length

/** A new person's browser on the consent page. */
const asked = async (options: BrowserOptions = {}, path = askPath(app)): Promise<{ page: Page; user: Login }> => {
  const user = await addUser(world.platform)
  const page = await openBrowser(world.server.url, { alsoReaches: [appOrigin], ...options })
  await page.goto(path)
  await signInByForm(page, user)
  expect(await heading(page)).toBe(question)
  return { page, user }
}
/** The parameters that the app receives when the browser arrives there. */
const told = async (page: Page): Promise<Readonly<Record<string, string>>> => {
  await page.waitForURL(`${app.redirectUri}?**`)
  return Object.fromEntries(new URL(page.url()).searchParams)
}

describe.each(browserKinds)('with $kind', (kind) => {
  test('a person signs in, sees the request, allows it, and the app gets tokens', async () => {
    const page = await openBrowser(world.server.url, { ...kind, alsoReaches: [appOrigin] })
    await page.goto(askPath(app))
    expect(await heading(page)).toBe('Sign in')
    await signInByForm(page, world.user)
    expect(new URL(page.url()).pathname).toBe('/oauth/authorize')
    const text = await page.locator('main').innerText()
    for (const words of [
      'Newsletter',
      'Grace Publisher',
      'Development: for testing by its developers',
      world.user.email,
    ]) {
      expect(text).toContain(words)
    }
    expect(await page.locator('ul.asked > li').allInnerTexts()).toEqual([
      'See your name and picture',
      'List your websites',
    ])
    await screenshot(page, `consent-${kind.width}-${kind.theme}`)
    await press(page, 'Allow')
    const { code = '', ...rest } = await told(page)
    expect(rest).toEqual({ state: 'af0ifjsldkj', iss: expect.stringContaining('http://localhost') })
    const { body } = await call(world.server.url, 'POST', '/oauth/token', { body: exchangeBody(app, code) })
    expect(body.scope).toBe('profile:read site:read')
  })

  test('a person denies, and the app gets access_denied', async () => {
    const { page, user } = await asked(kind)
    await page.getByRole('button', { name: 'Deny', exact: true }).press('Enter')
    expect(await told(page)).toMatchObject({ error: 'access_denied', state: 'af0ifjsldkj' })
    expect(await grantsOf(user)).toBe(0)
  })

  test('both buttons have one size and are in sight at once, Allow is filled and Deny is not, and neither is preselected', async () => {
    const { page } = await asked(kind)
    const seen = await page.evaluate<Record<'size' | 'filling' | 'place', string>[]>(
      `[...document.querySelectorAll('form.decision button')].map((button) => {
        const { width, height, top, bottom } = button.getBoundingClientRect()
        const isInSight = top >= 0 && bottom <= innerHeight
        const { backgroundColor: filling, fontSize } = getComputedStyle(button)
        return { size: [width, height, fontSize].join(), filling, place: [top, isInSight].join() }
      })`,
    )
    const [deny, allow, ...others] = seen
    expect(others).toEqual([])
    expect(allow).toMatchObject({ size: deny?.size ?? '', place: deny?.place ?? '' })
    expect(allow?.place).toEndWith('true')
    expect(deny?.filling).toBe(
      await page.evaluate<string>('getComputedStyle(document.querySelector("main")).backgroundColor'),
    )
    expect(allow?.filling).not.toBe(deny?.filling ?? '')
    expect(await page.locator('main input:not([type=hidden]), main select, [autofocus]').count()).toBe(0)
  })
})

// Only the script can make a difference here, so two browsers are enough.
describe.each(browserKinds.filter(({ theme }) => theme === 'light'))('with $kind, too', (kind) => {
  test('Back after Deny leads to the consent page again, and to one grant at most', async () => {
    const { page, user } = await asked(kind)
    await press(page, 'Deny')
    await told(page)
    await page.goBack()
    expect(await heading(page)).toBe(question)
    await press(page, 'Allow')
    // The page that leads to the app has the address of the question.
    await page.getByRole('heading', { name: /^(A neighbour|You have already decided)$/ }).waitFor()
    await page.goBack()
    expect(await grantsOf(user)).toBeLessThanOrEqual(1)
  })

  test('a double click on Allow gives one grant', async () => {
    const { page, user } = await asked(kind)
    await page.getByRole('button', { name: 'Allow', exact: true }).dblclick()
    // Without the script both clicks are sent, and the browser shows the answer to the second.
    await page
      .getByRole('heading', { name: kind.javaScript ? neighbour : /^(A neighbour|You have already decided)$/ })
      .waitFor()
    expect(await grantsOf(user)).toBe(1)
  })
})

test('two tabs are decided independently', async () => {
  const { page, user } = await asked()
  const second = await page.context().newPage()
  await second.goto(askPath(app, { state: 'second' }))
  await press(page, 'Deny')
  expect(await told(page)).toMatchObject({ error: 'access_denied', state: 'af0ifjsldkj' })
  await press(second, 'Allow')
  expect(await told(second)).toMatchObject({ code: expect.any(String), state: 'second' })
  expect(await grantsOf(user)).toBe(1)
})

test('a page that was shown to one person decides nothing for the next person who signs in', async () => {
  const { page, user } = await asked()
  const other = await addUser(world.platform)
  const second = await page.context().newPage()
  await second.goto(askPath(app))
  await press(second, 'Sign out and use another account')
  await second.waitForURL('**/sign-in?**')
  await signInByForm(second, other)
  await press(page, 'Allow')
  expect(await heading(page)).toBe('Nothing was decided')
  await expectAccessible(page)
  await screenshot(page, 'nothing-decided')
  expect([await grantsOf(user), await grantsOf(other)]).toEqual([0, 0])
  await page.getByRole('link', { name: 'Ask me again' }).click()
  expect(await page.locator('main').innerText()).toContain(other.email)
})

/** Another port of this machine: the same site for a browser, so cookies are sent, but another origin. */
const servePage = (html: string) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(`<!doctype html><title>Evil</title><link rel="icon" href="data:,">${html}`, {
        headers: { 'content-type': 'text/html' },
      }),
  })
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

describe('another site', () => {
  test('cannot frame the consent page, on the same site or another', async () => {
    const frame = `<iframe src="${escaped(world.server.url + askPath(app))}"></iframe>`
    const near = servePage(frame)
    settleNeighbour(
      'evil.example',
      () =>
        new Response(`<!doctype html><title>Evil</title><link rel="icon" href="data:,">${frame}`, {
          headers: { 'content-type': 'text/html' },
        }),
    )
    const { page } = await asked({
      alsoReaches: ['https://evil.example', near.url.origin],
      foreseen: [/frame-ancestors 'none'/, /ERR_BLOCKED_BY_RESPONSE/],
    })
    for (const where of ['https://evil.example/', near.url.href]) {
      await page.goto(where, { waitUntil: 'networkidle' })
      const framed = page.frames().find((candidate) => candidate !== page.mainFrame())
      expect(framed?.url()).toStartWith('chrome-error://')
      expect(await framed?.locator('button').count()).toBe(0)
    }
    await near.stop(true)
  })

  test('cannot send the decision, even with all fields of the page', async () => {
    const { page, user } = await asked()
    const value = async (name: string) =>
      escaped((await page.locator(`form.decision [name=${name}]`).getAttribute('value')) ?? '')
    const form = `<form method="post" action="${world.server.url}/oauth/authorize"><input name="ticket" value="${await value('ticket')}"><input name="request" value="${await value('request')}"><button name="decision" value="allow">Win</button></form>`
    const near = servePage(form)
    settleNeighbour(
      'evil.example',
      () =>
        new Response(`<!doctype html><title>Evil</title><link rel="icon" href="data:,">${form}`, {
          headers: { 'content-type': 'text/html' },
        }),
    )
    const evil = await openBrowser(world.server.url, { alsoReaches: ['https://evil.example', near.url.origin] })
    await evil.context().addCookies(await page.context().cookies())
    for (const where of ['https://evil.example/', near.url.href]) {
      await evil.goto(where)
      await press(evil, 'Win')
      expect(await heading(evil)).toBe('Nothing was decided')
      expect(await evil.getByRole('button').count()).toBe(0)
    }
    expect(await grantsOf(user)).toBe(0)
    await press(page, 'Allow') // the ticket was not spent by it
    expect(await told(page)).toHaveProperty('code')
    await near.stop(true)
  })
})
