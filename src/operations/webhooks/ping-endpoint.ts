import type { WebhookEvent } from '../../../db/database.ts'
import { isDelivered } from '../../domain/webhook-delivery.ts'
import { recordId } from '../../domain/identifier.ts'
import type { WebhookAnswer } from '../../runtime/webhook-sender.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import { findEndpoint } from './find-endpoint.ts'

type PingResult = Pick<WebhookAnswer, 'status' | 'error' | 'durationMs' | 'answer'> & {
  readonly eventId: string
  readonly delivered: boolean
}

/**
 * Sends an endpoint a `ping`, once and now, also when it is disabled, and gives what came of it.
 * @throws invalid_request for an unknown ID
 */
export const pingEndpoint = async (platform: Platform, trace: Trace, actor: Actor, id: string): Promise<PingResult> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const eventId = recordId('evt_', platform.random.uuid(now))
  const { endpoint, event } = await decide(platform.database, async (q) => {
    const { endpoint } = await findEndpoint(q, id)
    const { appId, environment } = endpoint
    const data = { appId, endpointId: id }
    const position = await q.webhookEvents.put({ id: eventId, appId, environment, kind: 'ping', data }, now)
    // Given up from the start, so that nobody but this call sends it.
    await q.webhookEvents.putDelivery({ position, endpointId: id, ...unsent, nextAttemptAt: null })
    await q.audit.insert(auditEvent(stamp, { actor, action: 'webhook.pinged', appId, environment, target: id }))
    const event: WebhookEvent | null = await q.webhookEvents.find(eventId)
    if (event === null) throw new Error('an event is gone within one transaction')
    return done({ endpoint, event })
  })
  const answer = await attemptDelivery(platform, trace, { endpoint, event, before: unsent })
  const { status, error, durationMs } = answer
  return { eventId, delivered: isDelivered(status), status, error, durationMs, answer: answer.answer }
}

const unsent = { state: 'failed', attempts: 0 } as const
