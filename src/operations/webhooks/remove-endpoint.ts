import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type EndpointRecord, endpointRecord } from './endpoint-record.ts'
import { findEndpoint } from './find-endpoint.ts'

/**
 * Removes an endpoint with its secrets; nothing more is sent to it, what was waiting among it.
 * @throws invalid_request for an unknown ID
 */
export const removeEndpoint = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  id: string,
): Promise<EndpointRecord> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decide(platform.database, async (q) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    await q.webhookEndpoints.remove(id)
    const { appId, environment } = endpoint
    await q.audit.insert(auditEvent(stamp, { actor, action: 'webhook.removed', appId, environment, target: id }))
    return done(endpointRecord(endpoint, slug))
  })
}
