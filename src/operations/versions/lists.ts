// The lists of versions for the contract, the console, the command line and the review queue, and the rollbacks.
import type { DecidedQuestion, Queries, QueuePlace, VersionQuestion, WaitingFor } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { VersionStatus } from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput } from '../decide.ts'
import {
  beyondEveryId,
  canBeFound,
  emptyPage,
  type ListPage,
  listPage,
  newestFirst,
  none,
  pageOf,
  type PageRequest,
  strangeCursor,
} from '../page.ts'
import type { Platform } from '../platform.ts'
import { personOf } from '../users/find-user.ts'
import { type VersionRecord, versionRecord, compareVersions } from './version-record.ts'
import type { SeenVersion } from './move-version.ts'

/**
 * One app's versions, newest number first, with status `status` or any (null).
 * @throws invalid_request for a cursor that this list did not return
 */
export const listVersions = async (
  platform: Platform,
  appId: string,
  status: VersionStatus | null,
  { limit, cursor }: PageRequest,
) => {
  const q = platform.database.queries
  const rows = await q.versions.list(appId, status, numberBefore(cursor), limit + 1)
  const app = await q.apps.byId(appId)
  const active = await q.versions.active(appId)
  const head = { developmentVersionId: app?.developmentVersionId ?? null }
  const { data, nextCursor } = pageOf(rows, limit, ({ number }) => String(number))
  return {
    data: data.map((row) => versionRecord(row, head)),
    nextCursor,
    current: { development: head.developmentVersionId, production: active?.id ?? null },
  }
}

/** A version in a list, without its content. */
type VersionSummary = Awaited<ReturnType<Queries['versions']['summaries']>>[number]

/**
 * One app's versions that match, without their content, in the order of their numbers, newest first unless another is asked for.
 * @throws invalid_request for a cursor that this list did not return
 */
export const listVersionSummaries = async (
  { database }: Platform,
  appId: string,
  question: VersionQuestion,
  page: PageRequest,
): Promise<ListPage<VersionSummary>> => {
  if (!canBeFound(question.part ?? '')) return emptyPage
  const isAscending = question.order === 'ascending'
  return await listPage(
    page,
    (cursor) => (cursor === null && isAscending ? 0 : numberBefore(cursor)),
    (place, rows) => database.queries.versions.summaries(appId, question, place, rows),
    ({ number }) => String(number),
  )
}

/** How many versions of an app match. */
export const countVersions = async ({ database }: Platform, appId: string, question: VersionQuestion) =>
  canBeFound(question.part ?? '') ? await database.queries.versions.countFound(appId, question) : none

const noEnd = Number.MAX_SAFE_INTEGER

/**
 * All versions of an app in one list, newest number first, for the command line.
 * @throws invalid_request for an unknown slug
 */
export const listEveryVersion = async (platform: Platform, slug: string): Promise<VersionRecord[]> => {
  const q = platform.database.queries
  const app = await findApp(q, slug)
  return (await q.versions.list(app.id, null, noEnd, noEnd)).map((row) => versionRecord(row, app))
}

/**
 * The number below which the page after this cursor starts. Null is the first page.
 * @throws invalid_request for a cursor that no list by numbers returned
 */
const numberBefore = (cursor: string | null): number => {
  if (cursor === null) return noEnd
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw strangeCursor()
  return Number(cursor)
}

/**
 * The versions of every app that wait for a review or, once approved, for their activation; longest waiting first. `part` is
 * text in the name or the slug of the app.
 * @throws invalid_request for a cursor that this list did not return
 */
export const listQueue = async ({ database }: Platform, what: WaitingFor, page: PageRequest, part = '') => {
  if (!canBeFound(part)) return emptyPage
  return await listPage(
    page,
    (cursor) => (cursor === null ? start : placeFrom(cursor)),
    async (place, rows) => (await database.queries.versions.queue(what, place, rows, part)).map(queued),
    positionOf,
  )
}

/** The version that is decided next: the one behind this one in the queue, or the first one. Null if none waits. */
export const nextInQueue = async ({ database }: Platform, what: WaitingFor, after: QueuePlace) => {
  const { versions } = database.queries
  const [next = null] = await versions.queue(what, after, 1)
  return next ?? (await versions.queue(what, start, 1))[0] ?? null
}

/** Which decisions an operator asks for. */
type DecidedSearch = Omit<DecidedQuestion, 'by'> & {
  /** The address of the operator who decided; empty for any. */
  readonly by: string
}

/**
 * The versions that were approved or rejected, of every app, the latest decision first.
 * @throws invalid_request for an unknown address, and for a cursor that this list did not return
 */
export const listDecided = async ({ database }: Platform, { by, ...search }: DecidedSearch, page: PageRequest) => {
  const q = database.queries
  const operator = by === '' ? null : await personOf(q, { email: by })
  if (operator instanceof PlatformError) throw badInput('by', operator.message)
  if (!canBeFound(search.part)) return emptyPage
  return await listPage(
    page,
    (cursor) => (cursor === null ? { since: noEnd, id: beyondEveryId } : placeFrom(cursor)),
    async (place, rows) => (await q.versions.decided({ ...search, by: operator?.id ?? null }, place, rows)).map(queued),
    positionOf,
  )
}

const positionOf = ({ since, id }: QueuePlace): string => `${since}.${id}`

type QueueRow = Awaited<ReturnType<Queries['versions']['queue']>>[number]

const queued = <Row extends QueueRow>(row: Row) => ({
  ...row,
  scopes: parseStoredScope(row.scopes),
  /** Epoch milliseconds; not null in these statuses. */
  since: row.since ?? 0,
})

/** A version that waits for an operator. */
export type QueuedVersion = ReturnType<typeof queued<QueueRow>>

const start: QueuePlace = { since: -1, id: '' }

const placeFrom = (cursor: string): QueuePlace => {
  const [, since, id] = /^(\d{1,15})\.(ver_[0-9a-f]{32})$/.exec(cursor) ?? []
  if (since === undefined || id === undefined) throw strangeCursor()
  return { since: Number(since), id }
}

/** One app's rollbacks with the names of both versions, newest first, in one environment or in both (null). */
export const listRollbacks = async (
  { database }: Platform,
  appId: string,
  page: PageRequest,
  environment: Environment | null = null,
) => await newestFirst(page, (place, rows) => database.queries.rollbacks.pageOfApp(appId, place, rows, environment))

/** From when to when which version of an app was live in production, newest first, with what followed it and why. */
export const listLiveChanges = async ({ database }: Platform, appId: string, page: PageRequest) =>
  await listPage(
    page,
    numberBefore,
    (place, rows) => database.queries.liveChanges.pageOfApp(appId, place, rows),
    ({ position }) => String(position),
  )

export type LiveChange = Awaited<ReturnType<typeof listLiveChanges>>['data'][number]

/** What an operator sees before deciding on a version. */
export type Review = Awaited<ReturnType<typeof readReview>>

/**
 * A version and the live version, with the differences between them.
 * @throws version_not_found for an unknown app or version
 */
export const readReview = async (platform: Platform, slug: string, name: string) => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  const row = app === null ? null : await q.versions.byName(app.id, name)
  if (app === null || row === null) throw refuse('version_not_found')
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) throw new Error('an app has no owner')
  const liveRow = await q.versions.active(app.id)
  const version = versionRecord(row, app)
  /** The live version to compare with; null when there is none. */
  const live = liveRow === null ? null : versionRecord(liveRow, app)
  /** Send this back with the decision, so that it applies only to what was shown. */
  const seen: SeenVersion = {
    id: row.id,
    revision: row.revision,
    submittedAt: row.submittedAt,
    liveId: live?.id ?? null,
  }
  return {
    app: { id: app.id, slug: app.slug, name: app.name, status: app.status },
    owner: { id: owner.id, name: owner.name, email: owner.email },
    version,
    hasIcon: row.iconSha256 !== null,
    live,
    ...compareVersions(live, version),
    seen,
  }
}
