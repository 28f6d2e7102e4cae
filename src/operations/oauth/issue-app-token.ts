import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { rowKey } from '../../domain/identifier.ts'
import { formatScope, isSubset, parseScope, parseStoredScope, scopesFor } from '../../domain/scope.ts'
import { hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import { lazyAuditStamp } from '../audit/event.ts'
import {
  authenticateClient,
  type ClientCredentials,
  presentClient,
  recordUse,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { type CountedRefusal, type Decision, done, settle } from '../decision.ts'
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
  const key = rowKey(platform.random.uuid(now))
  const accessToken = mintSecret({ kind: 'appToken', key, digits: platform.random.digits(secretDigits) })
  const hash = hashSecret(accessToken)
  const expiresInSeconds = platform.lifetimes.appToken

  const decision = await platform.database.transaction(
    async (q): Promise<Decision<IssuedAppToken> | CountedRefusal> => {
      const client = await authenticateClient(q, presented, now)
      if (client === null) return await refuseClient(q, presented, action)
      if (asked?.kind === 'refused') return refuseKnownClient(client, action, refuse(asked.code, { param: 'scope' }))
      if (client.appStatus !== 'active') return refuseKnownClient(client, action, refuse('app_inactive'))
      const registered = parseStoredScope(client.appScopes)
      const possible = scopesFor('app').filter((name) => registered.includes(name))
      const scopes = asked?.scopes ?? possible
      if (scopes.length === 0 || !isSubset(scopes, possible)) {
        return refuseKnownClient(client, action, refuse('scope_not_allowed', { param: 'scope' }))
      }
      const scope = formatScope(scopes)
      await q.appTokens.insert({
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
      await recordUse(q, client, now)
      return done({ accessToken, expiresInSeconds, scope, environment: client.environment, appId: client.appId })
    },
  )
  return await settle(platform, lazyAuditStamp(platform, trace, now), decision)
}

const action = 'app_token.issue'
