import type { WebhookEndpoint, WebhookEvent } from '../../../db/database.ts'
import { recordId } from '../../domain/identifier.ts'
import { decideAttempt } from '../../domain/webhook-delivery.ts'
import type { WebhookAnswer } from '../../runtime/webhook-sender.ts'
import { auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { signEvent } from './sign-event.ts'
import { announce } from './events.ts'

type Attempt = {
  readonly endpoint: WebhookEndpoint
  readonly event: WebhookEvent
  /** The delivery as it was found: what of it has changed meanwhile is left as it is. */
  readonly before: { readonly state: 'pending' | 'delivered' | 'failed'; readonly attempts: number }
}

/**
 * Sends an event to an endpoint once and writes down what came of it: the attempt, where the delivery stands, and
 * whether the endpoint is to be disabled. Killed between the two it is sent again, by the same ID.
 * @throws what the store throws; and when the signal ends it, and then nothing was written
 */
export const attemptDelivery = async (
  platform: Platform,
  trace: Trace,
  attempt: Attempt,
  signal?: AbortSignal,
): Promise<WebhookAnswer> => {
  const { endpoint, event } = attempt
  const startedAt = platform.clock.now()
  const secrets = await platform.database.queries.webhookEndpoints.liveSecrets(endpoint.id, startedAt)
  const message = { url: endpoint.url, body: event.body, ...(signal === undefined ? {} : { signal }) }
  const answer =
    secrets.length === 0
      ? notSent
      : await platform.webhooks.send({ ...message, headers: signEvent(event, secrets, platform.clock.wall()) })
  await record(platform, trace, attempt, answer, startedAt)
  return answer
}

const notSent: WebhookAnswer = { status: null, error: 'no_secret', retryAfter: null, answer: '', durationMs: 0 }

const record = async (
  platform: Platform,
  trace: Trace,
  { endpoint, event, before }: Attempt,
  answer: WebhookAnswer,
  startedAt: number,
): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const id = recordId('att_', platform.random.uuid(startedAt))
  const chance = (platform.random.bytes(1)[0] ?? 0) / 255
  const { position } = event
  const isPing = event.kind === 'ping'
  await platform.database.transaction(async (q) => {
    const { status, error, durationMs } = answer
    const about = { endpointId: endpoint.id, eventId: event.id, kind: event.kind, at: startedAt }
    await q.webhookAttempts.insert({ id, ...about, durationMs, status, error, answer: answer.answer })
    const current = (await q.webhookEndpoints.find(endpoint.id))?.endpoint
    if (current === undefined) return
    const { failingSince } = current
    const decided = decideAttempt({ result: answer, attempts: before.attempts, isPing, failingSince, now, chance })
    const place = { position, endpointId: endpoint.id }
    await q.webhookEvents.moveDelivery(
      { ...place, ...before },
      { ...place, ...decided.delivery, attempts: before.attempts + 1 },
    )
    if (decided.failingSince !== failingSince) {
      await q.webhookEndpoints.setFailingSince(endpoint.id, decided.failingSince)
    }
    const reason = decided.disable
    if (reason === null) return
    if (!(await q.webhookEndpoints.setStatus(endpoint.id, { status: 'disabled', reason }, now))) return
    const { appId, environment } = endpoint
    const facts = { appId, environment, target: endpoint.id, detail: { reason } }
    await announce(q, stamp, { actor: { kind: 'system' }, action: 'webhook.disabled', ...facts })
  })
}
