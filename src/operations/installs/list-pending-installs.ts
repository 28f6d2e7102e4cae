import { type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type DescribedInstall, describedInstall } from './described-install.ts'

/** Installs of every app that wait for an operator, oldest first. */
export const listPendingInstalls = async (
  platform: Platform,
  { limit, cursor }: PageRequest,
): Promise<Page<DescribedInstall>> => {
  const rows = await platform.database.queries.installs.pending(cursor ?? '', limit + 1)
  return pageOf(rows.map(describedInstall), limit, ({ id }) => id)
}
