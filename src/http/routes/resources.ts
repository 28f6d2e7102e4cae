import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { listResources, scopeToRead } from '../../operations/resources/list-resources.ts'
import { requireCaller, userOrPageOf } from '../bearer.ts'
import { copyForElysia } from '../contract/copy-for-elysia.ts'
import { errorResponses } from '../contract/errors.ts'
import { resourceList, resourceListQuery } from '../contract/resources.ts'
import { preflight } from '../cross-origin.ts'
import { callOf } from '../call.ts'
import type { Door } from '../door.ts'
import { pageRequest, refuseRepeated, wireCursor } from '../page-request.ts'
import { wireTime, wireTimeOrNull } from '../wire.ts'
import { operationDetails } from './operation-details.ts'
import { contractPath } from './paths.ts'

const isKind = (text: string | undefined): text is ResourceKind =>
  text !== undefined && Object.hasOwn(scopeToRead, text)

export const resourcesRoute = (door: Door) =>
  new Elysia()
    .use(preflight(door, `${contractPath}/resources`, 'GET'))
    .derive(async ({ request }) => ({ caller: await requireCaller(door, callOf(request), 'read') }))
    .get(
      `${contractPath}/resources`,
      async ({ caller, query, request }) => {
        refuseRepeated(request, Object.keys(query))
        const { kind } = query
        if (!isKind(kind)) {
          throw refuse('invalid_request', { param: 'kind', details: { allowed: Object.keys(scopeToRead) } })
        }
        const asked = pageRequest(kind, query)
        const page = await listResources(door.platform, userOrPageOf(caller), kind, asked)
        const data = page.data.map((item) => ({
          ...item,
          createdAt: wireTime(item.createdAt),
          updatedAt: wireTime(item.updatedAt),
          publishedAt: wireTimeOrNull(item.publishedAt),
        }))
        return { kind, data, nextCursor: wireCursor(kind, page.nextCursor) }
      },
      {
        query: copyForElysia(resourceListQuery),
        response: {
          200: copyForElysia(resourceList),
          ...errorResponses(
            'invalid_token',
            'token_type_not_allowed',
            'origin_not_allowed',
            'insufficient_scope',
            'install_required',
          ),
        },
        detail: operationDetails({
          id: 'listResources',
          summary: 'List builder resources of the signed-in user (preview)',
          description:
            'Needs an approved, active install of the app by this user, and the scope of the kind. An item has no content, orders, customer or payment data.',
          tag: 'Resources',
          callers: ['userToken', 'embeddedSession'],
        }),
      },
    )
