import type { AuditEvent, AuditFinds, AuditQuestion, AuditStretch, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import type { Page, PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

export type AuditSearch = AuditQuestion & {
  /** Epoch milliseconds; an event at `since` matches, one at `until` does not. */
  readonly since: number | null
  readonly until: number | null
}

/** Rows of each kind that one page looks at; reading them stops every other request for some milliseconds. */
const rowsPerPage = 10_000

/**
 * Events that match, issued tokens among them, newest first; those of one request oldest first, as they happened. A page
 * looks at a bounded number of rows: it may have few events or none and still a next one, where the search goes on.
 * @throws invalid_request for a cursor that this list did not give, or a malformed request ID
 */
export const searchEvents = async (
  platform: Platform,
  search: AuditSearch,
  { limit, cursor }: PageRequest,
): Promise<Page<AuditEvent>> => {
  const { after, before, order } = stretchOf(search, cursor === null ? null : uuidIn('aud_', cursor, 'cursor'))
  const stretch = { after, before, order, rows: rowsPerPage, limit: limit + 1 }
  const finds = await lookEverywhere(platform.database.queries, search, stretch)
  const horizon = horizonOf(finds, order)
  const isSettled = ({ id }: AuditEvent): boolean =>
    horizon === null || comesFirst(id, horizon, order) || id === horizon
  const events = finds
    .flatMap((find) => find.events)
    .filter(isSettled)
    .toSorted((a, b) => (comesFirst(a.id, b.id, order) ? -1 : 1))
  const data = events.slice(0, limit)
  return { data, nextCursor: events.length > limit ? (data.at(-1)?.id ?? null) : horizon }
}

type Order = AuditStretch['order']
const comesFirst = (one: string, other: string, order: Order): boolean =>
  order === 'newest' ? one > other : one < other

/** Only as far as every search has come are the finds complete; null when all have come to their end. */
const horizonOf = (finds: readonly AuditFinds[], order: Order): string | null => {
  const ends = finds.map(({ searchedTo }) => searchedTo).filter((end) => end !== null)
  return ends.toSorted((a, b) => (comesFirst(a, b, order) ? -1 : 1))[0] ?? null
}

const lookEverywhere = async (
  q: Queries,
  search: AuditSearch,
  stretch: AuditStretch,
): Promise<readonly AuditFinds[]> => {
  const { actorKind, actorId, outcome } = search
  const mayBeIssue =
    (actorKind === null || actorKind === 'app') &&
    (actorId === null || environmentOfClientId(actorId) !== null) &&
    outcome !== 'refused'
  return await Promise.all([
    q.auditSearch.events(search, stretch),
    ...(mayBeIssue && names(search.action, 'app_token.issued') ? [q.auditSearch.appTokens(search, stretch)] : []),
    ...(mayBeIssue && names(search.action, 'user_tokens.issued') ? [q.auditSearch.tokenPairs(search, stretch)] : []),
  ])
}

const names = (asked: string | null, action: string): boolean =>
  asked === null || asked === action || action.startsWith(`${asked}.`)

/** Events of one request are written after its ID was made, and soon. */
const longestRequestMs = 3_600_000

const stretchOf = (search: AuditSearch, cursor: string | null): Pick<AuditStretch, 'after' | 'before' | 'order'> => {
  const since = search.since === null ? firstUuid : uuidOfTime(search.since)
  const until = search.until === null ? lastUuid : uuidOfTime(search.until)
  if (search.requestId === null) return { after: since, before: earlier(until, cursor ?? lastUuid), order: 'newest' }
  const request = uuidIn('req_', search.requestId, 'requestId')
  const over = uuidOfTime(Number.parseInt(request.slice(0, 12), 16) + longestRequestMs)
  return { after: later(later(since, request), cursor ?? firstUuid), before: earlier(until, over), order: 'oldest' }
}

const firstUuid = '0'.repeat(32)
const lastUuid = 'f'.repeat(32)
const later = (a: string, b: string): string => (a > b ? a : b)
const earlier = (a: string, b: string): string => (a < b ? a : b)

/** Below every UUID that is made at this moment: a UUIDv7 begins with 48 bits of epoch milliseconds. */
const uuidOfTime = (epochMs: number): string =>
  Math.min(Math.max(0, Math.floor(epochMs)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
    .padEnd(32, '0')

const uuidIn = (prefix: string, id: string, param: string): string => {
  const uuid = id.startsWith(prefix) ? id.slice(prefix.length) : ''
  if (!/^[0-9a-f]{32}$/.test(uuid)) throw refuse('invalid_request', { param })
  return uuid
}
