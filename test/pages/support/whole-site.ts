import type { Page } from 'playwright-core'
import { type BrowserOptions, openBrowser } from './browser.ts'
import { enterAs } from './enter.ts'
import { screenshot } from './screenshot.ts'
import { refusals, siteMap, type Who } from './site-map.ts'
import { framedOrigin, type StockedWorld } from './stocked-world.ts'

export const everybody = ['visitor', 'user', 'operator'] as const
export const minutes = 60_000

const facesFor = (world: StockedWorld, who: Who): readonly { readonly path: string; readonly status: number }[] => [
  ...siteMap
    .filter((site) => site.who === who && site.isDownload !== true)
    .flatMap(({ paths }) => paths(world).map((path) => ({ path, status: 200 }))),
  ...refusals.filter((site) => site.who === who).map(({ path, status }) => ({ path: path(world), status })),
]

const nameOf = (path: string, { width = 'desktop', theme = 'light', javaScript = true }: BrowserOptions): string =>
  [path.slice(0, 80).replaceAll(/[^a-z0-9]+/gi, '-'), width, theme, ...(javaScript ? [] : ['plain'])].join('-')

/** Opens every page of these people in one browser, and returns the faults that `judge` finds, page by page. */
export const walk = async (
  world: StockedWorld,
  who: Who,
  options: BrowserOptions,
  judge: (page: Page, path: string) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const page = await openBrowser(world.server.url, { ...options, alsoReaches: [framedOrigin] })
  await enterAs(page, world, who)
  const faults: string[] = []
  for (const { path, status } of facesFor(world, who)) {
    const answer = await page.goto(path)
    const seen = answer?.status() === status ? await judge(page, path) : [`The answer is ${answer?.status()}.`]
    faults.push(...seen.map((fault) => `${path}: ${fault}`))
    await screenshot(page, nameOf(path, options))
  }
  return faults
}
