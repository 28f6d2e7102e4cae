import type { VersionStatus } from '../../domain/version.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { numberBefore } from './number-before.ts'
import { type VersionRecord, versionRecord } from './version-record.ts'

type VersionPage = Page<VersionRecord> & {
  readonly current: { readonly development: string | null; readonly production: string | null }
}

/**
 * One app's versions, newest number first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listVersions = async (
  platform: Platform,
  appId: string,
  status: VersionStatus | null,
  { limit, cursor }: PageRequest,
): Promise<VersionPage> => {
  const q = platform.database.queries
  const rows = await q.versions.list(appId, status, numberBefore(cursor), limit + 1)
  const app = await q.apps.byId(appId)
  const active = await q.versions.active(appId)
  const head = { developmentVersionId: app?.developmentVersionId ?? null }
  const { data, nextCursor } = pageOf(rows, limit, ({ number }) => String(number))
  return {
    data: data.map((row) => versionRecord(row, head)),
    nextCursor,
    current: { development: head.developmentVersionId, production: active?.id ?? null },
  }
}
