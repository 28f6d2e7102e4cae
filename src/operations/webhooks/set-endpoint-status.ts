import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type EndpointRecord, endpointRecord } from './endpoint-record.ts'
import { announce } from './events.ts'
import { findEndpoint } from './find-endpoint.ts'

/**
 * Enables or disables an endpoint. While it is disabled, what happens waits for it, for as long as events are kept;
 * enabling sends that. Setting what is set already changes nothing.
 * @throws invalid_request for an unknown ID
 */
export const setEndpointStatus = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly id: string; readonly status: EndpointRecord['status'] },
): Promise<EndpointRecord> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const { id, status } = input
  const reason = status === 'disabled' ? ('by_hand' as const) : null
  return await decide(platform.database, async (q) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    if (!(await q.webhookEndpoints.setStatus(id, { status, reason }, now))) return done(endpointRecord(endpoint, slug))
    const { appId, environment } = endpoint
    const about = { actor, appId, environment, target: id }
    if (status === 'enabled') await q.audit.insert(auditEvent(stamp, { ...about, action: 'webhook.enabled' }))
    else await announce(q, stamp, { ...about, action: 'webhook.disabled', detail: { reason } })
    return done(endpointRecord({ ...endpoint, status, reason, failingSince: null, updatedAt: now }, slug))
  })
}
