import { whyInactive } from '../../domain/app.ts'
import type { App, Client, Queries } from '../../../db/database.ts'
import {
  accessDenied,
  type AuthorizationError,
  type AuthorizationRequest,
  authorizationErrorOf,
  type AuthorizationParameters,
  authorizationRequestFault,
  authorizationRequestOf,
  isSilent,
  answeredState,
  stateOf,
} from '../../domain/authorization-request.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isCodeChallenge } from '../../domain/pkce.ts'
import { redirectTarget } from '../../domain/registered-url.ts'
import { formatScope, ownAmong, parseScope, parseStoredScope, type ScopeName, scopesFor } from '../../domain/scope.ts'
import { uuidHexOfTimeKey } from '../../domain/time-key.ts'
import { refusalIfEnded, actingAs } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { badInput, decide, ifKeyTaken, newToken, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { contractPath } from '../../domain/api-version.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { shownIcon } from '../../domain/app-icon.ts'
import { appFactsIn } from '../../domain/manifest.ts'
import { storedJson } from '../stored-json.ts'
import { ownForUsers, readCatalogue, refusalBeyond } from '../scopes/scopes.ts'

/** An authorization code and where the browser takes it. */
type IssuedCode = {
  readonly code: string
  readonly state: string
  readonly redirectUri: string
  readonly redirectTo: string
  readonly scope: string
  readonly expiresInSeconds: number
  readonly grantId: string
  readonly appId: string
}

/**
 * Records the consent of a signed-in user as a new grant and issues its authorization code (spec section 4). Without
 * `consented` the request is checked and then refused.
 * @throws login_required, invalid_client, invalid_redirect_uri, unsupported_code_challenge_method, invalid_request, invalid_scope,
 *   app_inactive, scope_not_available, scope_not_allowed, consent_required
 */
export const authorize = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  request: AuthorizationRequest,
  consented: boolean,
): Promise<IssuedCode> => {
  const now = platform.clock.now()
  const expiresInSeconds = Math.min(platform.lifetimes.code, platform.lifetimes.grant)
  const expiresAt = now + expiresInSeconds * 1000
  const { key, secret: code, hash } = newToken(platform, 'authorizationCode', now)
  const grantId = `grt_${uuidHexOfTimeKey(key, platform.random.bytes(8))}`

  const issued = decide(platform, trace, { actor: actorOf(session), now, kind: 'guarded' }, async (change) => {
    const { q, record } = change
    const checked = await checkAuthorizationRequest(platform, change, session, request)
    if (checked instanceof PlatformError) return checked
    if (!consented) return refuse('consent_required', { param: 'consent' })
    const scope = formatScope(checked.scopes)
    const { id: appId } = checked.app
    const { environment } = checked.client
    await q.grants.insert({
      key,
      id: grantId,
      userId: session.user.id,
      appId,
      clientId: request.clientId,
      scopes: scope,
      currentKey: key,
      createdAt: now,
      expiresAt,
      revokedAt: null,
      retryKey: null,
      retrySalt: null,
      retryFingerprint: null,
      retryUntil: null,
    })
    await q.grants.insertCode({
      key,
      hash,
      grantKey: key,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      expiresAt,
    })
    const detail = { scope, clientId: request.clientId }
    await record({
      action: 'grant.created',
      appId,
      environment,
      target: grantId,
      detail,
      told: { userId: session.user.id },
    })
    const answer = { code, ...answeredState(request.state), iss: platform.publicUrl }
    const redirectTo = redirectTarget(request.redirectUri, answer)
    const { redirectUri, state } = request
    return { code, state, redirectUri, redirectTo, scope, expiresInSeconds, grantId, appId }
  })
  return await issued.catch(ifKeyTaken(() => authorize(platform, trace, session, request, consented)))
}

/**
 * Records that a signed-in user refused consent. Returns the URL that tells the app. The request is checked as for consent,
 * because only a verified redirect URI may receive an answer.
 * @throws login_required, and what `checkAuthorizationRequest` refuses with
 */
export const denyAuthorization = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  request: AuthorizationRequest,
): Promise<string> =>
  await decide(platform, trace, { actor: actorOf(session), kind: 'guarded' }, async (change) => {
    const checked = await checkAuthorizationRequest(platform, change, session, request)
    if (checked instanceof PlatformError) return checked
    const { app, client, scopes } = checked
    const detail = { scope: formatScope(scopes), clientId: request.clientId }
    await change.record({ action: 'grant.denied', appId: app.id, environment: client.environment, detail })
    return errorTarget(platform, request, accessDenied)
  })

/** The client of an authorization request, and its app. */
type AskingClient = { readonly app: App; readonly client: Client }
type CheckedRequest = AskingClient & { readonly scopes: readonly ScopeName[] }

/**
 * The client of a request whose redirect URI is registered for that client, compared byte for byte (RFC 9700 section 2.1).
 * If this refuses, the browser must not be redirected or linked to that URI.
 */
const verifyRedirection = async (
  q: Queries,
  { clientId, redirectUri }: Pick<AuthorizationRequest, 'clientId' | 'redirectUri'>,
): Promise<AskingClient | PlatformError> => {
  const found = await q.apps.byClient(clientId)
  if (found === null) return refuse('invalid_client')
  return (await q.redirectUris.isRegistered(clientId, redirectUri))
    ? found
    : refuse('invalid_redirect_uri', { param: 'redirectUri' })
}

const challengeForm = 'The code challenge must be 43 base64url characters that stand for a SHA-256 (PKCE, RFC 7636).'

/** The scopes of a request whose redirect URI has been verified, or the first fault in the rest of it. */
const checkAsked = async (
  q: Queries,
  app: App,
  request: AuthorizationRequest,
): Promise<readonly ScopeName[] | PlatformError> => {
  if (request.codeChallengeMethod !== 'S256') {
    return refuse('unsupported_code_challenge_method', { param: 'codeChallengeMethod' })
  }
  if (!isCodeChallenge(request.codeChallenge)) return badInput('codeChallenge', challengeForm)
  const asked = parseScope(request.scope)
  if (asked.kind === 'refused') return refuse(asked.code, { param: 'scope', message: asked.message })
  if (app.status !== 'active') return whyInactive(app)
  const registered = parseStoredScope(app.scopes)
  const forUsers = new Set([...scopesFor('user'), ...(await ownForUsers(q, ownAmong(asked.scopes)))])
  const possible = registered.filter((name) => forUsers.has(name))
  return (await refusalBeyond(q, app.id, asked.scopes, possible, 'scope')) ?? asked.scopes
}

/** Checks an authorization request: the user's session, the client, the redirect URI, the form, then the scopes. */
const checkAuthorizationRequest = async (
  platform: Platform,
  change: OpenChange,
  session: SessionCaller,
  request: AuthorizationRequest,
): Promise<CheckedRequest | PlatformError> => {
  const ended = await refusalIfEnded(platform, change, session)
  if (ended !== null) return ended
  const asking = await verifyRedirection(change.q, request)
  if (asking instanceof PlatformError) return asking
  const scopes = await checkAsked(change.q, asking.app, request)
  return scopes instanceof PlatformError ? scopes : { ...asking, scopes }
}

/**
 * The URL that tells an app about an error, with the issuer (RFC 6749 section 4.1.2.1, RFC 9207 section 2). The redirect
 * URI must have been verified. `state` is null if it was missing or malformed.
 */
const errorTarget = (
  platform: Platform,
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | null },
  { error, description }: AuthorizationError,
): string =>
  redirectTarget(redirectUri, {
    error,
    error_description: description,
    ...answeredState(state),
    iss: platform.publicUrl,
  })

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
  const scopes = await checkAsked(q, asking.app, asked)
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
  const live = client.environment === 'production' ? await q.versions.active(app.id) : null
  const granted = await grantedScopes(platform, session, asking)
  /** Whether this client already has access to the user's account. */
  const isKnown = granted.length > 0
  return {
    appId: app.id,
    appName: app.name,
    publisher: app.publisher ?? owner?.name ?? 'Unknown',
    icon: shownIcon({ status: app.status, iconSha256: live?.iconSha256 ?? null }),
    environment: client.environment,
    /** What the reviewed version says about the app; null without one, and for a client that tests what was not reviewed. */
    facts: live === null ? null : appFactsIn(storedJson(live.manifest)),
    // A scope is new if this client has access to the account, but not with this scope.
    catalogue: await readCatalogue(platform),
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
