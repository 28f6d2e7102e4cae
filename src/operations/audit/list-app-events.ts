import type { AuditEvent } from '../../../db/database.ts'
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
