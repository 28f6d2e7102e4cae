import { Elysia } from 'elysia'
import { authorize } from '../../../operations/oauth/authorize.ts'
import { copyForElysia } from '../../contract/copy-for-elysia.ts'
import { bodyErrors, errorResponses } from '../../contract/errors.ts'
import { authorizeRequest, authorizeResponse } from '../../contract/oauth.ts'
import type { Door } from '../../door.ts'
import { jsonBody } from '../../json-body.ts'
import { takeShare } from '../../limits.ts'
import { callOf } from '../../call.ts'
import { requireSession } from '../../session-cookie.ts'
import { operationDetails } from '../operation-details.ts'
import { contractPath } from '../paths.ts'

export const authorizeRoute = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => {
      const call = callOf(request)
      const session = await requireSession(door, call)
      takeShare(door, call, 'authorize', session.user.id)
      return { session }
    })
    .use(jsonBody(authorizeRequest))
    .post(
      `${contractPath}/oauth/authorize`,
      async ({ session, body, request }) => {
        const call = callOf(request)
        call.notes.clientId = body.clientId
        const granted = await authorize(door.platform, call, session, body, body.consent === true)
        call.notes.appId = granted.appId
        call.notes.grantId = granted.grantId
        door.platform.observe.issued('authorization_code')
        return {
          code: granted.code,
          state: granted.state,
          redirectUri: granted.redirectUri,
          redirectTo: granted.redirectTo,
          scope: granted.scope,
          expiresIn: granted.expiresInSeconds,
        }
      },
      {
        body: copyForElysia(authorizeRequest),
        response: {
          200: copyForElysia(authorizeResponse),
          ...errorResponses(
            ...bodyErrors,
            'invalid_redirect_uri',
            'unsupported_code_challenge_method',
            'invalid_scope',
            'login_required',
            'invalid_client',
            'token_type_not_allowed',
            'origin_not_allowed',
            'consent_required',
            'scope_not_allowed',
            'scope_not_available',
            'app_inactive',
          ),
        },
        detail: operationDetails({
          id: 'authorize',
          summary: 'Record user consent and obtain an authorization code',
          description:
            'Called by the signed-in user: a session token, or the session cookie with proof of the same origin. Every call with consent makes a new grant.',
          tag: 'OAuth',
          callers: ['session'],
        }),
      },
    )
