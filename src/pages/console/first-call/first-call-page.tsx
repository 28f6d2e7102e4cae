import { type Environment, environments } from '../../../domain/app.ts'
import { AppPage } from '../components/app-page.tsx'
import { CodeBlock } from '../../components/values.tsx'
import { environmentNames } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { appTokenLines, authorizeLines, exchangeLines, setUpLines } from './curl-lines.ts'
import type { CallFacts } from './facts.ts'
import { typescriptLines } from './typescript-lines.ts'

type FirstCallPageProps = OwnApp & {
  readonly environment: Environment
  readonly facts: CallFacts
  readonly hasSecret: boolean
}

export const FirstCallPage = ({ visit, app, environment, facts, hasSecret }: FirstCallPageProps) => (
  <AppPage visit={visit} app={app} tab="first-call" title="First call">
    <p>
      From an app token to a user’s consent, filled in with the client ID of this app. You need <code>curl</code>,{' '}
      <code>openssl</code> and a client secret.
    </p>
    <EnvironmentChoice slug={app.slug} environment={environment} />
    {hasSecret ? null : (
      <p class="notice">
        {`This app has no live ${environment} secret. `}
        <a href={appPath(app.slug, 'credentials')}>Create one first</a>, and come back with it.
      </p>
    )}
    <h2>1. Set up a terminal</h2>
    <p>The secret is asked for and kept in a variable of this terminal. It is not on this page, nor in your history.</p>
    <CodeBlock id="set-up" label="Set up" code={setUpLines(facts)} />
    <h2>2. Get an app token, and ask who you are</h2>
    <AppTokenStep slug={app.slug} facts={facts} />
    <h2>3. Ask a user for consent</h2>
    <AuthorizeStep slug={app.slug} facts={facts} />
    <h2>4. Exchange the code, and ask who the user is</h2>
    <p>
      The user comes back to the redirect URI with a <code>code</code>, your <code>state</code> and <code>iss</code>.
      Compare <code>state</code> with yours and <code>iss</code> with <code>{facts.base}</code>, then put the code in.
      It works once, for five minutes.
    </p>
    <CodeBlock id="exchange" label="Exchange the code" code={exchangeLines()} />
    <h2>The same in TypeScript</h2>
    <p>
      A module for your backend, without dependencies. The secret comes from the environment variable{' '}
      <code>CLIENT_SECRET</code>.
    </p>
    <CodeBlock id="typescript" label="TypeScript" code={typescriptLines(facts)} />
    <p>
      Everything else is in the <a href="/docs">description of the API</a>.
    </p>
  </AppPage>
)

type StepProps = { readonly slug: string; readonly facts: CallFacts }

const AppTokenStep = ({ slug, facts }: StepProps) =>
  facts.appScope === '' ? (
    <p>
      None of the app’s scopes is for the app itself, so there is no app token to get.{' '}
      <a href={appPath(slug, 'scopes')}>Add site:read or store:read</a> for this step.
    </p>
  ) : (
    <CodeBlock id="app-token" label="App token" code={appTokenLines(facts)} />
  )

const AuthorizeStep = ({ slug, facts }: StepProps) => (
  <>
    <p>
      The lines print a link. Open it, sign in as any user, and allow what the app asks for.
      {facts.redirectUri === null ? (
        <>
          {' '}
          No redirect URI is registered in this environment yet, so the link shows an error until you{' '}
          <a href={appPath(slug, 'redirect-uris')}>register one</a>.
        </>
      ) : null}
    </p>
    <CodeBlock id="authorize" label="Authorize link" code={authorizeLines(facts)} />
  </>
)

const EnvironmentChoice = ({ slug, environment }: { readonly slug: string; readonly environment: Environment }) => (
  <nav aria-label="Environment" class="tabs">
    <ul>
      {environments.map((name) => (
        <li key={name}>
          <a
            href={`${appPath(slug, 'first-call')}?environment=${name}`}
            aria-current={name === environment ? 'page' : undefined}
          >
            {environmentNames[name]}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)
