import { andThen } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { listResources, scopeToRead } from '../../operations/resources/resources.ts'
import { bearer, userOrPageOf } from '../bearer.ts'
import { resourceList, resourceListQuery } from '../contract/resources.ts'
import { endpoint, queryOf } from '../endpoint.ts'
import { pageRequest, wireCursor } from '../page-request.ts'
import { contractPath } from '../paths.ts'
import { wireTime, wireTimeOrNull } from '../wire.ts'

export const listBuilderResources = endpoint({
  method: 'GET',
  path: `${contractPath}/resources`,
  caller: bearer('userToken', 'embeddedSession'),
  share: 'read',
  query: queryOf(resourceListQuery),
  answers: { 200: resourceList },
  errors: ['insufficient_scope', 'install_required'],
  details: {
    id: 'listResources',
    summary: 'List builder resources of the signed-in user (preview)',
    description:
      'Needs an approved, active install of the app by this user, and the scope of the kind. An item has no content, orders, customer or payment data.',
    tag: 'Resources',
  },
  isCrossOrigin: true,
  isHot: true,
  run: (door, _, { caller, query }) => {
    const { kind } = query
    if (!isKind(kind)) {
      throw refuse('invalid_request', { param: 'kind', details: { allowed: Object.keys(scopeToRead) } })
    }
    const asked = pageRequest(kind, query)
    return andThen(listResources(door.platform, userOrPageOf(caller), kind, asked), (page) => ({
      kind,
      data: page.data.map((item) => ({
        name: item.name,
        slug: item.slug,
        status: item.status,
        createdAt: wireTime(item.createdAt),
        updatedAt: wireTime(item.updatedAt),
        publishedAt: wireTimeOrNull(item.publishedAt),
      })),
      nextCursor: wireCursor(kind, page.nextCursor),
    }))
  },
})

const isKind = (text: string | undefined): text is ResourceKind =>
  text !== undefined && Object.hasOwn(scopeToRead, text)
