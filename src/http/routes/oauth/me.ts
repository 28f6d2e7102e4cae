import { Elysia } from 'elysia'
import { formatScope } from '../../../domain/scope.ts'
import { requireCaller, userOf } from '../../bearer.ts'
import { errorResponses } from '../../contract/errors.ts'
import { userIdentity } from '../../contract/oauth.ts'
import type { Door } from '../../door.ts'
import { wireTime } from '../../wire.ts'
import { operationDetails } from '../operation-details.ts'
import { contractPath } from '../paths.ts'

export const oauthMeRoute = (door: Door) =>
  new Elysia().get(
    `${contractPath}/oauth/me`,
    async ({ request }) => {
      const caller = userOf(await requireCaller(door, request, 'read'))
      const { user, scopes } = caller
      return {
        id: user.id,
        appId: caller.appId,
        clientId: caller.clientId,
        grantId: caller.grantId,
        scope: formatScope(scopes),
        expiresAt: wireTime(caller.expiresAt),
        ...(scopes.includes('profile:read') ? { name: user.name, pictureUrl: user.pictureUrl } : {}),
        ...(scopes.includes('profile.email:read') ? { email: user.email } : {}),
      }
    },
    {
      response: { 200: userIdentity, ...errorResponses('invalid_token', 'token_type_not_allowed') },
      detail: operationDetails({
        id: 'identifyUser',
        summary: 'Identity of the signed-in user',
        description: 'Name and picture with profile:read, the email address with profile.email:read.',
        tag: 'OAuth',
        callers: ['userToken'],
      }),
    },
  )
