import type { Environment } from '../../domain/app.ts'
import { andThen, type Awaitable } from '../../domain/awaitable.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import {
  formatScope,
  type ParsedScope,
  ownScopes,
  parseScope,
  refuseBeyond,
  type ScopeName,
} from '../../domain/scope.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  presentClient,
  touchSecret,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { type CountedRefusal, decide, ifKeyTaken } from '../decide.ts'
import { newToken } from '../new-secret.ts'
import type { Platform, Trace } from '../platform.ts'

type AppTokenRequest = ClientCredentials & {
  /** Null asks for all scopes that the app may have for itself (RFC 6749 section 3.3). */
  readonly scope: string | null
}
type IssuedAppToken = {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly scope: string
  readonly environment: Environment
  readonly appId: string
}

/**
 * Exchanges app credentials for a short-lived bearer token (spec section 5, point 1). Reads one row and writes one,
 * which is also the token's audit record.
 * @throws invalid_client, app_inactive, invalid_scope, scope_not_available, scope_not_allowed
 */
export const issueAppToken = async (
  platform: Platform,
  trace: Trace,
  request: AppTokenRequest,
): Promise<IssuedAppToken> => {
  const now = platform.clock.now()
  const presented = presentClient(request)
  const asked = request.scope === null ? null : parseScope(request.scope)
  const { key, secret: accessToken, hash } = newToken(platform, 'appToken', now)
  const expiresInSeconds = platform.lifetimes.appToken

  const actor = { kind: 'app', id: request.clientId } as const
  const issued = decide(platform, trace, { actor, now, kind: 'conditional' }, ({ q }) =>
    andThen(authenticateClient(q, presented, now), (client): Awaitable<IssuedAppToken | CountedRefusal> => {
      if (client === null) return refuseClient(q, presented, action)
      const scopes = tokenScopes(client, asked)
      if (scopes instanceof PlatformError) return refuseKnownClient(client, action, scopes)
      const scope = formatScope(scopes)
      const inserted = q.appTokens.insert({
        key,
        hash,
        credentialId: client.credentialId,
        scopes: scope,
        createdAt: now,
        expiresAt: now + expiresInSeconds * 1000,
        revokedAt: null,
        requestId: trace.requestId,
        address: trace.address,
      })
      const { environment, appId } = client
      return andThen(
        andThen(inserted, () => touchSecret(q, client, now)),
        () => ({ accessToken, expiresInSeconds, scope, environment, appId }),
      )
    }),
  )
  return await issued.catch(ifKeyTaken(() => issueAppToken(platform, trace, request)))
}

const action = 'app_token.issue'

/** The scopes of the token: those that were asked for, or all that the app may have for itself. */
const tokenScopes = (client: AuthenticatedClient, asked: ParsedScope | null): readonly ScopeName[] | PlatformError => {
  if (asked?.kind === 'refused') return refuse(asked.code, { param: 'scope', message: asked.message })
  if (client.appStatus !== 'active') return refuse('app_inactive')
  const possible = ownScopes(client.appScopes)
  const scopes = asked?.scopes ?? possible
  if (scopes.length === 0) return refuse('scope_not_allowed', { param: 'scope' })
  return refuseBeyond(scopes, possible, 'scope') ?? scopes
}
