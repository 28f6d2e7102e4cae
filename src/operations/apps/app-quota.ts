import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { Quotas } from '../../domain/limits.ts'

/**
 * The refusal when this account cannot take so many more apps (QUOTA_APPS); null when it can. To be asked in the
 * transaction that gives it the apps.
 */
export const refusalIfFull = async (
  q: Queries,
  quotas: Quotas,
  ownerId: string,
  more = 1,
): Promise<PlatformError | null> => {
  if ((await q.apps.countOwnedBy(ownerId)) + more <= quotas.apps) return null
  const message = `An account can have at most ${quotas.apps} apps: an operator can delete or transfer one, or raise QUOTA_APPS.`
  return refuse('quota_exceeded', { param: 'owner', details: { maximum: quotas.apps }, message })
}
