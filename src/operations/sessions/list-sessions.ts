import { refuse } from '../../domain/errors.ts'
import { isRowKey } from '../../domain/identifier.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

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

/**
 * The caller's sessions that have neither ended nor expired nor been idle for too long, newest first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listSessions = async (
  platform: Platform,
  caller: SessionCaller,
  page: PageRequest,
): Promise<Page<SessionRecord>> => {
  if (page.cursor !== null && !isRowKey(page.cursor)) throw refuse('invalid_request', { param: 'cursor' })
  const now = platform.clock.now()
  const rows = await platform.database.queries.sessions.openOfUser(caller.user.id, {
    now,
    usedAfter: now - platform.lifetimes.sessionIdle * 1000,
    before: page.cursor ?? beyondEveryId,
    limit: page.limit + 1,
  })
  const sessions = rows.map((row) => recordOf(row, caller))
  return pageOf(sessions, page.limit, ({ key }) => key)
}

const recordOf = (row: Omit<SessionRecord, 'isCurrent'>, caller: SessionCaller): SessionRecord => ({
  key: row.key,
  isCurrent: row.key === caller.sessionKey,
  address: row.address,
  agent: row.agent,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
})
