import type axe from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The axe rules that depend on the theme. */
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/**
 * Checks the current page, with JavaScript enabled, by axe-core's rules for WCAG 2.2 A and AA and its best practices.
 * @throws Error with one line for each element that breaks a rule
 */
export const expectAccessible = async (page: Page): Promise<void> => await judge(page, standards)

/** Checks colours only, for a page that was checked completely in the other theme. */
export const expectAccessibleColours = async (page: Page): Promise<void> => await judge(page, colours)

/** Without a result, which would be the whole of axe, copied out of the browser. */
const source = `${await Bun.file(require.resolve('axe-core/axe.min.js')).text()}\n;undefined`
const judged = new WeakSet<BrowserContext>()

/** Brings axe into the page through the debugging protocol: the page's own policy stays as it is. */
const bringAxe = async (page: Page): Promise<void> => {
  if (await page.evaluate<boolean>('"axe" in window')) return
  const context = page.context()
  // A browser that is asked about a second page will be asked about more: from then on, every page begins with it.
  if (judged.has(context)) await context.addInitScript(source)
  judged.add(context)
  await page.evaluate(source)
}

const judge = async (page: Page, runOnly: readonly string[] | typeof colours): Promise<void> => {
  await bringAxe(page)
  // A frame shows another site's page, which axe cannot read from here.
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(document, ${JSON.stringify({ runOnly, iframes: false, resultTypes: ['violations'] })}).then((found) => found.violations)`,
  )
  if (violations.length > 0) throw new Error(`Not accessible: ${page.url()}\n${violations.flatMap(linesOf).join('\n')}`)
}

const linesOf = ({ id, help, nodes }: axe.Result): readonly string[] =>
  nodes.map(({ target, html, any, all, none }) => {
    const reason = [...any, ...all, ...none].map(({ message }) => message).join('; ')
    return `- ${id}: ${help}\n    ${target.join(' ')}\n    ${html.slice(0, 200)}\n    ${reason}`
  })
