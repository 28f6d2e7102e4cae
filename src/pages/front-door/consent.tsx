import {
  type AuthorizationParameters,
  authorizationQueryOf,
  type AuthorizationRequest,
  authorizationRequestOf,
  readAuthorizationParameters,
} from '../../domain/authorization-request.ts'
import type { Lifetimes } from '../../domain/lifetimes.ts'
import { ownAmong, type ScopeName } from '../../domain/scope.ts'
import { type Call, callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { authorizationPath } from '../../http/paths.ts'
import { type Consent, decideConsent, type Decided, prepareConsent } from '../../operations/oauth/authorize.ts'
import { AboutApp } from '../app-facts.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { Form } from '../design/form.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Layout, type PlatformFrame, RequestLine } from '../design/shell.tsx'
import { ChosenName } from '../design/values.tsx'
import type { Routes } from '../change.tsx'
import { page, seeOther } from '../page.ts'
import { signInWords } from '../sign-in-words.tsx'
import { findVisit, refuseVisit, type Visit } from '../visit.ts'
import { lifetimeInWords } from '../words.ts'
import { askPath, goToApp, requestErrorPage, signInPath, switchAccountPath, unansweredPage } from './failed-request.tsx'
import { Type } from '@sinclair/typebox'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { takeShare } from '../../http/limits.ts'
import { cookieValues, forgetCookie } from '../../http/cookies.ts'
import { presentedToken } from '../../http/session-cookie.ts'
import { signOutHere, fieldsOf, formOf, originFault, readValues, refuseForm, text, ticketKey } from '../form.ts'
import { RightAddress } from '../design/field.tsx'

/**
 * The consent page: an app asks for access (RFC 6749 section 3.1). Showing it changes nothing. Then the decision, and the way to another
 * account.
 */
export const consentRoutes: Routes = (app, door) =>
  app
    .get(authorizationPath, async ({ request }) => {
      const visit = await findVisit(door, request)
      const parameters = readAuthorizationParameters(rawQueryOf(request))
      try {
        return await ask(door, request, visit, parameters)
      } catch (error) {
        return await unansweredPage(door, callOf(request), error, { visit, parameters })
      }
    })
    .post(authorizationPath, async ({ request }) => await decide(door, request))
    .post(switchAccountPath, async ({ request }) => {
      const read = async () => fieldsOf(switchForm, await readValues(callOf(request), switchForm))
      const fields = await signOutHere(door, request, read)
      const asked = authorizationRequestOf(readAuthorizationParameters(fields.request))
      return seeOther(signInPath(asked), [forgetCookie(door, 'session')])
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

/** A person has this long to decide. After that they are asked again. */
const consentLifetimeSeconds = 600

/** The ticket binds the decision to the session and to the whole request that the page showed. */
const decisionForm = formOf({ request: text, decision: Type.Union([Type.Literal('allow'), Type.Literal('deny')]) }, [
  'request',
])
const switchForm = formOf({ request: text })

const decide = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const values = await readValues(call, decisionForm)
  if (values['request'] === undefined && values['client_id'] !== undefined) {
    const message = 'An authorization request is sent with GET: its parameters belong in the URL, not in a form.'
    throw refuse('invalid_request', { message })
  }
  const fields = fieldsOf(decisionForm, values)
  const asked = authorizationRequestOf(readAuthorizationParameters(fields.request))
  const foreign = originFault(door, request)
  if (foreign !== null) {
    const error = await refuseForm(door, call, presentedToken(cookieValues(door, request, 'session')) ?? '', foreign)
    return lostDecisionPage(door.platform, call, { error, startAgain: null })
  }
  const visit = await findVisit(door, request)
  if (visit === null) {
    // The session ended while the page was open. Nothing is decided, and the person is asked again after signing in.
    await refuseVisit(door, request)
    return seeOther(signInPath(asked, 'ended'))
  }
  takeShare(door, call, 'authorize', visit.userId)
  const ticket = ticketKey(door, call, visit.tickets, decisionForm, values, consentLifetimeSeconds)
  if (ticket instanceof PlatformError) {
    const error = await refuseForm(door, call, visit.sessionToken, ticket)
    return lostDecisionPage(door.platform, call, { error, startAgain: askPath(asked) })
  }
  return await carryOut(visit, { request: asked, answer: fields.decision, ticket })
}

const carryOut = async (visit: Visit, decided: Decided): Promise<Response> => {
  const { door, call, session } = visit
  const { notes } = call
  notes.clientId = decided.request.clientId
  try {
    const { redirectTo, issued } = await decideConsent(door.platform, call, session, decided)
    if (issued !== null) {
      notes.appId = issued.appId
      notes.grantId = issued.grantId
      door.platform.observe.issued('authorization_code')
    }
    return goToApp(door, call.request, redirectTo)
  } catch (error) {
    return await afterFailure(visit, decided.request, error)
  }
}

const afterFailure = async (visit: Visit, asked: AuthorizationRequest, error: unknown): Promise<Response> => {
  const { door, call } = visit
  if (!(error instanceof PlatformError)) throw error
  switch (error.code) {
    case 'idempotency_key_reused':
      return lostDecisionPage(door.platform, call, { error, startAgain: askPath(asked) })
    case 'login_required':
      return seeOther(signInPath(asked, 'ended'))
    default:
      return await unansweredPage(door, call, error, {
        visit,
        parameters: readAuthorizationParameters(authorizationQueryOf(asked)),
      })
  }
}

type LostDecision = {
  readonly error: PlatformError
  /** The address that asks again; null when another site may have written the request. */
  readonly startAgain: string | null
}

/** The page for a decision that was not carried out: it was sent before, or its form is no longer valid. */
export const lostDecisionPage = (frame: PlatformFrame, call: Call, { error, startAgain }: LostDecision): Response => {
  const wasDecided = error.code === 'idempotency_key_reused'
  return page(
    <Layout title={wasDecided ? 'You have already decided' : 'Nothing was decided'} visit={frame} width="narrow">
      {wasDecided ? (
        <>
          <p>This form was sent before. Your first decision counts, and nothing more was done.</p>
          <p>
            To revoke access that you allowed, open <a href="/account/apps">Connected apps</a>. To change your decision,
            you can be asked again.
          </p>
        </>
      ) : (
        <>
          <p>
            {error.message}
            <RightAddress error={error} />
          </p>
          <p>No app was given access.</p>
        </>
      )}
      {startAgain === null ? (
        <p>To decide, go back to the app and start again there.</p>
      ) : (
        <p>
          <a href={startAgain} class="button">
            Ask me again
          </a>
        </p>
      )}
      <RequestLine requestId={call.requestId} />
    </Layout>,
    { refusal: error },
  )
}
