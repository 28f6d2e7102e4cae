import type { AuditEvent, AuditFinds, AuditQuestion, AuditStretch, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { findAnyApp } from '../apps/app-record.ts'
import { badInput } from '../decision.ts'
import { pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { findUser } from '../users/find-user.ts'

export type AuditSearch = Omit<AuditQuestion, 'appId' | 'actorId'> & {
  /** The slug of an app. */
  readonly app: string | null
  /** The ID of a user or a client, or the email address of a user. */
  readonly actor: string | null
  /** Epoch milliseconds, from `since` (inclusive) to `until` (exclusive). */
  readonly since: number | null
  readonly until: number | null
}

/** How many rows of each kind one page reads. Reading them delays every other request by some milliseconds. */
const rowsPerPage = 10_000

/**
 * Events that match, including issued tokens, newest first; the events of one request oldest first. A page reads a
 * bounded number of rows: it may have few events or none, and the next page continues the search.
 * @throws invalid_request for an unknown app or email address, a cursor that this list did not return, or a malformed
 *   request ID
 */
export const searchEvents = async (platform: Platform, search: AuditSearch, { limit, cursor }: PageRequest) => {
  const { after, before, order } = stretchOf(
    search,
    cursor === null ? null : uuidIn('aud_', cursor, 'cursor'),
    platform.random.aheadMs,
  )
  const stretch = { after, before, order, rows: rowsPerPage, limit: limit + 1 }
  const q = platform.database.queries
  const finds = await lookEverywhere(q, await questionOf(q, search), stretch)
  const horizon = horizonOf(finds, order)
  const isSettled = ({ id }: AuditEvent): boolean =>
    horizon === null || comesFirst(id, horizon, order) || id === horizon
  const events = finds
    .flatMap((find) => find.events)
    .filter((event) => isSettled(event) && isInTime(event, search))
    .toSorted((a, b) => (comesFirst(a.id, b.id, order) ? -1 : 1))
  const { data, nextCursor } = pageOf(events, limit, ({ id }) => id)
  return { data, nextCursor: nextCursor ?? horizon }
}

/** After a clock reset the IDs run ahead of the times, so the time is compared too. */
const isInTime = ({ at }: AuditEvent, { since, until }: AuditSearch): boolean =>
  (since === null || at >= since) && (until === null || at < until)

const questionOf = async (q: Queries, { app, actor, ...search }: AuditSearch): Promise<AuditQuestion> => ({
  ...search,
  appId: app === null ? null : (await findAnyApp(q, app)).id,
  actorId: actor === null ? null : await actorIdOf(q, actor),
})

const actorIdOf = async (q: Queries, actor: string): Promise<string> => {
  if (!actor.includes('@')) return actor
  const user = await findUser(q, actor)
  if (user === null) throw badInput('actor', 'There is no user with this address.')
  return user.id
}

type Order = AuditStretch['order']
const comesFirst = (one: string, other: string, order: Order): boolean =>
  order === 'newest' ? one > other : one < other

/** The position up to which every search has read, and so the results are complete; null when all have ended. */
const horizonOf = (finds: readonly AuditFinds[], order: Order): string | null => {
  const ends = finds.map(({ searchedTo }) => searchedTo).filter((end) => end !== null)
  return ends.toSorted((a, b) => (comesFirst(a, b, order) ? -1 : 1))[0] ?? null
}

const lookEverywhere = async (q: Queries, question: AuditQuestion, stretch: AuditStretch) => {
  const { actorKind, actorId, action, outcome } = question
  const mayBeIssue =
    (actorKind === null || actorKind === 'app') &&
    (actorId === null || environmentOfClientId(actorId) !== null) &&
    outcome !== 'refused'
  return await Promise.all([
    q.audit.searchEvents(question, stretch),
    ...(mayBeIssue && names(action, 'app_token.issued') ? [q.audit.searchAppTokens(question, stretch)] : []),
    ...(mayBeIssue && names(action, 'user_tokens.issued') ? [q.audit.searchTokenPairs(question, stretch)] : []),
  ])
}

const names = (asked: string | null, action: string): boolean =>
  asked === null || asked === action || action.startsWith(`${asked}.`)

/** The events of a request are written within this time after its ID was made. */
const longestRequestMs = 3_600_000

const stretchOf = (
  search: AuditSearch,
  cursor: string | null,
  aheadMs: number,
): Pick<AuditStretch, 'after' | 'before' | 'order'> => {
  const since = search.since === null ? firstUuid : uuidOfTime(search.since)
  const until = search.until === null ? lastUuid : uuidOfTime(search.until + aheadMs)
  if (search.requestId === null) return { after: since, before: earlier(until, cursor ?? lastUuid), order: 'newest' }
  const request = uuidIn('req_', search.requestId, 'requestId')
  const startedAt = Number.parseInt(request.slice(0, 12), 16)
  const end = uuidOfTime(startedAt + longestRequestMs + aheadMs)
  // From the start of its millisecond, because IDs of issued tokens have a counter of their own.
  const after = later(later(since, uuidOfTime(startedAt)), cursor ?? firstUuid)
  return { after, before: earlier(until, end), order: 'oldest' }
}

const firstUuid = '0'.repeat(32)
const lastUuid = 'f'.repeat(32)
const later = (a: string, b: string): string => (a > b ? a : b)
const earlier = (a: string, b: string): string => (a < b ? a : b)

/** The lowest UUID of this moment: a UUIDv7 begins with 48 bits of epoch milliseconds. */
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
