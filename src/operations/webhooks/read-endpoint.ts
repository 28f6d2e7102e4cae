import type { DeliveryState } from '../../domain/webhook-delivery.ts'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type EndpointRecord, endpointRecord } from './endpoint-record.ts'

/** An endpoint with how many deliveries of events to it are in each state, pings aside, and when its secrets end. */
export type EndpointDetail = EndpointRecord & {
  readonly deliveries: Readonly<Record<DeliveryState, number>>
  /** Of the secret before the present one; null when there is none any more. */
  readonly oldSecretEndsAt: number | null
}

/**
 * One endpoint of an app.
 * @throws route_not_found when the app has none of this ID
 */
export const readEndpoint = async (platform: Platform, appId: string, id: string): Promise<EndpointDetail> => {
  const q = platform.database.queries
  const found = await q.webhookEndpoints.find(id)
  if (found?.endpoint.appId !== appId) throw refuse('route_not_found')
  const counts = await q.webhookEvents.countsOf(id)
  const countOf = (state: DeliveryState): number => counts.find((row) => row.state === state)?.count ?? 0
  const [, old] = await q.webhookEndpoints.liveSecrets(id, platform.clock.now())
  return {
    ...endpointRecord(found.endpoint, found.slug),
    deliveries: { pending: countOf('pending'), delivered: countOf('delivered'), failed: countOf('failed') },
    oldSecretEndsAt: old?.expiresAt ?? null,
  }
}
