import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { refuse } from '../../../domain/errors.ts'
import { revokeByClient, revokeByToken, revokeByUser } from '../../../operations/oauth/revoke.ts'
import { type BearerCaller, requireBearer } from '../../bearer.ts'
import { copyForElysia } from '../../contract/copy-for-elysia.ts'
import { bodyErrors, errorResponses } from '../../contract/errors.ts'
import { revokeRequest, revokeResponse } from '../../contract/oauth.ts'
import type { Door } from '../../door.ts'
import { jsonBody } from '../../json-body.ts'
import { withClientLimits } from '../../client-limits.ts'
import { type Call, callOf } from '../../call.ts'
import { hasSessionCookie, requireSession } from '../../session-cookie.ts'
import { operationDetails } from '../operation-details.ts'
import { contractPath } from '../paths.ts'

/** Who asks by header or cookie; null when only the body can tell. */
const callerOf = async (door: Door, call: Call): Promise<BearerCaller | null> => {
  if (call.authorization.kind !== 'none') return await requireBearer(door, call, 'invalid_token')
  return hasSessionCookie(door, call.request) ? await requireSession(door, call) : null
}

/** What only another caller would send: whoever sends both must not be told of a revocation that did not happen. */
const refuseSecondCaller = (caller: BearerCaller, body: Static<typeof revokeRequest>): void => {
  const foreign = ['clientId', 'clientSecret', 'token', ...(caller.kind === 'session' ? [] : ['grantId'])] as const
  const param = foreign.find((field) => Object.hasOwn(body, field))
  if (param !== undefined) {
    throw refuse('invalid_request', { param, message: 'The caller is named twice: in a header and in the body.' })
  }
}

export const revokeRoute = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => ({ caller: await callerOf(door, callOf(request)) }))
    .use(jsonBody(revokeRequest))
    .post(
      `${contractPath}/oauth/revoke`,
      async ({ caller, body, request }) => {
        const call = callOf(request)
        if (caller !== null) refuseSecondCaller(caller, body)
        if (caller === null) {
          const { clientId, clientSecret, token } = body
          if (clientId === undefined || clientSecret === undefined) throw refuse('invalid_client')
          if (token === undefined) throw refuse('invalid_request', { param: 'token' })
          const credentials = { clientId, clientSecret }
          await withClientLimits(
            door,
            call,
            clientId,
            'client_secret',
            async () => await revokeByClient(door.platform, call, credentials, token),
          )
        } else if (caller.kind === 'session') {
          if (body.grantId === undefined) throw refuse('invalid_request', { param: 'grantId' })
          await revokeByUser(door.platform, call, caller, body.grantId)
        } else if (caller.kind === 'embedded') {
          throw refuse('token_type_not_allowed') // ten minutes at most; the install is what its owner ends
        } else {
          await revokeByToken(door.platform, call, caller)
        }
        return { revoked: true as const }
      },
      {
        body: copyForElysia(revokeRequest),
        response: {
          200: copyForElysia(revokeResponse),
          ...errorResponses(
            ...bodyErrors,
            'invalid_client',
            'invalid_token',
            'login_required',
            'origin_not_allowed',
            'token_type_not_allowed',
            'token_not_owned',
            'grant_not_found',
          ),
        },
        detail: operationDetails({
          id: 'revoke',
          summary: 'Revoke a user grant or an app token',
          description:
            'An app sends its credentials and a token; a token revokes itself with an empty object; a signed-in user sends a grant ID. Any token of a grant ends the whole grant. Once answered, nothing of it works again.',
          tag: 'OAuth',
          callers: ['none', 'appToken', 'userToken', 'session'],
        }),
      },
    )
