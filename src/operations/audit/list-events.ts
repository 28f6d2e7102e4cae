import type { AuditEvent } from '../../../db/database.ts'
import { findAnyApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'

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
