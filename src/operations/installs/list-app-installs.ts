import type { Install } from '../../../db/database.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** An install as the app's developer sees it: nothing of the person and the website or store behind it but the kind. */
export type AppInstall = Pick<Install, 'id' | 'approval' | 'state' | 'createdAt' | 'updatedAt'> & {
  readonly kind: ResourceKind
}

/** One app's installs, newest first. */
export const listAppInstalls = async (
  platform: Platform,
  appId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<AppInstall>> => {
  const rows = await platform.database.queries.installs.pageOfApp(appId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows, limit, ({ id }) => id)
}
