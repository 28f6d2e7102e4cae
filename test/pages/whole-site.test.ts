import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { endWorld } from '../support/world.ts'
import { type BrowserOptions, openBrowser } from './support/browser.ts'
import { enterAs } from './support/enter.ts'
import { makeHostile } from './support/hostile-text.ts'
import { inspectPage, judgeAccessibility, judgeKeyboard } from './support/judge-page.ts'
import { pageTable } from './support/page-table.ts'
import { screenshot } from './support/screenshot.ts'
import { refusals, siteMap, type Who } from './support/site-map.ts'
import { createStockedWorld, framedOrigin, type StockedWorld } from './support/stocked-world.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// Every page, with hostile text in every field. What a single page does is in the tests of its area.

const minutes = 60_000
const everybody = ['visitor', 'user', 'operator'] as const
let world: StockedWorld
beforeAll(async () => {
  world = await createStockedWorld()
  await makeHostile(world.server.database)
}, minutes)
afterAll(async () => await endWorld(world))

const facesFor = (who: Who): readonly { readonly path: string; readonly status: number }[] => [
  ...siteMap
    .filter((site) => site.who === who && site.isDownload !== true)
    .flatMap(({ paths }) => paths(world).map((path) => ({ path, status: 200 }))),
  ...refusals.filter((site) => site.who === who).map(({ path, status }) => ({ path: path(world), status })),
]

const nameOf = (path: string, { width = 'desktop', theme = 'light', javaScript = true }: BrowserOptions): string =>
  [path.slice(0, 80).replaceAll(/[^a-z0-9]+/gi, '-'), width, theme, ...(javaScript ? [] : ['plain'])].join('-')

/** Opens every page of these people in one browser, and returns the faults that `judge` finds, page by page. */
const walk = async (
  who: Who,
  options: BrowserOptions,
  judge: (page: Page, path: string) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const page = await openBrowser(world.server.url, { ...options, alsoReaches: [framedOrigin] })
  await enterAs(page, world, who)
  const faults: string[] = []
  for (const { path, status } of facesFor(who)) {
    const answer = await page.goto(path)
    const seen = answer?.status() === status ? await judge(page, path) : [`The answer is ${answer?.status()}.`]
    faults.push(...seen.map((fault) => `${path}: ${fault}`))
    await screenshot(page, nameOf(path, options))
  }
  return faults
}

const judgeLook = async (page: Page) => [...(await inspectPage(page)), ...(await judgeAccessibility(page))]

const judgeLookAndKeyboard = async (page: Page) => [...(await judgeLook(page)), ...(await judgeKeyboard(page))]

test('the tests of the whole site know every page', () => {
  const pages = pageTable(world.platform).filter(({ method }) => method === 'GET')
  expect(siteMap.map(({ pattern }) => pattern).toSorted()).toEqual(pages.map(({ pattern }) => pattern).toSorted())
})

for (const who of everybody) {
  test(
    `every page for the ${who} is accessible and complete on a phone, and has all its links and forms without JavaScript`,
    async () => {
      const withScript = new Map<string, string>()
      const judge = async (page: Page, path: string) => {
        withScript.set(path, await page.evaluate<string>(linksAndForms))
        return await judgeLook(page)
      }
      expect(await walk(who, { width: 'phone', theme: 'dark' }, judge)).toEqual([])

      const judgePlain = async (page: Page, path: string) => {
        const isSame = (await page.evaluate<string>(linksAndForms)) === withScript.get(path)
        return [...(await inspectPage(page)), ...(isSame ? [] : ['Links or forms differ from those with JavaScript.'])]
      }
      expect(await walk(who, { javaScript: false, width: 'phone', theme: 'light' }, judgePlain)).toEqual([])
    },
    3 * minutes,
  )

  test(
    `every page for the ${who} is accessible and complete on a desktop, and can be used with the Tab key`,
    async () => {
      expect(await walk(who, { width: 'desktop', theme: 'light' }, judgeLookAndKeyboard)).toEqual([])
    },
    3 * minutes,
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
