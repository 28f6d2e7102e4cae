import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'
import { type CredentialRecord, credentialRecord } from './credential-record.ts'

/**
 * Every client secret an app ever had, without the secrets; development first, oldest first.
 * @throws invalid_request for an unknown slug
 */
export const listCredentials = async (platform: Platform, slug: string): Promise<CredentialRecord[]> => {
  const q = platform.database.queries
  const now = platform.clock.now()
  const app = await findApp(q, slug)
  const records: CredentialRecord[] = []
  for (const client of await q.apps.clientsOf(app.id)) {
    const rows = await q.credentials.listByClient(client.id)
    records.push(...rows.map((row) => credentialRecord(row, client.environment, now)))
  }
  return records
}
