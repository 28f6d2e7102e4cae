import type { Queries, WebhookEndpoint } from '../../../db/database.ts'
import { badInput } from '../bad-input.ts'

/**
 * The endpoint of an ID and the slug of its app.
 * @throws invalid_request when there is none
 */
export const findEndpoint = async (
  q: Queries,
  id: string,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly slug: string }> => {
  const found = await q.webhookEndpoints.find(id)
  if (found === null) throw badInput('endpoint', 'There is no such webhook endpoint.')
  return found
}
