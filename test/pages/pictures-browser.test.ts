import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { needs } from '../support/needs.ts'
import { endWorld } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { enterAs } from './support/enter.ts'
import { inspectPage, judgeBothThemes } from './support/judge-page.ts'
import { screenshot } from './support/screenshot.ts'
import { askPath, siteMap, type Who } from './support/site-map.ts'
import { createStockedWorld, framedOrigin, type StockedWorld } from './support/stocked-world.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// Pages as people see them, without hostile text. `SCREENSHOTS=/some/folder` keeps the twelve pictures, and those of every page.

const minutes = 60_000
let world: StockedWorld
beforeAll(async () => {
  world = await createStockedWorld()
}, minutes)
afterAll(async () => await endWorld(world))

type Theme = 'light' | 'dark'
type Picture = readonly [
  name: string,
  who: Who,
  path: (world: StockedWorld) => string,
  width: 320 | 390 | 1280,
  theme: Theme,
]

const pictures: readonly Picture[] = [
  ['home', 'user', () => '/', 1280, 'light'],
  ['app', 'user', ({ app }) => `/console/${app.slug}`, 1280, 'dark'],
  ['app-phone', 'user', ({ app }) => `/console/${app.slug}`, 390, 'light'],
  ['versions', 'user', ({ app }) => `/console/${app.slug}/versions`, 1280, 'light'],
  ['versions-phone', 'user', ({ app }) => `/console/${app.slug}/versions`, 320, 'dark'],
  ['webhook', 'user', ({ app, endpointIds }) => `/console/${app.slug}/webhooks/${endpointIds[0]}`, 1280, 'light'],
  ['connected-apps-phone', 'user', () => '/account/apps', 390, 'dark'],
  ['consent', 'user', (of) => askPath(of, { scope: 'profile:read site:read store:read' }), 1280, 'light'],
  ['consent-phone', 'user', (of) => askPath(of, { scope: 'profile:read site:read store:read' }), 320, 'light'],
  ['review', 'operator', ({ app }) => `/desk/reviews/${app.slug}/2.0.0`, 1280, 'light'],
  ['users-phone', 'operator', () => '/desk/users', 390, 'light'],
  ['audit', 'operator', () => '/desk/audit', 1280, 'dark'],
]

/** Opens a page as tall as a phone or a laptop of that width. */
const openAs = async (who: Who, width: number, theme: Theme, javaScript = true): Promise<Page> => {
  const options = { width: width < 600 ? 'phone' : 'desktop', theme, javaScript } as const
  const page = await openBrowser(world.server.url, { ...options, alsoReaches: [framedOrigin] })
  await page.setViewportSize({ width, height: width === 320 ? 568 : 800 })
  await enterAs(page, world, who)
  return page
}

test(
  'the twelve pages that people see most are accessible and fit, at 320, 390 and 1280 pixels, light and dark',
  async () => {
    for (const [name, who, pathOf, width, theme] of pictures) {
      const page = await openAs(who, width, theme)
      expect([name, (await page.goto(pathOf(world)))?.status()]).toEqual([name, 200])
      const faults = [...(await inspectPage(page)), ...(await judgeBothThemes(page))]
      expect([name, faults]).toEqual([name, []])
      await screenshot(page, name)
    }
  },
  3 * minutes,
)

test('the answers on the consent page are in sight on the smallest phone', async () => {
  const page = await openAs('user', 320, 'light')
  await page.goto(askPath(world, { scope: 'profile.email:read profile:read site:read store:read' }))
  for (const name of ['Deny', 'Allow']) {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox()
    expect((box?.y ?? 1000) + (box?.height ?? 0)).toBeLessThanOrEqual(568)
  }
})

const faces = [320, 390, 1280].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) => [true, false].map((javaScript) => ({ width, theme, javaScript }))),
)

for (const { width, theme, javaScript } of faces) {
  const kind = `${width}-${theme}-${javaScript ? 'script' : 'plain'}`
  test.if(process.env['SCREENSHOTS'] !== undefined)(
    `every page is accessible and fits: ${kind}`,
    async () => {
      const faults: string[] = []
      for (const who of ['visitor', 'user', 'operator'] as const) {
        const page = await openAs(who, width, theme, javaScript)
        page.setDefaultTimeout(minutes)
        const sites = siteMap.filter((site) => site.who === who && site.isDownload !== true)
        for (const path of sites.flatMap(({ paths }) => paths(world))) {
          await page.goto(path)
          const accessible = javaScript ? expectAccessible(page).then(() => null, String) : null
          const seen = [...(await inspectPage(page)), ...[await accessible].filter((fault) => fault !== null)]
          const name = `${who}${path.slice(0, 80).replaceAll(/[^a-z0-9]+/gi, '-')}-${kind}`
          faults.push(...seen.map((fault) => `${name}: ${fault}`))
          await screenshot(page, name)
        }
        await closeBrowsers()
      }
      expect(faults).toEqual([])
    },
    20 * minutes,
  )
}
