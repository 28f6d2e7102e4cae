import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { endWorld } from '../support/world.ts'
import { desktop, openBrowser, phone } from './support/browser.ts'
import { enterAs } from './support/enter.ts'
import { makeHostile } from './support/hostile-text.ts'
import { inspectPage, judgeKeyboard, judgeTheme } from './support/judge-page.ts'
import { pageTable } from './support/page-table.ts'
import { siteMap } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'
import { everybody, minutes, walk } from './support/whole-site.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// Every page, with hostile text in every field. What a single page does is in the tests of its area; the colours of the other theme
// are in those of the pictures.

let world: StockedWorld
beforeAll(async () => {
  world = await createStockedWorld()
  await makeHostile(world.server.database)
}, 3 * minutes)
afterAll(async () => await endWorld(world))

test('the tests of the whole site know every page', () => {
  const pages = pageTable(world.platform).filter(({ method }) => method === 'GET')
  const known = siteMap.map(({ pattern }) => pattern)
  expect(known.toSorted(), 'The list is in test/pages/support/site-map.ts.').toEqual(
    pages.map(({ pattern }) => pattern).toSorted(),
  )
})

/** On the phone that it is on, and then as wide as a desktop. What axe finds does not depend on the width. */
const judge = async (page: Page): Promise<readonly string[]> => {
  const onPhone = [...(await inspectPage(page)), ...(await judgeTheme(page))]
  await page.setViewportSize(desktop)
  const onDesktop = [...(await inspectPage(page)), ...(await judgeKeyboard(page))]
  await page.setViewportSize(phone)
  return [...onPhone, ...onDesktop.map((fault) => `On a desktop: ${fault}`)]
}

for (const who of everybody) {
  test(
    `every page for the ${who} is accessible and complete on a phone and a desktop, by keyboard, and without JavaScript`,
    async () => {
      const withScript = new Map<string, string>()
      const judgeAll = async (page: Page, path: string) => {
        withScript.set(path, await page.evaluate<string>(linksAndForms))
        return await judge(page)
      }
      expect(await walk(world, who, { width: 'phone', theme: 'dark' }, judgeAll)).toEqual([])

      const judgePlain = async (page: Page, path: string) => {
        const isSame = (await page.evaluate<string>(linksAndForms)) === withScript.get(path)
        return [...(await inspectPage(page)), ...(isSame ? [] : ['Links or forms differ from those with JavaScript.'])]
      }
      expect(await walk(world, who, { javaScript: false, width: 'phone', theme: 'light' }, judgePlain)).toEqual([])
    },
    20 * minutes, // on a busy machine; a quiet one takes less than one
  )
}

/** Everything that a person can press, in order, but for passkeys, which need JavaScript. */
const linksAndForms = `JSON.stringify(
  [...document.querySelectorAll('a[href], form, button:not([data-copy]), input, select, textarea')]
    .filter((element) => element.checkVisibility() && element.closest('[data-passkey]') === null)
    .map((element) => [element.localName, element.getAttribute('href') ?? element.getAttribute('action') ?? element.name]),
)`

test('the first Tab key press shows a skip link, which leads to the content', async () => {
  const page = await openBrowser(world.server.url)
  await enterAs(page, world, 'user')
  await page.goto('/account')
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to the content' })
  expect(await skip.evaluate((link) => link.matches(':focus'))).toBe(true)
  expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0)
  await page.keyboard.press('Enter')
  expect(await page.evaluate<boolean>('document.activeElement.matches("main")')).toBe(true)
  await page.keyboard.press('Tab')
  expect(await page.evaluate<boolean>('document.activeElement.closest("main") !== null')).toBe(true)
})
