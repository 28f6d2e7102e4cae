import type { AuditEvent } from '../../../db/database.ts'
import type { Platform } from '../platform.ts'

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
