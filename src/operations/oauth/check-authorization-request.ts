import type { App, Client, Queries } from '../../../db/database.ts'
import type { AuthorizationRequest } from '../../domain/authorization-request.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isCodeChallenge } from '../../domain/pkce.ts'
import { isSubset, parseScope, parseStoredScope, type ScopeName, scopesFor } from '../../domain/scope.ts'

/** A client that asks, and its app. */
export type AskingClient = { readonly app: App; readonly client: Client }
/** Who asks, and for which scopes. */
type CheckedRequest = AskingClient & { readonly scopes: readonly ScopeName[] }

/**
 * Who asks, when the answer may be sent where they want it: to a redirect URI registered for this very client, compared
 * byte for byte (RFC 9700 section 2.1). While this refuses, nothing may be sent or linked there.
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

/** The scopes of a request whose redirection has been verified, if it asks for what this app may ask for. */
export const checkAsked = (app: App, request: AuthorizationRequest): readonly ScopeName[] | PlatformError => {
  if (request.codeChallengeMethod !== 'S256') {
    return refuse('unsupported_code_challenge_method', { param: 'codeChallengeMethod' })
  }
  if (!isCodeChallenge(request.codeChallenge)) return refuse('invalid_request', { param: 'codeChallenge' })
  const asked = parseScope(request.scope)
  if (asked.kind === 'refused') return refuse(asked.code, { param: 'scope' })
  if (app.status !== 'active') return refuse('app_inactive')
  const registered = parseStoredScope(app.scopes)
  if (!isSubset(asked.scopes, registered) || !isSubset(asked.scopes, scopesFor('user'))) {
    return refuse('scope_not_allowed', { param: 'scope' })
  }
  return asked.scopes
}

/**
 * Checks an authorization request in the order in which the answers may be given away: the client, where it may be
 * answered, its form, then what it may ask for.
 */
export const checkAuthorizationRequest = async (
  q: Queries,
  request: AuthorizationRequest,
): Promise<CheckedRequest | PlatformError> => {
  const asking = await verifyRedirection(q, request)
  if (asking instanceof PlatformError) return asking
  const scopes = checkAsked(asking.app, request)
  return scopes instanceof PlatformError ? scopes : { ...asking, scopes }
}
