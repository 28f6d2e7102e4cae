import type { Rollback } from '../../../db/database.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** A row of the ledger, with what the two versions are called. */
export type LedgerRow = Pick<Rollback, 'id' | 'environment' | 'reason' | 'createdAt'> & {
  readonly from: string
  readonly to: string
}

/** One app's rollbacks, newest first. */
export const listRollbacks = async (
  platform: Platform,
  appId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<LedgerRow>> => {
  const rows = await platform.database.queries.rollbacks.pageOfApp(appId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows, limit, ({ id }) => id)
}
