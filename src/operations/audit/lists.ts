// The audit trail as app owners and the command line list it. search-events.ts is the search of the desk.

import type { AuditEvent } from '../../../db/database.ts'
import { findAnyApp } from '../apps/app-record.ts'
import type { ListPage, PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type AppEventSearch, searchEventsOfApp } from './search-events.ts'

/**
 * The events of one app that match, newest first. Issued tokens are not in the list, because their own rows record them. A user
 * who consented is not named, and their address is not shown.
 */
export const listAppEvents = async (
  platform: Platform,
  app: { readonly id: string; readonly ownerId: string },
  search: AppEventSearch,
  page: PageRequest,
): Promise<ListPage<AppEvent>> => {
  const found = await searchEventsOfApp(platform, app.id, search, page)
  return { ...found, data: found.data.map((row) => appEvent(row, app.ownerId)) }
}

/** Every event of an app. */
export const everyAppEvent: AppEventSearch = { action: null, outcome: null, since: null, until: null }

/**
 * The address of the owner, of the app's backend, and of anyone who tried a secret of the app. A refused bearer token may
 * come from a user's device.
 */
const mayTellAddress = (row: AuditEvent, isOwn: boolean): boolean =>
  isOwn || row.actorKind === 'app' || (row.actorKind === 'anonymous' && row.action !== 'bearer.check')

/** Whether a text has the ID of a user in it. */
const isPerson = (text: string | null): boolean => text?.includes('usr_') === true

/** An event as the app's owner sees it. It has the kind of the actor but never says which other person it was. */
export type AppEvent = ReturnType<typeof appEvent>

export const appEvent = (row: AuditEvent, ownerId: string) => {
  const isOwn = row.actorId === ownerId
  return {
    id: row.id,
    at: row.at,
    action: row.action,
    environment: row.environment,
    outcome: row.outcome,
    reason: row.reason,
    actorKind: row.actorKind,
    /** Null when it is another person. */
    actorId: isOwn || row.actorKind === 'app' || row.actorKind === 'system' ? row.actorId : null,
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
