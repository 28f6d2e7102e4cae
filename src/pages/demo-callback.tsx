import { renderToString } from 'preact-render-to-string'
import { environments } from '../domain/app.ts'
import { refuse } from '../domain/errors.ts'
import type { Routes } from './change.tsx'
import { Layout } from './design/shell.tsx'
import { Facts } from './design/values.tsx'
import { page } from './page.ts'

/** What a frame shows of an app of the demo. */
export const demoAppPath = <Slug extends string>(slug: Slug) => `/demo/app/${slug}` as const

/** A page that our own pages may frame, unlike all others. It can run and load nothing. */
const demoAppPage = (slug: string): Response =>
  new Response(
    `<!doctype html>${renderToString(
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="color-scheme" content="light dark" />
          <title>Demo app</title>
        </head>
        <body>
          <h1>The page of {slug}</h1>
          <p>
            This stands for the app’s own page. A real app has one at an address of its own. Its frame gets a code that
            works once, and its backend exchanges the code for a session. The guide about frames has the steps.
          </p>
        </body>
      </html>,
    )}`,
    {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'self'",
      },
    },
  )

const parameters = ['code', 'state', 'iss', 'error', 'error_description'] as const

/**
 * Stands for the backends of the demo's apps: shows what an app receives after a person has decided. Only `dev` serves it.
 */
export const demoCallbackRoutes: Routes = (app, { platform }) =>
  app
    .get(demoAppPath(':slug'), ({ params: { slug } }) => demoAppPage(slug))
    .get('/demo/callback/:slug/:environment', ({ request, params: { slug, environment } }) => {
      if (!environments.some((one) => one === environment)) throw refuse('route_not_found')
      const { searchParams } = new URL(request.url)
      const received = parameters.flatMap((name) => {
        const value = searchParams.get(name)
        return value === null ? [] : [[name, <code class="whole">{value}</code>] as const]
      })
      const isAllowed = searchParams.has('code')
      return page(
        <Layout title="What the app received" visit={platform} width="narrow">
          <p>
            This page stands for the backend of the demo’s app <code>{slug}</code>, in {environment}. A real app has an
            address of its own. The browser came back with this:
          </p>
          {received.length === 0 ? <p>Nothing. Start at the app’s authorization link.</p> : null}
          <Facts of={Object.fromEntries(received)} />
          {isAllowed ? (
            <p>
              The app now checks <code>state</code> and <code>iss</code>. Then it exchanges the code for tokens, with
              its client secret and its code verifier. The code works once and for a few minutes.
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
