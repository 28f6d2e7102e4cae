import { refuse } from '../../domain/errors.ts'
import { isRowKey } from '../../domain/identifier.ts'
import type { Page, PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../tokens/authenticate-session.ts'

/** A session as its owner sees it. The key names it and opens nothing. */
export type SessionRecord = {
  readonly key: string
  /** Whether it is the one that asks. */
  readonly isCurrent: boolean
  /** Where it was signed in from, and with what; null when the browser did not say. */
  readonly address: string
  readonly agent: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

/** Sorts after every key of a row. */
const afterAll = '~'

/**
 * The caller's sessions that have neither ended nor expired, newest first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listSessions = async (
  platform: Platform,
  caller: SessionCaller,
  page: PageRequest,
): Promise<Page<SessionRecord>> => {
  if (page.cursor !== null && !isRowKey(page.cursor)) throw refuse('invalid_request', { param: 'cursor' })
  const rows = await platform.database.queries.sessions.openOfUser(caller.user.id, {
    now: platform.clock.now(),
    before: page.cursor ?? afterAll,
    limit: page.limit + 1,
  })
  const shown = rows.slice(0, page.limit)
  return {
    data: shown.map((row) => ({ ...row, isCurrent: row.key === caller.sessionKey })),
    nextCursor: rows.length > page.limit ? (shown.at(-1)?.key ?? null) : null,
  }
}
