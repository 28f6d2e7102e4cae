import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Keeps the whole page as `<name>.png` in the folder named by the variable SCREENSHOTS; without it, does nothing. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
