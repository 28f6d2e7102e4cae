import { findAnyApp } from '../apps/find-app.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type DescribedInstall, describedInstall } from './described-install.ts'

/**
 * Installs that an operator has decided on, of one app or of all (null), newest first.
 * @throws invalid_request for an unknown slug
 */
export const listDecidedInstalls = async (
  platform: Platform,
  slug: string | null,
  { limit, cursor }: PageRequest,
): Promise<Page<DescribedInstall>> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  const rows = await q.installs.decided(appId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows.map(describedInstall), limit, ({ id }) => id)
}
