import { Elysia } from 'elysia'
import { appOf, requireCaller } from '../bearer.ts'
import { copyForElysia } from '../contract/copy-for-elysia.ts'
import { errorResponses } from '../contract/errors.ts'
import { appIdentity } from '../contract/tokens.ts'
import { callOf } from '../call.ts'
import type { Door } from '../door.ts'
import { wireTime } from '../wire.ts'
import { operationDetails } from './operation-details.ts'
import { contractPath } from './paths.ts'

export const meRoute = (door: Door) =>
  new Elysia().get(
    `${contractPath}/me`,
    async ({ request }) => {
      const caller = appOf(await requireCaller(door, callOf(request), 'read'))
      return {
        appId: caller.app.id,
        clientId: caller.clientId,
        name: caller.app.name,
        slug: caller.app.slug,
        environment: caller.environment,
        status: 'active' as const,
        scope: caller.scope,
        expiresAt: wireTime(caller.expiresAt),
        createdAt: wireTime(caller.app.createdAt),
      }
    },
    {
      response: {
        200: copyForElysia(appIdentity),
        ...errorResponses('invalid_token', 'token_type_not_allowed', 'origin_not_allowed'),
      },
      detail: operationDetails({
        id: 'identifyApp',
        summary: 'Identity of the calling app',
        description: 'Tells which app, environment and scopes a live app token stands for.',
        tag: 'App tokens',
        callers: ['appToken'],
      }),
    },
  )
