import type { Login } from '../../support/world.ts'
import { openBrowser } from '../../pages/support/browser.ts'
import { signInByForm } from '../../pages/support/sign-in.ts'

type Person = { readonly user: Login; readonly answer: 'Allow' | 'Deny' }

/** Signs in and decides in a browser, and returns the callback URL. */
export const decideInBrowser = async (
  publicUrl: string,
  authorizationUrl: string,
  { user, answer }: Person,
): Promise<string> => {
  const callback = new URL(new URL(authorizationUrl).searchParams.get('redirect_uri') ?? '')
  const page = await openBrowser(publicUrl, { alsoReaches: [callback.origin] })
  await page.goto(authorizationUrl)
  await signInByForm(page, user)
  await page.getByRole('button', { name: answer, exact: true }).click()
  await page.waitForURL((url) => url.origin === callback.origin)
  return page.url()
}
