import { andThen } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import type { ScopeName } from '../../domain/scope.ts'
import { isSlug } from '../../domain/name.ts'
import { pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { EmbeddedCaller, UserCaller } from '../authenticate.ts'

/** The scope that each kind needs (contract section 4). */
export const scopeToRead = { site: 'site:read', store: 'store:read' } as const satisfies Record<ResourceKind, ScopeName>

/**
 * The signed-in user's own websites or stores, by slug. The query reads no page bodies, orders, customer or payment data
 * (spec section 2).
 * @throws insufficient_scope, install_required, invalid_request for a cursor that this list did not return
 */
export const listResources = (
  platform: Platform,
  caller: UserCaller | EmbeddedCaller,
  kind: ResourceKind,
  page: PageRequest,
) => {
  if (page.cursor !== null && !isSlug(page.cursor)) throw refuse('invalid_request', { param: 'cursor' })
  const needed = scopeToRead[kind]
  if (!caller.scopes.includes(needed)) throw refuse('insufficient_scope', { details: { scope: needed } })
  const q = platform.database.queries
  return andThen(q.installs.hasLive(caller.appId, caller.user.id), (isInstalled) => {
    if (!isInstalled) throw refuse('install_required')
    const found = q.resources.list(caller.user.id, kind, page.cursor ?? '', page.limit + 1)
    return andThen(found, (rows) => pageOf(rows, page.limit, ({ slug }) => slug))
  })
}
