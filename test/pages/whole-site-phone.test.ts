import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { endWorld } from '../support/world.ts'
import { makeHostile } from './support/hostile-text.ts'
import { inspectPage, judgeTheme } from './support/judge-page.ts'
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

for (const who of everybody) {
  test(
    `every page for the ${who} is accessible and complete on a phone, and has all its links and forms without JavaScript`,
    async () => {
      const withScript = new Map<string, string>()
      const judge = async (page: Page, path: string) => {
        withScript.set(path, await page.evaluate<string>(linksAndForms))
        return [...(await inspectPage(page)), ...(await judgeTheme(page))]
      }
      expect(await walk(world, who, { width: 'phone', theme: 'dark' }, judge)).toEqual([])

      const judgePlain = async (page: Page, path: string) => {
        const isSame = (await page.evaluate<string>(linksAndForms)) === withScript.get(path)
        return [...(await inspectPage(page)), ...(isSame ? [] : ['Links or forms differ from those with JavaScript.'])]
      }
      expect(await walk(world, who, { javaScript: false, width: 'phone', theme: 'light' }, judgePlain)).toEqual([])
    },
    6 * minutes,
  )
}

/** Everything that a person can press, in order, but for passkeys, which need JavaScript. */
const linksAndForms = `JSON.stringify(
  [...document.querySelectorAll('a[href], form, button:not([data-copy]), input, select, textarea')]
    .filter((element) => element.checkVisibility() && element.closest('[data-passkey]') === null)
    .map((element) => [element.localName, element.getAttribute('href') ?? element.getAttribute('action') ?? element.name]),
)`
