import type { AuditEvent } from '../../db/database.ts'
import { listAuditEvents } from '../../src/operations/audit/read-audit.ts'
import type { Platform } from '../../src/operations/platform.ts'

/** The whole audit log, oldest event first, or only the events of one app. */
export const auditEvents = async (platform: Platform, app?: { readonly slug: string }): Promise<AuditEvent[]> =>
  await listAuditEvents(platform, { slug: app?.slug ?? null, since: 0, limit: 1_000_000 })
