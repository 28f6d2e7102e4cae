import { refuse } from '../../domain/errors.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

/** One consent of a user to one app: what it may do on one device or in one browser. */
export type Authorization = {
  readonly grantId: string
  readonly scopes: readonly ScopeName[]
  readonly since: number
  /** When the app last fetched a token with it; null when it never has. */
  readonly lastFetchedAt: number | null
  /** When it ends by itself unless the app fetches another token before. */
  readonly expiresAt: number
}

/**
 * The caller's live authorizations of one client, newest first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listAuthorizations = async (
  platform: Platform,
  caller: SessionCaller,
  clientId: string,
  page: PageRequest,
): Promise<Page<Authorization>> => {
  if (page.cursor !== null && !/^grt_[0-9a-f]{32}$/.test(page.cursor)) {
    throw refuse('invalid_request', { param: 'cursor' })
  }
  const rows = await platform.database.queries.connectedApps.grantsOf(caller.user.id, clientId, {
    now: platform.clock.now(),
    before: page.cursor ?? beyondEveryId,
    limit: page.limit + 1,
  })
  const authorizations = rows.map(({ id, scopes, createdAt, newestPairAt, expiresAt }) => ({
    grantId: id,
    scopes: parseStoredScope(scopes),
    since: createdAt,
    lastFetchedAt: newestPairAt,
    expiresAt,
  }))
  return pageOf(authorizations, page.limit, ({ grantId }) => grantId)
}
