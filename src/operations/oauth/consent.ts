import { contractPath } from '../../domain/api-version.ts'
import type { Queries } from '../../../db/database.ts'
import {
  type AuthorizationError,
  authorizationErrorOf,
  type AuthorizationParameters,
  type AuthorizationRequest,
  authorizationRequestFault,
  authorizationRequestOf,
  isSilent,
  stateOf,
} from '../../domain/authorization-request.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { formatScope, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { actingAs } from '../acting-as.ts'
import type { SessionCaller } from '../authenticate.ts'
import type { Platform, Trace } from '../platform.ts'
import { reviewedFacts } from '../versions/version-record.ts'
import {
  type AskingClient,
  authorize,
  checkAsked,
  denyAuthorization,
  errorTarget,
  verifyRedirection,
} from './authorize.ts'

/** What the consent page shows. */
export type Consent = Awaited<ReturnType<typeof consentFor>>

/** What the authorization page does with a request, before the user has decided. */
type ConsentStep =
  /** Redirect the browser to the app with an error; client and redirect URI are right, something else is wrong. */
  | { readonly kind: 'answer'; readonly redirectTo: string }
  /** The same error, shown to the user with a link to the app instead of a redirect. */
  | { readonly kind: 'tell'; readonly error: AuthorizationError; readonly redirectTo: string }
  | { readonly kind: 'sign_in'; readonly request: AuthorizationRequest }
  /** The scopes of the request are sorted and unique: exactly what consent will grant. */
  | { readonly kind: 'ask'; readonly request: AuthorizationRequest; readonly consent: Consent }

/**
 * Checks the whole authorization request, then whether a user is signed in. Changes nothing. No error redirects before a
 * user has signed in: anyone can register an app, so this server would be an open redirector (RFC 9700 section 4.11.2).
 * `prompt=none` shows no page, so it redirects only for an app that this user has allowed before.
 * @throws invalid_client, invalid_redirect_uri: the browser must not be redirected or linked (RFC 6749 section 4.1.2.1)
 */
export const prepareConsent = async (
  platform: Platform,
  session: SessionCaller | null,
  parameters: AuthorizationParameters,
): Promise<ConsentStep> => {
  const q = platform.database.queries
  const asking = await findAsking(q, parameters)
  const redirectUri = parameters.text('redirect_uri') ?? ''
  const silent = isSilent(parameters)
  const answer = async (error: AuthorizationError): Promise<ConsentStep> => {
    const redirectTo = errorTarget(platform, { redirectUri, state: stateOf(parameters) }, error)
    const granted = silent && session !== null ? await grantedScopes(platform, session, asking) : []
    const mayRedirect = session !== null && (!silent || granted.length > 0)
    return mayRedirect ? { kind: 'answer', redirectTo } : { kind: 'tell', error, redirectTo }
  }

  const fault = authorizationRequestFault(parameters, platform.publicUrl + contractPath)
  if (fault !== null) return await answer(fault)
  const asked = authorizationRequestOf(parameters)
  const scopes = checkAsked(asking.app, asked)
  if (scopes instanceof PlatformError) {
    const error = authorizationErrorOf(scopes)
    if (error === null) throw scopes
    return await answer(error)
  }
  const request = { ...asked, scope: formatScope(scopes) }
  if (silent) return await answer(session === null ? signInNeeded : consentNeeded)
  if (session === null) return { kind: 'sign_in', request }
  return { kind: 'ask', request, consent: await consentFor(platform, asking, scopes, session) }
}

const findAsking = async (q: Queries, parameters: AuthorizationParameters): Promise<AskingClient> => {
  const clientId = parameters.text('client_id')
  const redirectUri = parameters.text('redirect_uri')
  if (clientId === null) throw refuse('invalid_client')
  if (redirectUri === null) throw refuse('invalid_redirect_uri')
  const asking = await verifyRedirection(q, { clientId, redirectUri })
  if (asking instanceof PlatformError) throw asking
  return asking
}

const consentFor = async (
  platform: Platform,
  asking: AskingClient,
  scopes: readonly ScopeName[],
  session: SessionCaller,
) => {
  const { app, client } = asking
  const q = platform.database.queries
  const owner = await q.users.byId(app.ownerId)
  const granted = await grantedScopes(platform, session, asking)
  /** Whether this client already has access to the user's account. */
  const isKnown = granted.length > 0
  return {
    appId: app.id,
    appName: app.name,
    publisher: owner?.name ?? 'Unknown',
    environment: client.environment,
    /** What the reviewed version says about the app; null without one, and for a client that tests what was not reviewed. */
    facts: client.environment === 'production' ? await reviewedFacts(q, app) : null,
    // A scope is new if this client has access to the account, but not with this scope.
    scopes: scopes.map((name) => ({ name, isNew: isKnown && !granted.includes(name) })),
    isKnown,
  }
}

/** The scopes that this client has from the user now; empty without a live grant. */
const grantedScopes = async ({ database, clock }: Platform, { user }: SessionCaller, { client }: AskingClient) =>
  (await database.queries.grants.liveScopes(user.id, client.id, clock.now())).flatMap(parseStoredScope)

/** The answers to `prompt=none`. Consent is asked for every time (OpenID Connect Core section 3.1.2.6). */
const signInNeeded: AuthorizationError = { error: 'login_required', description: 'The user has to sign in.' }
const consentNeeded: AuthorizationError = { error: 'consent_required', description: 'The user has to be asked.' }

/** The submitted consent form: the request that was shown, the user's answer, and the form's single-use ticket. */
export type Decided = {
  readonly request: AuthorizationRequest
  readonly answer: 'allow' | 'deny'
  readonly ticket: RowKey
}

/**
 * Carries out the user's decision exactly once: the ticket is spent in the transaction that issues the code or records the
 * denial. Returns where the browser goes, and the code that was issued; null if the user denied. A fault that appeared after the page was shown is reported to the app, as it would have been before.
 * @throws idempotency_key_reused for a spent ticket, login_required for a session that has ended, invalid_client and
 *   invalid_redirect_uri if the app may no longer be answered
 */
export const decideConsent = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  { request, answer, ticket }: Decided,
) => {
  const acting = actingAs(platform, trace, session, { ticket })
  try {
    if (answer === 'deny') {
      return { redirectTo: await denyAuthorization(acting, trace, session, request), issued: null }
    }
    const issued = await authorize(acting, trace, session, request, true)
    return { redirectTo: issued.redirectTo, issued }
  } catch (refusal) {
    const error = refusal instanceof PlatformError ? authorizationErrorOf(refusal) : null
    if (error === null) throw refusal
    return { redirectTo: errorTarget(platform, request, error), issued: null }
  }
}
