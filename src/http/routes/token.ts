import { Elysia } from 'elysia'
import { issueAppToken } from '../../operations/oauth/issue-app-token.ts'
import { copyForElysia } from '../contract/copy-for-elysia.ts'
import { bodyErrors, errorResponses } from '../contract/errors.ts'
import { appTokenRequest, appTokenResponse } from '../contract/tokens.ts'
import type { Door } from '../door.ts'
import { jsonBody } from '../json-body.ts'
import { withClientLimits } from '../client-limits.ts'
import { callOf } from '../call.ts'
import { operationDetails } from './operation-details.ts'
import { contractPath } from './paths.ts'

export const tokenRoute = (door: Door) =>
  new Elysia().use(jsonBody(appTokenRequest)).post(
    `${contractPath}/token`,
    async ({ body, request }) => {
      const call = callOf(request)
      const issued = await withClientLimits(
        door,
        call,
        body.clientId,
        'client_secret',
        async () => await issueAppToken(door.platform, call, body),
      )
      call.notes.appId = issued.appId
      call.notes.clientId = body.clientId
      door.platform.observe.issued('app_token')
      return {
        accessToken: issued.accessToken,
        tokenType: 'Bearer' as const,
        expiresIn: issued.expiresInSeconds,
        scope: issued.scope,
        environment: issued.environment,
      }
    },
    {
      body: copyForElysia(appTokenRequest),
      response: {
        200: copyForElysia(appTokenResponse),
        ...errorResponses(
          ...bodyErrors,
          'invalid_scope',
          'invalid_client',
          'scope_not_allowed',
          'scope_not_available',
          'app_inactive',
        ),
      },
      detail: operationDetails({
        id: 'issueAppToken',
        summary: 'Exchange app credentials for a short-lived bearer token',
        description: 'For calls from server to server. There is no refresh token: ask again when it has expired.',
        tag: 'App tokens',
        callers: ['none'],
      }),
    },
  )
