import type { Queries } from '../../../db/database.ts'
import type { VersionStatus } from '../../domain/version.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { numberBefore } from './number-before.ts'

/** A version in a list: all but its content. */
export type VersionSummary = Awaited<ReturnType<Queries['versions']['summaries']>>[number]

/**
 * One app's versions without their content, newest number first, of one status or of all (null).
 * @throws invalid_request for a cursor that this list did not give
 */
export const listVersionSummaries = async (
  platform: Platform,
  appId: string,
  status: VersionStatus | null,
  { limit, cursor }: PageRequest,
): Promise<Page<VersionSummary>> => {
  const rows = await platform.database.queries.versions.summaries(appId, status, numberBefore(cursor), limit + 1)
  return pageOf(rows, limit, ({ number }) => String(number))
}
