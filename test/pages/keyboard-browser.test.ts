import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { needs } from '../support/needs.ts'
import { endWorld, type Login } from '../support/world.ts'
import { openBrowser } from './support/browser.ts'
import { enterAs } from './support/enter.ts'
import { askPath, type Who } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// Every job from its first page to its result with the keyboard alone: the Tab key goes through the page from top to bottom, and
// everybody sees where the focus is.

const minutes = 60_000
let world: StockedWorld
beforeAll(async () => {
  world = await createStockedWorld()
}, minutes)
afterAll(async () => await endWorld(world))

/** The element with the focus: its name, whether it is visibly focused, and whether it comes after the one before it. */
const focused = `(() => {
  const element = document.activeElement
  const before = window.focusedBefore
  window.focusedBefore = element
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
  return {
    name: label.trim().replaceAll(/\\s+/g, ' '),
    isVisible: outlineStyle !== 'none' && outlineWidth !== '0px' && element.getBoundingClientRect().bottom > 0,
    isInOrder: before === undefined || !before.isConnected || element === before ||
      (before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  }
})()`
type Focused = { readonly name: string; readonly isVisible: boolean; readonly isInOrder: boolean }

/** Goes on with the Tab key to what has this name. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  const passed: string[] = []
  while (passed.length < 120) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<Focused>(focused)
    expect([at.name, at.isVisible, at.isInOrder]).toEqual([at.name, true, true])
    if (at.name === name) return
    passed.push(at.name)
  }
  throw new Error(`The Tab key does not lead to ${name}, but through ${passed.join(' | ')}`)
}

/** Does something with the key, and waits for the page that follows. */
const follow = async (page: Page, name: string): Promise<void> => {
  await tabTo(page, name)
  const led = page.waitForEvent('framenavigated')
  await page.keyboard.press('Enter')
  await led
  await page.waitForLoadState()
}

const fill = async (page: Page, name: string, text: string): Promise<void> => {
  await tabTo(page, name)
  await page.keyboard.type(text)
}

const openFor = async (who: Who, path: string, ...alsoReaches: readonly string[]): Promise<Page> => {
  const page = await openBrowser(world.server.url, { alsoReaches })
  await enterAs(page, world, who)
  await page.goto(path)
  return page
}
const pathOf = (page: Page): string => new URL(page.url()).pathname
const says = async (page: Page): Promise<string | null> => await page.getByRole('status').first().textContent()

const signInByKeys = async (page: Page, { email, password }: Login): Promise<void> => {
  await fill(page, 'Email address', email)
  await fill(page, 'Password', password)
  await follow(page, 'Sign in')
}

test('the front door by keyboard: a person signs in and allows an app', async () => {
  const { app } = world
  const origin = new URL(app.redirectUri).origin
  const page = await openFor('visitor', askPath(world), origin)
  await signInByKeys(page, world.user)
  expect(pathOf(page)).toBe('/oauth/authorize')
  await follow(page, 'Allow')
  await page.waitForURL(`${app.redirectUri}?code=**`) // over the page that leads there
})

test('the console by keyboard: a developer creates an app, uploads a version, submits it, and adds a webhook endpoint', async () => {
  const page = await openFor('user', '/console')
  await follow(page, 'Create an app')
  await fill(page, 'Name', 'By Keyboard')
  await fill(page, 'Slug', 'by-keyboard')
  await follow(page, 'Create the app')
  await page.goto('/console/by-keyboard/versions')
  await follow(page, 'Upload a version')
  await fill(page, 'Version', '1.0.0')
  await tabTo(page, 'Write the manifest here instead')
  await page.keyboard.press('Enter')
  await fill(page, 'Manifest', '{"name":"By Keyboard","scopes":[]}')
  await tabTo(page, 'Upload')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/versions/1.0.0?done=uploaded')
  await follow(page, 'Submit for review')
  expect(await page.locator('main .badge').first().textContent()).toBe('Waiting for review')
  await page.goto('/console/by-keyboard/webhooks')
  await follow(page, 'Add an endpoint')
  await fill(page, 'URL', 'https://8.8.8.8/hooks')
  await tabTo(page, 'All events')
  await page.keyboard.press('Space')
  await follow(page, 'Add the endpoint')
  expect(await page.getByLabel('Signing secret').inputValue()).toStartWith('whsec_')
})

test('the console by keyboard: a developer rolls back', async () => {
  const page = await openFor('user', `/console/${world.app.slug}/rollbacks`)
  await follow(page, 'Development')
  await follow(page, 'Roll back')
  await fill(page, 'Reason', 'It was too early')
  const [button = ''] = await page.getByRole('button', { name: /^Make .* the development head$/ }).allTextContents()
  await follow(page, button)
  expect(await says(page)).toBe('The development head has moved.')
})

test('the desk by keyboard: an operator approves a version, and rejects an install', async () => {
  const page = await openFor('operator', '/desk/reviews')
  await follow(page, 'Newsletter 2.0.0')
  await follow(page, 'Approve and make live')
  expect(await says(page)).toStartWith('Approved and live: ')
  await page.goto('/desk/installs')
  const [link = ''] = await page
    .getByRole('main')
    .getByRole('link', { name: /^Reject .* for / })
    .allTextContents()
  await follow(page, link)
  await follow(page, 'Reject')
  expect(await says(page)).toBe('The install is rejected.')
})

test('the account by keyboard: a person installs an app, and revokes the access of an app', async () => {
  const page = await openFor('user', `/apps/${world.app.slug}/install`)
  await follow(page, 'Agree and install')
  expect(pathOf(page)).toBe('/installs')
  await follow(page, 'Connected apps')
  const links = page.getByRole('main').getByRole('link', { name: /^Revoke access of .*, / })
  const [revoke = ''] = await links.allTextContents()
  await follow(page, revoke)
  await follow(page, 'Revoke access')
  expect(await says(page)).toStartWith('Access revoked.')
})
