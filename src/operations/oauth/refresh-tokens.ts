import { refuse } from '../../domain/errors.ts'
import { formatScope, isSubset, parseScope, parseStoredScope } from '../../domain/scope.ts'
import { parseSecret } from '../../domain/secret.ts'
import type { ClientCredentials } from '../authenticate-client.ts'
import type { Platform, Trace } from '../platform.ts'
import type { IssuedTokens } from './attempt.ts'
import { findRefreshToken } from '../find-token.ts'
import { continueGrant } from './continue-grant.ts'

type RefreshRequest = ClientCredentials & {
  readonly refreshToken: string
  /** May only narrow what the grant has (RFC 6749 section 6); null keeps it. */
  readonly scope: string | null
}

/**
 * Rotates a refresh token: the old one and its access token die, a new pair lives (spec section 5).
 * @throws invalid_client, app_inactive, invalid_grant, invalid_scope
 */
export const refreshTokens = async (
  platform: Platform,
  trace: Trace,
  request: RefreshRequest,
  retryIdentity: string | null,
): Promise<IssuedTokens> => {
  const asked = request.scope === null ? null : parseScope(request.scope)

  return await continueGrant(platform, trace, {
    client: request,
    secret: request.refreshToken,
    presented: parseSecret('refreshToken', request.refreshToken),
    action: 'refresh_token.rotate',
    tokenKind: 'refresh_token',
    retryIdentity,
    find: async (q, secret) => {
      const found = await findRefreshToken(q, secret)
      if (found === null) return null
      const { createdAt, refreshExpiresAt } = found.pair
      return { ...found, createdAt, expiresAt: refreshExpiresAt }
    },
    check: ({ grant }) => {
      if (asked === null) return null
      const narrows = asked.kind === 'scopes' && isSubset(asked.scopes, parseStoredScope(grant.scopes))
      return narrows ? null : refuse('invalid_scope', { param: 'scope' })
    },
    scopes: (grant) => (asked?.kind === 'scopes' ? formatScope(asked.scopes) : grant.scopes),
  })
}
