import type { App, Client, Queries } from '../../../db/database.ts'
import { accessDenied, type AuthorizationError, type AuthorizationRequest } from '../../domain/authorization-request.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isCodeChallenge } from '../../domain/pkce.ts'
import { redirectTarget } from '../../domain/registered-url.ts'
import {
  commonTo,
  formatScope,
  parseScope,
  parseStoredScope,
  refuseBeyond,
  type ScopeName,
  scopesFor,
} from '../../domain/scope.ts'
import { uuidHexOfTimeKey } from '../../domain/time-key.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide, ifKeyTaken, type OpenChange } from '../decide.ts'
import { newToken } from '../new-secret.ts'
import type { Platform, Trace } from '../platform.ts'

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
    await record({ action: 'grant.created', appId, environment, target: grantId, detail })
    const redirectTo = redirectTarget(request.redirectUri, { code, state: request.state, iss: platform.publicUrl })
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
export type AskingClient = { readonly app: App; readonly client: Client }
type CheckedRequest = AskingClient & { readonly scopes: readonly ScopeName[] }

/**
 * The client of a request whose redirect URI is registered for that client, compared byte for byte (RFC 9700 section 2.1).
 * If this refuses, the browser must not be redirected or linked to that URI.
 */
export const verifyRedirection = async (
  q: Queries,
  { clientId, redirectUri }: Pick<AuthorizationRequest, 'clientId' | 'redirectUri'>,
): Promise<AskingClient | PlatformError> => {
  const found = await q.apps.byClient(clientId)
  if (found === null) return refuse('invalid_client')
  const registered = await q.redirectUris.find(redirectUri)
  return registered !== null && registered.clientId === clientId
    ? found
    : refuse('invalid_redirect_uri', { param: 'redirectUri' })
}

/** The scopes of a request whose redirect URI has been verified, or the first fault in the rest of it. */
export const checkAsked = (app: App, request: AuthorizationRequest): readonly ScopeName[] | PlatformError => {
  if (request.codeChallengeMethod !== 'S256') {
    return refuse('unsupported_code_challenge_method', { param: 'codeChallengeMethod' })
  }
  if (!isCodeChallenge(request.codeChallenge)) return refuse('invalid_request', { param: 'codeChallenge' })
  const asked = parseScope(request.scope)
  if (asked.kind === 'refused') return refuse(asked.code, { param: 'scope', message: asked.message })
  if (app.status !== 'active') return refuse('app_inactive')
  const possible = commonTo(parseStoredScope(app.scopes), scopesFor('user'))
  return refuseBeyond(asked.scopes, possible, 'scope') ?? asked.scopes
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
  const scopes = checkAsked(asking.app, request)
  return scopes instanceof PlatformError ? scopes : { ...asking, scopes }
}

/**
 * The URL that tells an app about an error, with the issuer (RFC 6749 section 4.1.2.1, RFC 9207 section 2). The redirect
 * URI must have been verified. `state` is null if it was missing or malformed.
 */
export const errorTarget = (
  platform: Platform,
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | null },
  { error, description }: AuthorizationError,
): string =>
  redirectTarget(redirectUri, {
    error,
    error_description: description,
    ...(state === null ? {} : { state }),
    iss: platform.publicUrl,
  })
