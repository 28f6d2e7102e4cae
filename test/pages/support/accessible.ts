import axe from 'axe-core'
import type { Page } from 'playwright-core'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Judges the page as it now stands, with JavaScript switched on, by axe-core's rules for WCAG 2.2 A and AA and its best
 * practices.
 * @throws Error with one line for each element that breaks a rule
 */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(axe.source) // through the debugging protocol: the page's own policy stays as it is
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(document, ${JSON.stringify({ runOnly: tags, resultTypes: ['violations'] })}).then((found) => found.violations)`,
  )
  if (violations.length === 0) return
  const lines = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html, any, all, none }) => {
      const reason = [...any, ...all, ...none].map(({ message }) => message).join('; ')
      return `- ${id}: ${help}\n    ${target.join(' ')}\n    ${html.slice(0, 200)}\n    ${reason}`
    }),
  )
  throw new Error(`Not accessible: ${page.url()}\n${lines.join('\n')}`)
}
