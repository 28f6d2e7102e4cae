/**
 * Issuing tokens, for both wire formats: the contract's endpoints and the standard one decode their requests into these and
 * encode what they give, so codes, tokens, limits and revocations are shared.
 */
import type { ClientCredentials } from '../../operations/authenticate-client.ts'
import { exchangeCode, refreshTokens } from '../../operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../operations/oauth/issue-app-token.ts'
import type { IssuedTokens } from '../../operations/oauth/continue-grant.ts'
import type { Call } from '../call.ts'
import { withClientLimits, withGrantLimits } from '../limits.ts'
import type { Door } from '../door.ts'
import { retryIdentity } from '../idempotency-key.ts'

export type GrantRequest = ClientCredentials &
  (
    | {
        readonly grantType: 'authorization_code'
        readonly code: string
        readonly redirectUri: string
        readonly codeVerifier: string
      }
    | { readonly grantType: 'refresh_token'; readonly refreshToken: string; readonly scope: string | null }
  )

/** User tokens for a code or a refresh token. */
export const issueByGrant = async (door: Door, call: Call, request: GrantRequest): Promise<IssuedTokens> => {
  const identity = retryIdentity(call, request)
  const issued = await withGrantLimits(door, call, request.clientId, request.grantType, () =>
    request.grantType === 'authorization_code'
      ? exchangeCode(door.platform, call, request, identity)
      : refreshTokens(door.platform, call, request, identity),
  )
  call.notes.appId = issued.appId
  call.notes.clientId = request.clientId
  call.notes.grantId = issued.grantId
  door.platform.observe.issued('user_tokens')
  return issued
}

/** An app token for client credentials; with scope null, of everything the app may have for itself. */
export const issueForApp = async (
  door: Door,
  call: Call,
  request: ClientCredentials & { readonly scope: string | null },
) => {
  const issued = await withClientLimits(door, call, request.clientId, 'client_secret', () =>
    issueAppToken(door.platform, call, request),
  )
  call.notes.appId = issued.appId
  call.notes.clientId = request.clientId
  door.platform.observe.issued('app_token')
  return issued
}
