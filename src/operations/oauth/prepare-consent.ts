import type { Queries } from '../../../db/database.ts'
import {
  type AuthorizationError,
  authorizationErrorOf,
  type AuthorizationRequest,
  authorizationRequestFault,
  authorizationRequestOf,
  isSilent,
  stateOf,
} from '../../domain/authorization-request.ts'
import { type AuthorizationParameters, textOf } from '../../domain/authorization-parameters.ts'
import type { Environment } from '../../domain/app.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { formatScope, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'
import { type AskingClient, checkAsked, verifyRedirection } from './check-authorization-request.ts'
import { errorTarget } from './error-target.ts'

/** What a person is asked to decide. */
export type Consent = {
  readonly appName: string
  readonly publisher: string
  readonly environment: Environment
  readonly scopes: readonly AskedScope[]
  /** Whether this client already has access to the account. */
  readonly isKnown: boolean
}
/** A scope is new when this client has access to the account, but not to this. */
type AskedScope = { readonly name: ScopeName; readonly isNew: boolean }

/** What is to be done with an authorization request, before anybody has decided anything. */
type ConsentStep =
  /** Send the browser back to the app with an error: something other than who asks and where is wrong. */
  | { readonly kind: 'answer'; readonly redirectTo: string }
  /** The same error, but the person is told, and goes to the app by a link if at all. */
  | { readonly kind: 'tell'; readonly error: AuthorizationError; readonly redirectTo: string }
  | { readonly kind: 'sign_in'; readonly request: AuthorizationRequest }
  /** The request has its scopes sorted and each once: exactly what a yes will grant. */
  | { readonly kind: 'ask'; readonly request: AuthorizationRequest; readonly consent: Consent }

/**
 * Checks an authorization request whole, and only then asks who is there. Nothing is changed by it. No error sends a browser
 * on before somebody has signed in: anyone can register an app, and a link to this server would then lead anywhere
 * (RFC 9700 section 4.11.2). `prompt=none` shows nothing, so it sends on only for an app that this user has allowed before.
 * @throws invalid_client, invalid_redirect_uri: then nobody may be sent or linked anywhere (RFC 6749 section 4.1.2.1)
 */
export const prepareConsent = async (
  platform: Platform,
  session: SessionCaller | null,
  parameters: AuthorizationParameters,
): Promise<ConsentStep> => {
  const q = platform.database.queries
  const asking = await findAsking(q, parameters)
  const redirectUri = textOf(parameters.redirect_uri) ?? ''
  const silent = isSilent(parameters)
  const answer = async (error: AuthorizationError): Promise<ConsentStep> => {
    const redirectTo = errorTarget(platform, { redirectUri, state: stateOf(parameters) }, error)
    const granted = silent && session !== null ? await grantedScopes(platform, session, asking) : []
    const mayRedirect = session !== null && (!silent || granted.length > 0)
    return mayRedirect ? { kind: 'answer', redirectTo } : { kind: 'tell', error, redirectTo }
  }

  const fault = authorizationRequestFault(parameters)
  if (fault !== null) return await answer(fault)
  const asked = authorizationRequestOf(parameters)
  const scopes = checkAsked(asking.app, asked)
  if (scopes instanceof PlatformError) {
    const error = authorizationErrorOf(scopes.code)
    if (error === null) throw scopes
    return await answer(error)
  }
  const request = { ...asked, scope: formatScope(scopes) }
  if (silent) return await answer(session === null ? signInNeeded : consentNeeded)
  if (session === null) return { kind: 'sign_in', request }
  return { kind: 'ask', request, consent: await consentFor(platform, asking, scopes, session) }
}

const findAsking = async (q: Queries, parameters: AuthorizationParameters): Promise<AskingClient> => {
  const clientId = textOf(parameters.client_id)
  const redirectUri = textOf(parameters.redirect_uri)
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
): Promise<Consent> => {
  const { app, client } = asking
  const owner = await platform.database.queries.users.byId(app.ownerId)
  const granted = await grantedScopes(platform, session, asking)
  const isKnown = granted.length > 0
  return {
    appName: app.name,
    publisher: owner?.name ?? 'Unknown',
    environment: client.environment,
    scopes: scopes.map((name) => ({ name, isNew: isKnown && !granted.includes(name) })),
    isKnown,
  }
}

/** What this client may do for the user now; empty when the user has not allowed it anything, or no longer does. */
const grantedScopes = async (
  { database, clock }: Platform,
  { user }: SessionCaller,
  { client }: AskingClient,
): Promise<readonly ScopeName[]> =>
  (await database.queries.grants.liveScopes(user.id, client.id, clock.now())).flatMap(parseStoredScope)

/** What `prompt=none` is answered with: consent is asked for every time (OpenID Connect Core section 3.1.2.6). */
const signInNeeded: AuthorizationError = { error: 'login_required', description: 'The user has to sign in.' }
const consentNeeded: AuthorizationError = { error: 'consent_required', description: 'The user has to be asked.' }
