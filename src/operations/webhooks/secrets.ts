import { Webhook } from 'standardwebhooks'
import type { WebhookEvent, WebhookSecret } from '../../../db/database.ts'
import { recordId } from '../../domain/identifier.ts'
import { webhookSecretPrefix } from '../../domain/secret.ts'
import { decide, type Operation } from '../decide.ts'
import { endOfGrace } from '../new-secret.ts'
import type { Platform } from '../platform.ts'
import { endpointRecord, findEndpoint, type NewEndpointRecord } from './endpoints.ts'

/** Bytes of a signing secret; Standard Webhooks asks for 24 to 64. */
const secretBytes = 32

/** A new random secret of an endpoint. `now` is epoch milliseconds. */
export const mintWebhookSecret = (platform: Platform, endpointId: string, now: number): WebhookSecret => ({
  id: recordId('whs_', platform.random.uuid(now)),
  endpointId,
  secret: platform.random.bytes(secretBytes),
  createdAt: now,
  expiresAt: null,
})

/** The secret in the text form that Standard Webhooks libraries accept ("Symmetric"). */
export const webhookSecretText = ({ secret }: Pick<WebhookSecret, 'secret'>): string =>
  `${webhookSecretPrefix}${Buffer.from(secret).toString('base64')}`

/**
 * Gives an endpoint a new secret, shown in this answer and never again. Until the grace period ends, deliveries are
 * signed with the old secret too. Any older secret ends at once, so an endpoint has at most two.
 * @throws invalid_request for an unknown ID or a wrong grace period
 */
export const rotateWebhookSecret: Operation<
  { readonly id: string; readonly graceHours: number },
  NewEndpointRecord
> = async (platform, trace, actor, { id, graceHours }) => {
  const now = platform.clock.now()
  const endsAt = endOfGrace(graceHours, now)
  const secret = mintWebhookSecret(platform, id, now)
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    const [latest, ...older] = await q.webhookEndpoints.liveSecrets(id, now)
    if (latest !== undefined) await q.webhookEndpoints.endSecretsAt([latest], endsAt)
    await q.webhookEndpoints.endSecretsAt(older, now)
    await q.webhookEndpoints.insertSecret(secret)
    const { appId, environment } = endpoint
    await record({ action: 'webhook.secret_rotated', appId, environment, target: id, detail: { graceHours } })
    return { ...endpointRecord(endpoint, slug), secret: webhookSecretText(secret) }
  })
}

/**
 * The headers of a delivery (Standard Webhooks). The ID is the same in every attempt, the timestamp is that of this
 * attempt, and every valid secret adds a signature, newest first. `sentAt` must come from the machine's own clock:
 * receivers compare it with theirs and refuse a difference of several minutes.
 */
export const signEvent = (
  event: Pick<WebhookEvent, 'id' | 'body'>,
  secrets: readonly Pick<WebhookSecret, 'secret'>[],
  sentAt: number,
): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  'user-agent': 'app-platform-webhooks',
  'webhook-id': event.id,
  'webhook-timestamp': String(Math.floor(sentAt / 1000)),
  'webhook-signature': secrets
    .map(({ secret }) => new Webhook(secret, { format: 'raw' }).sign(event.id, new Date(sentAt), event.body))
    .join(' '),
})
