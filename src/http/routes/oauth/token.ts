import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { refuse } from '../../../domain/errors.ts'
import { exchangeCode, refreshTokens } from '../../../operations/oauth/continue-grant.ts'
import type { IssuedTokens } from '../../../operations/oauth/token-pair.ts'
import { copyForElysia } from '../../contract/copy-for-elysia.ts'
import { bodyErrors, errorResponses } from '../../contract/errors.ts'
import { tokenRequest, tokenResponse } from '../../contract/oauth.ts'
import type { Door } from '../../door.ts'
import { retryIdentity } from '../../idempotency-key.ts'
import { jsonBody } from '../../json-body.ts'
import { withGrantLimits } from '../../client-limits.ts'
import { type Call, callOf } from '../../call.ts'
import { operationDetails } from '../operation-details.ts'
import { contractPath } from '../paths.ts'

type Body = Static<typeof tokenRequest>

export const oauthTokenRoute = (door: Door) =>
  new Elysia().use(jsonBody(tokenRequest)).post(
    `${contractPath}/oauth/token`,
    async ({ body, request }) => {
      const call = callOf(request)
      const issued = await grantTypeOf(body)(door, call, body, retryIdentity(request, body))
      call.notes.appId = issued.appId
      call.notes.clientId = body.clientId
      call.notes.grantId = issued.grantId
      door.platform.observe.issued('user_tokens')
      return {
        accessToken: issued.accessToken,
        tokenType: 'Bearer' as const,
        expiresIn: issued.expiresInSeconds,
        refreshToken: issued.refreshToken,
        refreshTokenExpiresIn: issued.refreshTokenExpiresInSeconds,
        scope: issued.scope,
        grantId: issued.grantId,
      }
    },
    {
      body: copyForElysia(tokenRequest),
      response: {
        200: copyForElysia(tokenResponse),
        ...errorResponses(
          ...bodyErrors,
          'unsupported_grant_type',
          'invalid_scope',
          'invalid_client',
          'invalid_grant',
          'app_inactive',
        ),
      },
      detail: operationDetails({
        id: 'issueUserTokens',
        summary: 'Exchange a code, or refresh, for tokens',
        description:
          'A code and a refresh token are good once; one presented again ends its whole grant. With an Idempotency-Key the same request may be repeated for a minute and gets the very same tokens.',
        tag: 'OAuth',
        callers: ['none'],
        repeatable: true,
      }),
    },
  )

type Issue = (door: Door, call: Call, body: Body, identity: string | null) => Promise<IssuedTokens>

const grantTypeOf = (body: Body): Issue => {
  switch (body.grantType) {
    case 'authorization_code':
      return exchange
    case 'refresh_token':
      return refresh
    default:
      throw refuse('unsupported_grant_type', { param: 'grantType' })
  }
}

const exchange: Issue = async (door, call, body, identity) => {
  const { clientId, clientSecret } = body
  const code = needed(body, 'code')
  const redirectUri = needed(body, 'redirectUri')
  const codeVerifier = needed(body, 'codeVerifier')
  const request = { clientId, clientSecret, code, redirectUri, codeVerifier }
  return await withGrantLimits(
    door,
    call,
    clientId,
    'authorization_code',
    async () => await exchangeCode(door.platform, call, request, identity),
  )
}

const refresh: Issue = async (door, call, body, identity) => {
  const { clientId, clientSecret } = body
  const refreshToken = needed(body, 'refreshToken')
  const request = { clientId, clientSecret, refreshToken, scope: body.scope ?? null }
  return await withGrantLimits(
    door,
    call,
    clientId,
    'refresh_token',
    async () => await refreshTokens(door.platform, call, request, identity),
  )
}

const needed = (body: Body, field: 'code' | 'redirectUri' | 'codeVerifier' | 'refreshToken'): string => {
  const value = body[field]
  if (value === undefined) throw refuse('invalid_request', { param: field })
  return value
}
