import { recordIdOfTime, uuidTimeOfRecordId, environmentOfClientId } from '../../domain/identifier.ts'
import { storedJson } from '../stored-json.ts'
import type { Platform } from '../platform.ts'
import type { AuditEvent, Queries, AuditFinds, AuditQuestion, AuditStretch } from '../../../db/database.ts'
import { findAnyApp } from '../apps/app-record.ts'
import { type ListPage, type PageRequest, type Counted, searchBothWays, searchedRows, type TimeOrder } from '../page.ts'
import { namesAction } from '../../domain/audit-action.ts'
import { pick } from '../../domain/pick.ts'
import { refuse } from '../../domain/errors.ts'
import { badInput } from '../decide.ts'
import { findUser } from '../users/find-user.ts'

/** Events that get positions in one transaction, and the oldest that a commit may come after its ID. */
const numberedAtOnce = 5_000
const latestCommitMs = 10 * 60_000

/** An event as readers from outside get it. */
export type ReadEvent = Awaited<ReturnType<typeof readAudit>>['data'][number]

/**
 * Events after a position, in the order in which they became readable: a reader who asks again with the last position misses
 * none and gets none twice. IDs of events precede their commit, so positions are given here, to what has been committed.
 */
export const readAudit = async (platform: Platform, after: number, limit: number) => {
  const { database } = platform
  const found = await database.queries.auditReading.after(after, limit)
  if (found.length < limit) await numberAudit(platform)
  const rows = found.length < limit ? await database.queries.auditReading.after(after, limit) : found
  const data = rows.map(({ position, event }) => ({
    position,
    id: event.id,
    at: event.at,
    actorKind: event.actorId?.startsWith('svk_') === true ? 'service' : event.actorKind,
    actorId: event.actorId,
    appId: event.appId,
    environment: event.environment,
    action: event.action,
    target: event.target,
    outcome: event.outcome,
    reason: event.reason,
    detail: event.detail === null ? null : storedJson<Readonly<Record<string, unknown>>>(event.detail),
    requestId: event.requestId,
    address: event.address,
  }))
  return { data, next: data.at(-1)?.position ?? after }
}

/** Gives positions to all events that have been committed. Returns the last position; 0 if there are none. */
export const numberAudit = async ({ database }: Platform): Promise<number> => {
  const { auditReading } = database.queries
  const last = await auditReading.lastNumbered()
  const since = last === null ? '' : recordIdOfTime('aud_', uuidTimeOfRecordId(last.eventId) - latestCommitMs)
  let numbered = numberedAtOnce
  while (numbered === numberedAtOnce) {
    numbered = await database.transaction((q) => q.auditReading.number(since, numberedAtOnce))
  }
  return (await auditReading.lastNumbered())?.position ?? 0
}

// The audit trail as members of an app and the command line list it.

/**
 * The events of one app that match. Issued tokens are not in the list, because their own rows record them. A user
 * who consented is not named, and their address is not shown.
 */
export const listAppEvents = async (
  platform: Platform,
  { app, userId }: EventReader,
  search: AppEventSearch,
  page: PageRequest,
): Promise<ListPage<AppEvent>> => {
  const found = await searchEventsOfApp(platform, app.id, search, page)
  const team = await teamOf(platform.database.queries, app)
  return { ...found, data: found.data.map((row) => appEvent(row, { userId, team })) }
}

/** An app and the member who reads its events. */
type EventReader = { readonly app: { readonly id: string; readonly ownerId: string }; readonly userId: string }

/** The publisher of an app, and everybody who is or was a member. */
const teamOf = async (q: Queries, { id, ownerId }: EventReader['app']): Promise<ReadonlySet<string>> =>
  new Set([ownerId, ...(await q.appMembers.everyIdOf(id))])

/** Who made this thing of an app, as a member of it sees it; null if the event is not kept any more. */
export const findCreation = async (
  { database: { queries } }: Platform,
  { app, userId }: EventReader,
  { action, target }: { readonly action: string; readonly target: string },
): Promise<AppEvent | null> => {
  const row = await queries.audit.firstAbout(app.id, action, target)
  return row === null ? null : appEvent(row, { userId, team: await teamOf(queries, app) })
}

/** Events of several apps, as a member of them sees them. */
export const appEventsFor = async (q: Queries, rows: readonly AuditEvent[], userId: string): Promise<AppEvent[]> => {
  const teams = new Map<string | null, ReadonlySet<string>>()
  for (const { appId } of rows) {
    const app = appId === null || teams.has(appId) ? null : await q.apps.byId(appId)
    if (app !== null) teams.set(appId, await teamOf(q, app))
  }
  return rows.map((row) => appEvent(row, { userId, team: teams.get(row.appId) ?? new Set() }))
}

/**
 * The address of the reader, of the app's backend, and of anyone who tried a secret of the app. A refused bearer token may
 * come from a user's device.
 */
const mayTellAddress = (row: AuditEvent, isOwn: boolean): boolean =>
  isOwn || row.actorKind === 'app' || (row.actorKind === 'anonymous' && row.action !== 'bearer.check')

/** What members do for an app. In other events, such as a consent, a member is a user like any other. */
const isTeamWork = ({ action, actorKind }: AuditEvent): boolean =>
  actorKind !== 'anonymous' &&
  /^(app|audit|credential|installs|member|page|redirect_uri|version|webhook)\./.test(action)

/** An event as a member of the app sees it. Members are named in what they do for the app; other people never are. */
export type AppEvent = ReturnType<typeof appEvent>

type Reader = { readonly userId: string; readonly team: ReadonlySet<string> }

const appEvent = (row: AuditEvent, { userId, team }: Reader) => {
  const isOwn = row.actorId === userId
  const isTold = (id: string) => isTeamWork(row) && team.has(id)
  /** Whether the ID of another person is in the text. */
  const isPerson = (text: string | null) => !(text?.match(/usr_\w+/g) ?? []).every(isTold)
  const isColleague = row.actorKind === 'user' && row.actorId !== null && isTold(row.actorId)
  return {
    ...pick(row, 'id', 'at', 'action', 'environment', 'outcome', 'reason', 'actorKind'),
    /** Null when it is another person. */
    actorId: isOwn || isColleague || row.actorKind === 'app' || row.actorKind === 'system' ? row.actorId : null,
    appId: row.appId,
    target: isPerson(row.target) ? null : row.target,
    /** Null when it names a person. */
    detail: isPerson(row.detail) ? null : row.detail,
    requestId: row.requestId,
    isOwn,
    /** Null when it could be the address of another person. */
    address: mayTellAddress(row, isOwn) ? row.address : null,
  }
}

/**
 * The latest events of an app or of all (null), from this moment on (epoch milliseconds), oldest first, including issued
 * tokens. With an actor or an action only theirs: the search reads further until it has enough.
 * @throws invalid_request for an unknown slug or address
 */
export const listAuditEvents = async (
  platform: Platform,
  { slug, since, limit, actor = null, action = null }: AuditList,
): Promise<AuditEvent[]> => {
  const q = platform.database.queries
  if (actor !== null || action !== null) {
    const search = { app: slug, actor, action, since, until: null, ...nothingElse }
    const found: AuditEvent[] = []
    let cursor: string | null = null
    do {
      const page: ListPage<AuditEvent> = await searchEvents(platform, search, { limit: limit - found.length, cursor })
      found.push(...page.data)
      cursor = page.nextCursor
    } while (cursor !== null && found.length < limit)
    return found.toReversed()
  }
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  return await q.audit.list({ appId, since, limit })
}

type AuditList = {
  readonly slug: string | null
  readonly since: number
  readonly limit: number
  /** The address of a user, or the ID of a user or a client. */
  readonly actor?: string | null
  /** A whole action, or the part before its dot. */
  readonly action?: string | null
}
const nothingElse = { actorKind: null, target: null, outcome: null, requestId: null } as const

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
const searchEventsOfApp = async (
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

const names = (asked: string | null, action: string): boolean => asked === null || namesAction(asked, action)

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
  if (!/^[0-9a-f]{32}$/.test(uuid)) {
    throw refuse('invalid_request', { param, message: `It must begin with ${prefix} and have 32 hexadecimal digits.` })
  }
  return uuid
}
