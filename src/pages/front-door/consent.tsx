import { Elysia } from 'elysia'
import {
  type AuthorizationParameters,
  authorizationQueryOf,
  type AuthorizationRequest,
  readAuthorizationParameters,
} from '../../domain/authorization-request.ts'
import type { Lifetimes } from '../../domain/lifetimes.ts'
import { ownAmong, type ScopeName } from '../../domain/scope.ts'
import { callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { authorizationPath } from '../../http/paths.ts'
import { type Consent, prepareConsent } from '../../operations/oauth/authorize.ts'
import { AboutApp } from '../app-facts.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { Form } from '../design/form.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Layout } from '../design/shell.tsx'
import { ChosenName } from '../design/values.tsx'
import { page, seeOther } from '../page.ts'
import { signInWords } from '../sign-in-words.tsx'
import { findVisit, type Visit } from '../visit.ts'
import { lifetimeInWords } from '../words.ts'
import { goToApp, requestErrorPage, signInPath, switchAccountPath, unansweredPage } from './failed-request.tsx'

/** The consent page: an app asks for access (RFC 6749 section 3.1). Showing it changes nothing. */
export const consentRoutes = (door: Door) =>
  new Elysia().get(authorizationPath, async ({ request }) => {
    const visit = await findVisit(door, request)
    const parameters = readAuthorizationParameters(rawQueryOf(request))
    try {
      return await ask(door, request, visit, parameters)
    } catch (error) {
      return await unansweredPage(door, callOf(request), error, { visit, parameters })
    }
  })

const ask = async (
  door: Door,
  request: Request,
  visit: Visit | null,
  parameters: AuthorizationParameters,
): Promise<Response> => {
  const { platform } = door
  const step = await prepareConsent(platform, visit?.session ?? null, parameters)
  if (step.kind === 'answer') return goToApp(door, request, step.redirectTo)
  if (step.kind === 'tell') return requestErrorPage(platform, callOf(request), step)
  if (step.kind === 'sign_in' || visit === null) return seeOther(signInPath(step.request))
  return page(<ConsentPage {...step} visit={visit} lifetimes={platform.lifetimes} />)
}

/** The query as it was sent. Parsed as a URL it would end at the first `#`. */
const rawQueryOf = ({ url }: Request): string => {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

type ConsentPageProps = {
  readonly request: AuthorizationRequest
  readonly consent: Consent
  readonly visit: Visit
  readonly lifetimes: Lifetimes
}

/**
 * Everything that a person needs to know before an app may act for them. The app's name is inside a sentence of ours and never
 * in the heading, so that it cannot be mistaken for text of this server.
 */
export const ConsentPage = ({ request, consent, visit, lifetimes }: ConsentPageProps) => (
  <Layout title="Allow this app?" visit={{ platformName: visit.platformName, builder: null }} width="narrow">
    <Asker consent={consent} />
    <SignedInAs request={request} visit={visit} />
    <h2>It asks to</h2>
    <AskedScopes consent={consent} />
    <h2>It will not get</h2>
    <ul>
      {withheldFrom(consent, visit).map((words) => (
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
  <div class="asker">
    <Avatar id={consent.appId} name={consent.appName} icon={consent.icon} />
    <div>
      <p>
        <ChosenName name={consent.appName} /> wants access to your account.
      </p>
      <p class="muted">
        Published by <bdi>{consent.publisher}</bdi>
      </p>
      {consent.environment === 'development' ? (
        <p>
          <Badge tone="waiting">Development: for testing by its developers</Badge>
        </p>
      ) : (
        <AboutApp facts={consent.facts} isShort />
      )}
    </div>
  </div>
)

const SignedInAs = ({ request, visit }: Asked) => (
  <div class="account">
    <p>
      You are signed in as <bdi>{visit.session.user.name}</bdi>, <bdi class="whole">{visit.session.user.email}</bdi>
    </p>
    <Form action={switchAccountPath} visit={visit} class="inline">
      <input type="hidden" name="request" value={authorizationQueryOf(request)} />
      <span>Not you?</span>{' '}
      <button type="submit" class="small">
        Sign out and use another account
      </button>
    </Form>
  </div>
)

/** Each requested scope in plain words, and no other. */
const AskedScopes = ({ consent: { catalogue, scopes, isKnown } }: { readonly consent: Consent }) => (
  <>
    {isKnown ? (
      <p>
        {scopes.some(({ isNew }) => isNew)
          ? 'This app already has access to your account. It now asks for more, and the new permissions are marked.'
          : 'This app already has this access to your account, and asks for it again.'}
      </p>
    ) : null}
    <ScopeList
      catalogue={catalogue}
      class="asked"
      scopes={scopes.map(({ name }) => name)}
      agreed={scopes.filter(({ isNew }) => !isNew).map(({ name }) => name)}
    />
    <p class="muted">It also gets an ID for your account.</p>
  </>
)

/** What people may worry about and the app does not ask for. */
const withheldFrom = ({ scopes }: Consent, visit: Visit): readonly string[] => {
  const asks = (name: ScopeName) => scopes.some((scope) => scope.name === name)
  return [
    signInWords(visit).first.replace(/^./, (letter) => letter.toUpperCase()),
    ...(asks('profile.email:read') ? [] : ['Your email address']),
    ...(asks('profile:read') ? [] : ['Your name and picture']),
    // The operator's own scopes may well be about these.
    ...(ownAmong(scopes.map(({ name }) => name)).length === 0 ? ['Your orders, customers and payment data'] : []),
  ]
}

const Terms = ({ request, lifetimes }: Pick<ConsentPageProps, 'request' | 'lifetimes'>) => (
  <ul>
    <li>
      After you decide, your browser goes to <bdi class="whole">{new URL(request.redirectUri).host}</bdi>. The app has
      registered this address. It does not prove who publishes the app.
    </li>
    <li>
      Access lasts {lifetimeInWords(lifetimes.accessToken)} and is renewed while the app uses it. If it is not used, it
      ends after {lifetimeInWords(lifetimes.refreshToken)}.
    </li>
    <li>
      You can revoke it at any time, under <a href="/account/apps">Connected apps</a> in your account.
    </li>
  </ul>
)

/** Both buttons have one size and stay in sight while the page scrolls. Enter chooses the safe one, which is first. */
const Decision = ({ request, visit }: Asked) => {
  const query = authorizationQueryOf(request)
  return (
    <Form action={authorizationPath} visit={visit} bound={[query]} class="decision">
      <input type="hidden" name="request" value={query} />
      <button type="submit" name="decision" value="deny">
        Deny
      </button>
      <button type="submit" name="decision" value="allow" class="primary">
        Allow
      </button>
    </Form>
  )
}
