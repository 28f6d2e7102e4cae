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

/** An event as the app's owner sees it. It has the kind of the actor but never says which other person it was. */
export type AppEvent = ReturnType<typeof appEvent>

const appEvent = (row: AuditEvent, ownerId: string) => {
  const isOwn = row.actorId === ownerId
  return {
    id: row.id,
    at: row.at,
    action: row.action,
    environment: row.environment,
    outcome: row.outcome,
    reason: row.reason,
    actorKind: row.actorKind,
    target: row.target,
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

/** An event with the slug of its app and the email address of its actor; null when there is none or it no longer exists. */
export type DescribedEvent = AuditEvent & { readonly app: string | null; readonly actorEmail: string | null }

/** Adds slugs and addresses to events. Each app and user is read once. */
export const describeEvents = async (
  platform: Platform,
  events: readonly AuditEvent[],
): Promise<readonly DescribedEvent[]> => {
  const q = platform.database.queries
  const slugs = new Map<string, string | null>()
  const emails = new Map<string, string | null>()
  for (const { appId, actorId } of events) {
    if (appId !== null && !slugs.has(appId)) slugs.set(appId, (await q.apps.byId(appId))?.slug ?? null)
    if (actorId?.startsWith('usr_') === true && !emails.has(actorId)) {
      emails.set(actorId, (await q.users.byId(actorId))?.email ?? null)
    }
  }
  return events.map((event) => ({
    ...event,
    app: slugs.get(event.appId ?? '') ?? null,
    actorEmail: emails.get(event.actorId ?? '') ?? null,
  }))
}
