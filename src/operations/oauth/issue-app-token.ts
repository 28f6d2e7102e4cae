import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { andThen, type Awaitable } from '../../domain/awaitable.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { formatScope, type ParsedScope, parseScope, parseStoredScope } from '../../domain/scope.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  presentClient,
  touchSecret,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { type CountedRefusal, decide, ifKeyTaken, newToken } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalBeyond } from '../scopes/scopes.ts'

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
      return andThen(tokenScope(q, client, asked), (scope): Awaitable<IssuedAppToken | CountedRefusal> => {
        if (scope instanceof PlatformError) return refuseKnownClient(client, action, scope)
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
      })
    }),
  )
  return await issued.catch(ifKeyTaken(() => issueAppToken(platform, trace, request)))
}

const action = 'app_token.issue'

/** The scopes of the token: those that were asked for, or all that the app may have for itself. */
const tokenScope = (
  q: Queries,
  { appId, appStatus, tokenScopes }: AuthenticatedClient,
  asked: ParsedScope | null,
): Awaitable<string | PlatformError> => {
  if (asked?.kind === 'refused') return refuse(asked.code, { param: 'scope', message: asked.message })
  if (appStatus !== 'active') return refuse('app_inactive')
  if (asked === null) return tokenScopes === '' ? refuse('scope_not_allowed', { param: 'scope' }) : tokenScopes
  return andThen(
    refusalBeyond(q, appId, asked.scopes, parseStoredScope(tokenScopes), 'scope'),
    (refusal) => refusal ?? formatScope(asked.scopes),
  )
}
