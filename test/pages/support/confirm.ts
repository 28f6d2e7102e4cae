import type { Page } from 'playwright-core'

/** Follows the first link with this name to its confirmation page. */
export const askedFirst = async (page: Page, name: string | RegExp): Promise<void> => {
  const led = page.waitForEvent('framenavigated')
  await page
    .getByRole('main')
    .getByRole('link', { name, exact: typeof name === 'string' })
    .first()
    .click()
  await led
  await page.waitForLoadState()
}

/** The same, and confirms there, if necessary by typing a name. */
export const confirm = async (page: Page, name: string | RegExp, typed?: string): Promise<void> => {
  await askedFirst(page, name)
  if (typed !== undefined) await page.getByLabel('To confirm, type').fill(typed)
  const led = page.waitForEvent('framenavigated')
  await page.locator('main button.primary').click()
  await led
  await page.waitForLoadState()
}
