import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expectAccessible, expectAccessibleColours } from './accessible.ts'

const scriptNamed = async (name: string): Promise<string> => await Bun.file(join(import.meta.dir, name)).text()
const [inspection, focusWatch] = await Promise.all([scriptNamed('inspect-page.js'), scriptNamed('try-focus.js')])

/** The faults of the layout at this width, as sentences, with scripts or without. */
export const inspectPage = async (page: Page): Promise<readonly string[]> => await page.evaluate<string[]>(inspection)

/** What axe finds in the current theme. */
export const judgeTheme = async (page: Page): Promise<readonly string[]> =>
  await expectAccessible(page).then(
    () => [],
    (error: Error) => [error.message],
  )

/** What axe finds in the current theme, and with the colours of the other one. */
export const judgeBothThemes = async (page: Page): Promise<readonly string[]> => {
  const faults = [...(await judgeTheme(page))]
  const isDark = await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')
  const [theme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  await expectAccessibleColours(page).catch((error: Error) => faults.push(`${other}: ${error.message}`))
  await page.emulateMedia({ colorScheme: theme })
  return faults
}

/**
 * Goes through the page with the focus: what the Tab key does not reach, and where the focus is invisible. The first press is a real one,
 * because only whoever uses the keyboard sees the focus. `keyboard-browser.test.ts` presses it all the way.
 */
export const judgeKeyboard = async (page: Page): Promise<readonly string[]> => {
  await page.keyboard.press('Tab')
  return await page.evaluate<string[]>(focusWatch)
}
