import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { formatScope } from '../../../domain/scope.ts'
import type { EmbeddedCaller, UserCaller } from '../../../operations/authenticate.ts'
import { requireCaller, userOrPageOf } from '../../bearer.ts'
import { errorResponses } from '../../contract/errors.ts'
import { embeddedIdentity, userIdentity } from '../../contract/oauth.ts'
import { preflight } from '../../cross-origin.ts'
import { callOf } from '../../call.ts'
import type { Door } from '../../door.ts'
import { wireTime } from '../../wire.ts'
import { operationDetails } from '../operation-details.ts'
import { contractPath } from '../paths.ts'

const path = `${contractPath}/oauth/me` as const

export const oauthMeRoute = (door: Door) =>
  new Elysia()
    .use(preflight(door, path, 'GET'))
    .derive(async ({ request }) => ({ caller: userOrPageOf(await requireCaller(door, callOf(request), 'read')) }))
    .get(
      path,
      async ({ caller }) => ({
        ...identityOf(caller),
        ...(caller.kind === 'embedded' ? { installId: caller.installId } : { grantId: caller.grantId }),
      }),
      {
        response: {
          200: Type.Union([userIdentity, embeddedIdentity]),
          ...errorResponses('invalid_token', 'token_type_not_allowed', 'origin_not_allowed'),
        },
        detail: operationDetails({
          id: 'identifyUser',
          summary: 'Identity of the signed-in user',
          description:
            'Name and picture with profile:read, the email address with profile.email:read. The session of an app in a frame is answered `installId` in the place of `grantId`.',
          tag: 'OAuth',
          callers: ['userToken', 'embeddedSession'],
        }),
      },
    )

const identityOf = ({ user, scopes, appId, clientId, expiresAt }: UserCaller | EmbeddedCaller) => ({
  id: user.id,
  appId,
  clientId,
  scope: formatScope(scopes),
  expiresAt: wireTime(expiresAt),
  ...(scopes.includes('profile:read') ? { name: user.name, pictureUrl: user.pictureUrl } : {}),
  ...(scopes.includes('profile.email:read') ? { email: user.email } : {}),
})
