import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { ClientCredentials } from '../../operations/authenticate-client.ts'
import { exchangeCode, refreshTokens } from '../../operations/oauth/continue-grant.ts'
import type { IssuedTokens } from '../../operations/oauth/token-pair.ts'
import { issueAppToken } from '../../operations/oauth/issue-app-token.ts'
import type { Door } from '../door.ts'
import { retryIdentity } from '../idempotency-key.ts'
import { withClientLimits, withGrantLimits } from '../client-limits.ts'
import { type Call, callOf } from '../call.ts'
import { clientOf } from './client-authentication.ts'
import { needed, type Parameters, readParameters } from './parameters.ts'
import { tokenPath } from './paths.ts'
import { uncachedJson } from './uncached.ts'

/** The token endpoint (RFC 6749 section 3.2), over the operations of the contract's two. */
export const tokenRoute = (door: Door) =>
  new Elysia()
    .onParse({ as: 'local' }, () => ({}))
    .post(tokenPath, async ({ request }) => {
      const call = callOf(request)
      const parameters = await readParameters(call)
      const client = clientOf(call, parameters)
      const grant = grantOf(needed(parameters, 'grant_type'))
      const answer = await grant({ door, call, request, client, parameters })
      call.notes.clientId = client.clientId
      return uncachedJson(answer)
    })

type TokenRequest = {
  readonly door: Door
  readonly call: Call
  readonly request: Request
  readonly client: ClientCredentials
  readonly parameters: Parameters
}

/** RFC 6749 section 5.1. */
type TokenAnswer = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope: string
}
type Grant = (request: TokenRequest) => Promise<TokenAnswer>

const grantOf = (grantType: string): Grant => {
  switch (grantType) {
    case 'authorization_code':
      return exchange
    case 'refresh_token':
      return refresh
    case 'client_credentials':
      return issue
    default:
      throw refuse('unsupported_grant_type', { param: 'grant_type' })
  }
}

const exchange: Grant = async ({ door, call, request, client, parameters }) => {
  const fields = {
    ...client,
    code: needed(parameters, 'code'),
    redirectUri: needed(parameters, 'redirect_uri'),
    codeVerifier: needed(parameters, 'code_verifier'),
  }
  const identity = retryIdentity(request, { grant_type: 'authorization_code', ...fields })
  const issued = await withGrantLimits(
    door,
    call,
    client.clientId,
    'authorization_code',
    async () => await exchangeCode(door.platform, call, fields, identity),
  )
  return userTokens(door, call, issued)
}

const refresh: Grant = async ({ door, call, request, client, parameters }) => {
  const fields = {
    ...client,
    refreshToken: needed(parameters, 'refresh_token'),
    scope: parameters('scope'),
  }
  const identity = retryIdentity(request, { grant_type: 'refresh_token', ...fields })
  const issued = await withGrantLimits(
    door,
    call,
    client.clientId,
    'refresh_token',
    async () => await refreshTokens(door.platform, call, fields, identity),
  )
  return userTokens(door, call, issued)
}

const userTokens = (door: Door, { notes }: Call, issued: IssuedTokens): TokenAnswer => {
  notes.appId = issued.appId
  notes.grantId = issued.grantId
  door.platform.observe.issued('user_tokens')
  return {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresInSeconds,
    refresh_token: issued.refreshToken,
    scope: issued.scope,
  }
}

/** Without a scope, all that the app may have for itself (RFC 6749 section 3.3). */
const issue: Grant = async ({ door, call, client, parameters }) => {
  const issued = await withClientLimits(
    door,
    call,
    client.clientId,
    'client_secret',
    async () => await issueAppToken(door.platform, call, { ...client, scope: parameters('scope') }),
  )
  call.notes.appId = issued.appId
  door.platform.observe.issued('app_token')
  return {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresInSeconds,
    scope: issued.scope,
  }
}
