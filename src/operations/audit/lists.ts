// The audit trail as members of an app and the command line list it. search-events.ts is the search of the desk.

import type { AuditEvent, Queries } from '../../../db/database.ts'
import { findAnyApp } from '../apps/app-record.ts'
import type { ListPage, PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type AppEventSearch, searchEventsOfApp } from './search-events.ts'
import { pick } from '../../domain/pick.ts'

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
 * tokens.
 * @throws invalid_request for an unknown slug
 */
export const listAuditEvents = async (
  platform: Platform,
  { slug, since, limit }: { readonly slug: string | null; readonly since: number; readonly limit: number },
): Promise<AuditEvent[]> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  return await q.audit.list({ appId, since, limit })
}
