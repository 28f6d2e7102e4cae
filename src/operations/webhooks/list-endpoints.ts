import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'
import { type EndpointRecord, endpointRecord } from './endpoint-record.ts'

/**
 * The webhook endpoints of an app, by environment, oldest first.
 * @throws invalid_request for an unknown slug
 */
export const listEndpoints = async (platform: Platform, slug: string): Promise<readonly EndpointRecord[]> => {
  const q = platform.database.queries
  const app = await findApp(q, slug)
  return (await q.webhookEndpoints.listOfApp(app.id)).map((row) => endpointRecord(row, slug))
}
