import type { AuditEvent, AuditFinds, AuditQuestion, AuditStretch, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { findAnyApp } from '../apps/app-record.ts'
import { badInput } from '../decide.ts'
import { type Counted, type ListPage, type PageRequest, searchBothWays, searchedRows, type TimeOrder } from '../page.ts'
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
  /** Usually newest first; the events of one request oldest first. */
  readonly order?: TimeOrder
}

/**
 * Events that match, including issued tokens. A page reads a
 * bounded number of rows: it may have few events or none, and the next page continues the search.
 * @throws invalid_request for an unknown app or email address, a cursor that this list did not return, or a malformed
 *   request ID
 */
export const searchEvents = async (
  platform: Platform,
  search: AuditSearch,
  page: PageRequest,
): Promise<ListPage<AuditEvent>> => {
  const { since, until, app, actor, order = search.requestId === null ? 'newest' : 'oldest', ...asked } = search
  const question = await questionOf(platform.database.queries, app, actor, asked)
  return await searchByTime(platform, { since, until, order, requestId: search.requestId }, question, 'issued', page)
}

/** What the owner of an app asks for among its events. Null matches everything. */
export type AppEventSearch = Pick<AuditSearch, 'action' | 'outcome' | 'since' | 'until' | 'order'>

/** Events of one app that match, without issued tokens. The pages are as for `searchEvents`. */
export const searchEventsOfApp = async (
  platform: Platform,
  appId: string,
  { action, outcome, since, until, order = 'newest' }: AppEventSearch,
  page: PageRequest,
): Promise<ListPage<AuditEvent>> => {
  const asked = { appId, actorKind: null, actorId: null, action, target: null, outcome, requestId: null }
  return await searchByTime(platform, { since, until, order, requestId: null }, asked, 'none', page)
}

/** How many there are of them; at most 10,000 rows are counted. */
export const countEventsOfApp = async (
  { database, random }: Platform,
  appId: string,
  { action, outcome, since, until }: AppEventSearch,
): Promise<Counted> => {
  const question = { appId, actorKind: null, actorId: null, action, target: null, outcome, requestId: null }
  const bounds = boundsOf({ since, until, requestId: null }, random.aheadMs)
  return await database.queries.audit.countFound(question, { ...bounds, since, until })
}

type Times = Pick<AuditSearch, 'since' | 'until' | 'requestId'>
type OrderedTimes = Times & { readonly order: TimeOrder }

const searchByTime = async (
  { database: { queries: q }, random }: Platform,
  times: OrderedTimes,
  question: AuditQuestion,
  issued: 'issued' | 'none',
  page: PageRequest,
): Promise<ListPage<AuditEvent>> => {
  const look = async (cursor: string | null, direction: 'onward' | 'back', limit: number) => {
    const position = cursor === null ? null : uuidIn('aud_', cursor, 'cursor')
    const stretch = { ...stretchOf(times, position, direction, random.aheadMs), rows: searchedRows, limit }
    return await lookThroughEvents(q, times, question, issued, stretch)
  }
  return await searchBothWays(page, look, ({ id }) => id)
}

/** Events of a stretch that match, in the order in which they are read, and how far the search got. */
const lookThroughEvents = async (
  q: Queries,
  times: Times,
  question: AuditQuestion,
  issued: 'issued' | 'none',
  stretch: AuditStretch,
) => {
  const { order } = stretch
  const finds =
    issued === 'issued' ? await lookEverywhere(q, question, stretch) : [await q.audit.searchEvents(question, stretch)]
  const horizon = horizonOf(finds, order)
  const isSettled = ({ id }: AuditEvent): boolean =>
    horizon === null || comesFirst(id, horizon, order) || id === horizon
  const found = finds
    .flatMap((find) => find.events)
    .filter((event) => isSettled(event) && isInTime(event, times))
    .toSorted((a, b) => (comesFirst(a.id, b.id, order) ? -1 : 1))
    .slice(0, stretch.limit)
  return { found, searchedTo: horizon }
}

/** After a clock reset the IDs run ahead of the times, so the time is compared too. */
const isInTime = ({ at }: AuditEvent, { since, until }: Times): boolean =>
  (since === null || at >= since) && (until === null || at < until)

const questionOf = async (
  q: Queries,
  app: string | null,
  actor: string | null,
  asked: Omit<AuditQuestion, 'appId' | 'actorId'>,
): Promise<AuditQuestion> => ({
  ...asked,
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

/** The stretch that a page reads: from the cursor on, or with the direction `back` from there to the beginning of the list. */
const stretchOf = (
  times: OrderedTimes,
  cursor: string | null,
  direction: 'onward' | 'back',
  aheadMs: number,
): Pick<AuditStretch, 'after' | 'before' | 'order'> => {
  const { after, before } = boundsOf(times, aheadMs)
  const isNewestFirst = (times.order === 'newest') === (direction === 'onward')
  return isNewestFirst
    ? { after, before: earlier(before, cursor ?? lastUuid), order: 'newest' }
    : { after: later(after, cursor ?? firstUuid), before, order: 'oldest' }
}

const boundsOf = ({ since, until, requestId }: Times, aheadMs: number) => {
  const from = since === null ? firstUuid : uuidOfTime(since)
  const to = until === null ? lastUuid : uuidOfTime(until + aheadMs)
  if (requestId === null) return { after: from, before: to }
  const startedAt = Number.parseInt(uuidIn('req_', requestId, 'requestId').slice(0, 12), 16)
  // From the start of its millisecond, because IDs of issued tokens have a counter of their own.
  const after = later(from, uuidOfTime(startedAt))
  return { after, before: earlier(to, uuidOfTime(startedAt + longestRequestMs + aheadMs)) }
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
