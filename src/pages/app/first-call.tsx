import { usableBy } from '../../domain/scope.ts'
import { listLiveCredentials } from '../../operations/credentials/credentials.ts'
import { listRedirectUris } from '../../operations/redirect-uris.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { CodeBlock } from '../design/values.tsx'
import { page } from '../page.ts'
import {
  appTokenLines,
  authorizeLines,
  type CallFacts,
  exchangeLines,
  setUpLines,
  typescriptLines,
} from './first-call-lines.ts'
import { AppPage, inConsole, pageOfApp } from './app-area.tsx'
import { routes } from '../change.tsx'

/** Commands to paste, filled in with the app's client ID. */
export const firstCallRoutes = routes(() => [
  pageOfApp(inConsole, 'first-call', async (at) => {
    const { app, environment } = at
    const { platform } = at.visit.door
    const catalogue = await readCatalogue(platform)
    const { redirectUris } = await listRedirectUris(platform, app.slug)
    const facts: CallFacts = {
      base: platform.publicUrl,
      clientId: app.clientIds[environment],
      redirectUri: redirectUris[environment][0] ?? null,
      appScope: usableBy('app', app.scopes, catalogue).join(' '),
      userScope: usableBy('user', app.scopes, catalogue).join(' '),
    }
    const secrets = (await listLiveCredentials(platform, app.clientIds))[environment]
    return page(
      <AppPage at={at} tab="first-call" title="First call" switches>
        <p>
          From an app token to a user’s consent, filled in with the client ID of this app. You need <code>curl</code>,{' '}
          <code>openssl</code> and a client secret.
        </p>
        {secrets.length > 0 ? null : (
          <p class="notice">
            {`This app has no active ${environment} secret. `}
            <a href={at.path('credentials', 'new')}>Create one first</a>, then return to this page.
          </p>
        )}
        <h2>1. Set up a terminal</h2>
        <p>
          The last line asks for the secret and keeps it in a variable of this terminal. The secret is not on this page
          and does not get into your shell history.
        </p>
        <CodeBlock id="set-up" label="Set up" code={setUpLines(facts)} />
        <h2>2. Get an app token and call the API</h2>
        {facts.appScope === '' ? (
          <p>
            None of its scopes is for the app itself, so the app cannot get an app token.{' '}
            <a href={at.path('scopes')}>Add one, such as site:read,</a> for this step.
          </p>
        ) : (
          <CodeBlock id="app-token" label="App token" code={appTokenLines(facts)} />
        )}
        <h2>3. Ask a user for consent</h2>
        <p>
          These lines print a link. Open it, sign in as any user, and allow access.
          {facts.redirectUri === null ? (
            <>
              {' '}
              No redirect URI is registered in this environment yet, so the link shows an error until you{' '}
              <a href={at.path('redirect-uris')}>register one</a>.
            </>
          ) : null}
        </p>
        {facts.userScope === '' ? (
          <p>
            None of its scopes is for users, so there is nothing to consent to.{' '}
            <a href={at.path('scopes')}>Add one, such as profile:read,</a> for this step.
          </p>
        ) : (
          <CodeBlock id="authorize" label="Authorize link" code={authorizeLines(facts)} />
        )}
        <h2>4. Exchange the code and read the user’s profile</h2>
        <p>
          The user returns to the redirect URI with a <code>code</code>, your <code>state</code> and <code>iss</code>.
          Compare <code>state</code> with yours and <code>iss</code> with <code>{facts.base}</code>, then insert the
          code. It works once, within five minutes.
        </p>
        <CodeBlock id="exchange" label="Exchange the code" code={exchangeLines()} />
        <h2>The same in TypeScript</h2>
        <p>
          A module for your backend, without dependencies. It reads the secret from the environment variable{' '}
          <code>CLIENT_SECRET</code>.
        </p>
        <CodeBlock id="typescript" label="TypeScript" code={typescriptLines(facts)} />
        <p>
          The <a href="/docs/reference">API reference</a> describes everything else.
        </p>
      </AppPage>,
    )
  }),
])
