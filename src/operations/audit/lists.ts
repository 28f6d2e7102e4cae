import type { AuditEvent } from '../../../db/database.ts'
import { findAnyApp } from '../apps/app-record.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** An event as the app's owner sees it: what, when and by which kind of actor; never which other person that was. */
export type AppEvent = Pick<
  AuditEvent,
  'id' | 'at' | 'action' | 'environment' | 'outcome' | 'reason' | 'actorKind' | 'target' | 'requestId'
> & {
  readonly isOwn: boolean
  /** Null where it could be the address of another person. */
  readonly address: string | null
}

/**
 * What happened to one app, newest first, of one action or of all (null). Tokens are records of their own issue and
 * are not among them; a user who consented is not named, nor where they were.
 */
export const listAppEvents = async (
  platform: Platform,
  app: { readonly id: string; readonly ownerId: string },
  action: string | null,
  { limit, cursor }: PageRequest,
): Promise<Page<AppEvent>> => {
  const rows = await platform.database.queries.audit.pageOfApp(app.id, action, cursor ?? beyondEveryId, limit + 1)
  return pageOf(
    rows.map((row) => appEvent(row, app.ownerId)),
    limit,
    ({ id }) => id,
  )
}

/** The app's own backend, the owner, and whoever tried a secret of the app. A refused bearer may come from a user's device. */
const mayTellAddress = (row: AuditEvent, isOwn: boolean): boolean =>
  isOwn || row.actorKind === 'app' || (row.actorKind === 'anonymous' && row.action !== 'bearer.check')

const appEvent = (row: AuditEvent, ownerId: string): AppEvent => {
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
    address: mayTellAddress(row, isOwn) ? row.address : null,
  }
}

type Listing = {
  readonly slug: string | null
  /** Epoch milliseconds. */
  readonly since: number
  readonly limit: number
}

/**
 * The latest events that match, oldest first, issued tokens among them.
 * @throws invalid_request for an unknown slug
 */
export const listAuditEvents = async (platform: Platform, { slug, since, limit }: Listing): Promise<AuditEvent[]> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  return await q.audit.list({ appId, since, limit })
}

/** What people call the app and the person of an event; null where there is none, or none any more. */
export type DescribedEvent = AuditEvent & { readonly app: string | null; readonly actorEmail: string | null }

/** Looks up each app and person of the events once. */
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
