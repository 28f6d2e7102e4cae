import type { AuditEvent } from '../../../db/database.ts'
import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'

type AuditQuestion = {
  readonly slug: string | null
  /** Epoch milliseconds. */
  readonly since: number
  readonly limit: number
}

/**
 * The latest events that match, oldest first, issued tokens among them.
 * @throws invalid_request for an unknown slug
 */
export const listAuditEvents = async (platform: Platform, question: AuditQuestion): Promise<AuditEvent[]> => {
  const q = platform.database.queries
  const appId = question.slug === null ? null : (await findApp(q, question.slug)).id
  return await q.audit.list({ appId, since: question.since, limit: question.limit })
}
