import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The axe rules that depend on the theme. */
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/**
 * Checks the current page, with JavaScript enabled, by axe-core's rules for WCAG 2.2 A and AA and its best practices. It takes longer than
 * the rest of a test: `whole-site-browser.test.ts` checks every page, and other tests check only what that walk does not see, such as a
 * refused form or a secret that is shown once.
 * @throws Error with one line for each element that breaks a rule
 */
export const expectAccessible = async (page: Page): Promise<void> => await judge(page, standards)

/** Checks colours only, for a page that was checked completely in the other theme. */
export const expectAccessibleColours = async (page: Page): Promise<void> => await judge(page, colours)

/** Without a result, which would be the whole of axe, copied out of the browser. */
const source = `${await Bun.file(require.resolve('axe-core/axe.min.js')).text()}\n;undefined`

const judge = async (page: Page, runOnly: readonly string[] | typeof colours): Promise<void> => {
  // Through the debugging protocol: the page's own policy stays as it is. To send axe costs more than to judge a page with it, so what is
  // opened after the first page has it from the start.
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    await page.evaluate(source)
    await page.addInitScript({ content: source })
  }
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
