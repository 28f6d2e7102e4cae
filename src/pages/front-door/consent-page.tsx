import { type AuthorizationRequest, authorizationQueryOf } from '../../domain/authorization-request.ts'
import type { Lifetimes } from '../../domain/lifetimes.ts'
import type { ScopeName } from '../../domain/scope.ts'
import type { Consent } from '../../operations/oauth/consent.ts'
import { Badge } from '../components/badges.tsx'
import { Form } from '../components/form.tsx'
import { Layout } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { AskedScopes } from './asked-scopes.tsx'
import { lifetimeInWords } from '../words.ts'
import { authorizePath, switchAccountPath } from './paths.ts'

type ConsentPageProps = {
  readonly request: AuthorizationRequest
  readonly consent: Consent
  readonly visit: Visit
  readonly lifetimes: Lifetimes
}

/**
 * All that a person needs to know before an app may act for them. The app's name stands in a sentence of ours and never in
 * the heading, so that it cannot pose as words of this server.
 */
export const ConsentPage = ({ request, consent, visit, lifetimes }: ConsentPageProps) => (
  <Layout title="Allow this app?" visit={{ platformName: visit.platformName }} width="narrow">
    <Asker consent={consent} />
    <Account request={request} visit={visit} />
    <h2>It asks to</h2>
    <AskedScopes consent={consent} />
    <h2>It will not get</h2>
    <ul>
      {withheldFrom(consent).map((words) => (
        <li key={words}>{words}</li>
      ))}
    </ul>
    <h2>Good to know</h2>
    <Terms request={request} lifetimes={lifetimes} />
    <Decision request={request} visit={visit} />
  </Layout>
)

type Asked = Pick<ConsentPageProps, 'request' | 'visit'>

const Asker = ({ consent }: { readonly consent: Consent }) => (
  <article class="asker">
    <p>
      <strong>
        <bdi>{consent.appName}</bdi>
      </strong>{' '}
      wants access to your account.
    </p>
    <p class="muted">
      Published by <bdi>{consent.publisher}</bdi>
    </p>
    {consent.environment === 'development' ? (
      <p>
        <Badge tone="waiting">Development: for testing by its developers</Badge>
      </p>
    ) : null}
  </article>
)

const Account = ({ request, visit }: Asked) => (
  <div class="account">
    <p>
      You are signed in as <bdi>{visit.session.user.name}</bdi>, <bdi class="whole">{visit.session.user.email}</bdi>
    </p>
    <Form action={switchAccountPath} visit={visit} class="inline">
      <input type="hidden" name="request" value={authorizationQueryOf(request)} />
      <span>Not you?</span>{' '}
      <button type="submit" class="outline secondary small">
        Sign out and use another account
      </button>
    </Form>
  </div>
)

const Terms = ({ request, lifetimes }: Pick<ConsentPageProps, 'request' | 'lifetimes'>) => (
  <ul>
    <li>
      Either way you are sent on to <strong class="whole">{new URL(request.redirectUri).host}</strong>.
    </li>
    <li>
      Access lasts {lifetimeInWords(lifetimes.accessToken)} and is renewed while the app uses it. Unused, it ends after{' '}
      {lifetimeInWords(lifetimes.refreshToken)}.
    </li>
    <li>
      You can take it back at any time, under <a href="/account/apps">Connected apps</a> in your account.
    </li>
  </ul>
)

/** Two buttons of one look: neither answer is suggested, and no key press decides by accident. */
const Decision = ({ request, visit }: Asked) => {
  const query = authorizationQueryOf(request)
  return (
    <Form action={authorizePath} visit={visit} bound={[query]} class="decision">
      <input type="hidden" name="request" value={query} />
      <button type="submit" name="decision" value="deny">
        Deny
      </button>
      <button type="submit" name="decision" value="allow">
        Allow
      </button>
    </Form>
  )
}

/** What people fear for, as far as it is not asked for here. */
const withheldFrom = ({ scopes }: Consent): readonly string[] => {
  const asks = (name: ScopeName) => scopes.some((scope) => scope.name === name)
  return [
    'Your password',
    ...(asks('profile.email:read') ? [] : ['Your email address']),
    ...(asks('profile:read') ? [] : ['Your name and picture']),
    'Your orders, customers and payment data',
  ]
}
