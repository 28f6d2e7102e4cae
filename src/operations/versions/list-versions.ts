import { refuse } from '../../domain/errors.ts'
import type { VersionStatus } from '../../domain/version.ts'
import type { Page, PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
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
  page: PageRequest,
): Promise<VersionPage> => {
  const q = platform.database.queries
  const before = page.cursor === null ? Number.MAX_SAFE_INTEGER : numberFrom(page.cursor)
  const rows = await q.versions.list(appId, status, before, page.limit + 1)
  const app = await q.apps.byId(appId)
  const active = await q.versions.active(appId)
  const head = { developmentVersionId: app?.developmentVersionId ?? null }
  const shown = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? shown.at(-1) : undefined
  return {
    data: shown.map((row) => versionRecord(row, head)),
    nextCursor: last === undefined ? null : String(last.number),
    current: { development: head.developmentVersionId, production: active?.id ?? null },
  }
}

const numberFrom = (cursor: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw refuse('invalid_request', { param: 'cursor' })
  return Number(cursor)
}
