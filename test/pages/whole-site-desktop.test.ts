import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { endWorld } from '../support/world.ts'
import { openBrowser } from './support/browser.ts'
import { enterAs } from './support/enter.ts'
import { makeHostile } from './support/hostile-text.ts'
import { inspectPage, judgeKeyboard } from './support/judge-page.ts'
import { pageTable } from './support/page-table.ts'
import { siteMap } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'
import { everybody, minutes, walk } from './support/whole-site.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// Every page, with hostile text in every field. What a single page does is in the tests of its area.

let world: StockedWorld
beforeAll(async () => {
  world = await createStockedWorld()
  await makeHostile(world.server.database)
}, 3 * minutes)
afterAll(async () => await endWorld(world))

// What axe finds does not depend on the width: the walk on a phone asks it.
const judge = async (page: Page) => [...(await inspectPage(page)), ...(await judgeKeyboard(page))]

test('the tests of the whole site know every page', () => {
  const pages = pageTable(world.platform).filter(({ method }) => method === 'GET')
  expect(siteMap.map(({ pattern }) => pattern).toSorted()).toEqual(pages.map(({ pattern }) => pattern).toSorted())
})

for (const who of everybody) {
  test(
    `every page for the ${who} is complete on a desktop, and can be used with the Tab key`,
    async () => {
      expect(await walk(world, who, { width: 'desktop', theme: 'light' }, judge)).toEqual([])
    },
    6 * minutes,
  )
}

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
