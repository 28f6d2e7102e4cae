import { Webhook } from 'standardwebhooks'
import type { WebhookEvent, WebhookSecret } from '../../../db/database.ts'

/**
 * The headers of a delivery (Standard Webhooks): the ID stays the same however often an event is sent, the time is that
 * of this attempt, and there is a signature for each secret that is valid, newest first. `sentAt` comes from the machine's
 * clock, because receivers compare it with their own and refuse what is minutes away from it.
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
