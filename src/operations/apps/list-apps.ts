import type { Platform } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'

/** Every app, by slug. */
export const listApps = async (platform: Platform): Promise<AppRecord[]> => {
  const q = platform.database.queries
  const records: AppRecord[] = []
  for (const app of await q.apps.list()) records.push(appRecord(app, await q.apps.clientsOf(app.id)))
  return records
}
