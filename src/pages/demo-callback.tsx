import { Elysia } from 'elysia'
import { environments } from '../domain/app.ts'
import { refuse } from '../domain/errors.ts'
import type { Door } from '../http/door.ts'
import { Layout } from './design/shell.tsx'
import { Facts } from './design/values.tsx'
import { page } from './page.ts'

const parameters = ['code', 'state', 'iss', 'error', 'error_description'] as const

/**
 * Stands for the backends of the demo's apps: shows what an app receives after a person has decided. Only `dev` serves it.
 */
export const demoCallbackRoutes = ({ platform: { platformName } }: Door) =>
  new Elysia().get('/demo/callback/:slug/:environment', ({ request, params: { slug, environment } }) => {
    if (!environments.some((one) => one === environment)) throw refuse('route_not_found')
    const { searchParams } = new URL(request.url)
    const received = parameters.flatMap((name) => {
      const value = searchParams.get(name)
      return value === null ? [] : [[name, <code class="whole">{value}</code>] as const]
    })
    const isAllowed = searchParams.has('code')
    return page(
      <Layout title="What the app received" visit={{ platformName }} width="narrow">
        <p>
          This page stands for the backend of the demo’s app <code>{slug}</code>, in {environment}. A real app has an
          address of its own. The browser came back with this:
        </p>
        {received.length === 0 ? <p>Nothing. Start at the app’s authorization link.</p> : null}
        <Facts of={Object.fromEntries(received)} />
        {isAllowed ? (
          <p>
            The app now checks <code>state</code> and <code>iss</code>. Then it exchanges the code for tokens, with its
            client secret and its code verifier. The code works once and for a few minutes.
          </p>
        ) : null}
        {searchParams.has('error') ? (
          <p>The app has no access. It can tell the person why and offer to try again.</p>
        ) : null}
        <p>
          <a href="/account/apps">See what is connected to your account</a>
        </p>
      </Layout>,
    )
  })
