import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type CredentialRecord, credentialRecord } from './credential-record.ts'

/** Secrets of an app that were revoked or whose grace is over, of both environments, newest first. */
export const listEndedCredentials = async (
  platform: Platform,
  appId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<CredentialRecord>> => {
  const now = platform.clock.now()
  const rows = await platform.database.queries.credentials.endedOfApp(appId, now, cursor ?? beyondEveryId, limit + 1)
  const records = rows.map(({ credential, environment }) => credentialRecord(credential, environment, now))
  return pageOf(records, limit, ({ id }) => id)
}
