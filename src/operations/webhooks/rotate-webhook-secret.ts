import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { endpointRecord, type NewEndpointRecord } from './endpoint-record.ts'
import { findEndpoint } from './find-endpoint.ts'
import { mintWebhookSecret, webhookGraceHours, webhookSecretText } from './webhook-secret.ts'

/**
 * Gives an endpoint a new secret, shown in this answer and never again. Until the grace is over deliveries are signed
 * with the one before it as well; one before that ends at once, so that two are the most there are.
 * @throws invalid_request
 */
export const rotateWebhookSecret = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { id, graceHours }: { readonly id: string; readonly graceHours: number },
): Promise<NewEndpointRecord> => {
  if (!Number.isInteger(graceHours) || graceHours < 0 || graceHours > webhookGraceHours.maximum) {
    throw badInput('graceHours', `The grace is a whole number of hours from 0 to ${webhookGraceHours.maximum}.`)
  }
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const secret = mintWebhookSecret(platform, id, now)
  const endsAt = now + graceHours * 3_600_000
  return await decide(platform.database, async (q) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    const [latest, ...older] = await q.webhookEndpoints.liveSecrets(id, now)
    if (latest !== undefined)
      await q.webhookEndpoints.setSecretExpiry(latest.id, Math.min(latest.expiresAt ?? endsAt, endsAt))
    for (const old of older) await q.webhookEndpoints.setSecretExpiry(old.id, now)
    await q.webhookEndpoints.insertSecret(secret)
    const { appId, environment } = endpoint
    const about = { appId, environment, target: id, detail: { graceHours } }
    await q.audit.insert(auditEvent(stamp, { actor, action: 'webhook.secret_rotated', ...about }))
    return done({ ...endpointRecord(endpoint, slug), secret: webhookSecretText(secret) })
  })
}
