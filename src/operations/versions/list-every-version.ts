import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'
import { type VersionRecord, versionRecord } from './version-record.ts'

const noEnd = Number.MAX_SAFE_INTEGER

/**
 * All versions of an app at once, newest number first, for the person at the terminal.
 * @throws invalid_request for an unknown slug
 */
export const listEveryVersion = async (platform: Platform, slug: string): Promise<VersionRecord[]> => {
  const q = platform.database.queries
  const app = await findApp(q, slug)
  return (await q.versions.list(app.id, null, noEnd, noEnd)).map((row) => versionRecord(row, app))
}
