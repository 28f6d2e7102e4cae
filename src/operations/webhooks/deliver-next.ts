import type { Platform, Trace } from '../platform.ts'
import { attemptDelivery } from './attempt-delivery.ts'

/**
 * Sends an endpoint the oldest event that is due for it, if there is one; gives whether there was. Two calls for one
 * endpoint at the same time would send the same event twice: whoever calls takes care that they do not meet.
 */
export const deliverNext = async (
  platform: Platform,
  trace: Trace,
  endpointId: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const q = platform.database.queries
  const endpoint = (await q.webhookEndpoints.find(endpointId))?.endpoint
  if (endpoint?.status !== 'enabled') return false
  const next = await q.webhookEvents.nextDue(endpointId, platform.clock.now())
  if (next === null) return false
  const { event, attempts } = next
  await attemptDelivery(platform, trace, { endpoint, event, before: { state: 'pending', attempts } }, signal)
  return true
}
