import type { Page } from 'playwright-core'
import type { Login } from '../../support/world.ts'

/** Signs the user in through the form at /sign-in, and waits for the page that follows. */
export const signInByForm = async (
  page: Page,
  { email, password }: Pick<Login, 'email' | 'password'>,
): Promise<void> => {
  if (new URL(page.url(), 'http://nowhere').pathname !== '/sign-in') await page.goto('/sign-in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => url.pathname !== '/sign-in')
  // Operators are asked to set up a second factor. That is another test.
  if (new URL(page.url()).pathname !== '/account/factors/offer') return
  await page.getByRole('link', { name: 'Not now' }).click()
  await page.waitForURL((url) => url.pathname !== '/account/factors/offer')
}
