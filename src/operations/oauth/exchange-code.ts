import { refuse } from '../../domain/errors.ts'
import { verifierMatches } from '../../domain/pkce.ts'
import { redirectUriMatches } from '../../domain/registered-url.ts'
import { parseSecret } from '../../domain/secret.ts'
import type { ClientCredentials } from '../authenticate-client.ts'
import type { Platform, Trace } from '../platform.ts'
import type { IssuedTokens } from './attempt.ts'
import { findAuthorizationCode } from '../find-token.ts'
import { continueGrant } from './continue-grant.ts'

type CodeExchange = ClientCredentials & {
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string
}

/**
 * Exchanges an authorization code for tokens (RFC 6749 section 4.1.3, RFC 7636 section 4.6).
 * @throws invalid_client, app_inactive, invalid_grant
 */
export const exchangeCode = async (
  platform: Platform,
  trace: Trace,
  request: CodeExchange,
  retryIdentity: string | null,
): Promise<IssuedTokens> => {
  return await continueGrant(platform, trace, {
    client: request,
    secret: request.code,
    presented: parseSecret('authorizationCode', request.code),
    action: 'authorization_code.exchange',
    tokenKind: 'authorization_code',
    retryIdentity,
    find: async (q, secret) => {
      const found = await findAuthorizationCode(q, secret)
      if (found === null) return null
      const { redirectUri, expiresAt } = found.code
      const registered = await q.redirectUris.find(redirectUri)
      const isRegistered = registered?.clientId === found.grant.clientId
      return { ...found, createdAt: found.grant.createdAt, expiresAt, isRegistered }
    },
    check: ({ code, isRegistered }) =>
      isRegistered &&
      redirectUriMatches(code.redirectUri, request.redirectUri) &&
      verifierMatches(request.codeVerifier, code.codeChallenge)
        ? null
        : refuse('invalid_grant'),
    scopes: (grant) => grant.scopes,
  })
}
