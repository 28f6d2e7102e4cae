import type { WebhookAttempt } from '../../../db/database.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { findEndpoint } from './find-endpoint.ts'

/** One call of an endpoint as its owner sees it. `answer` is what the receiver wrote: text of somebody else. */
export type AttemptRecord = Omit<WebhookAttempt, 'endpointId'>

const attemptRecord = (row: WebhookAttempt): AttemptRecord => ({
  id: row.id,
  eventId: row.eventId,
  kind: row.kind,
  at: row.at,
  durationMs: row.durationMs,
  status: row.status,
  error: row.error,
  answer: row.answer,
})

/**
 * The calls of an endpoint in the last thirty days, newest first.
 * @throws invalid_request for an unknown ID
 */
export const listAttempts = async (
  platform: Platform,
  endpointId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<AttemptRecord>> => {
  const q = platform.database.queries
  await findEndpoint(q, endpointId)
  const rows = await q.webhookAttempts.pageOfEndpoint(endpointId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows.map(attemptRecord), limit, ({ id }) => id)
}
