import { restAskedFor } from '../../domain/webhook-delivery.ts'
import type { Platform, Trace } from '../platform.ts'
import { attemptDelivery } from './attempt-delivery.ts'

/** Whether something was due; and until when the endpoint asks to be left alone, in epoch milliseconds. */
type Delivered = { readonly kind: 'nothing due' } | { readonly kind: 'sent'; readonly restUntil: number | null }

/**
 * Sends an endpoint the oldest event that is due for it, if there is one. Two calls for one endpoint at the same time
 * would send the same event twice: whoever calls takes care that they do not meet.
 */
export const deliverNext = async (
  platform: Platform,
  trace: Trace,
  endpointId: string,
  signal: AbortSignal,
): Promise<Delivered> => {
  const q = platform.database.queries
  const endpoint = (await q.webhookEndpoints.find(endpointId))?.endpoint
  if (endpoint?.status !== 'enabled') return nothingDue
  const next = await q.webhookEvents.nextDue(endpointId, platform.clock.now())
  if (next === null) return nothingDue
  const { event, attempts } = next
  const before = { state: 'pending', attempts } as const
  const answer = await attemptDelivery(platform, trace, { endpoint, event, before }, signal)
  return { kind: 'sent', restUntil: restAskedFor(answer, platform.clock.now()) }
}

const nothingDue = { kind: 'nothing due' } as const
