import type { WebhookSecret } from '../../../db/database.ts'
import { recordId } from '../../domain/identifier.ts'
import type { Platform } from '../platform.ts'

/** Bytes of a signing secret; Standard Webhooks asks for 24 to 64. */
const secretBytes = 32

/** How long the secret before it goes on signing, in hours. */
export const webhookGraceHours = { default: 24, maximum: 168 } as const

/** A new secret of an endpoint, from chance. `now` is epoch milliseconds. */
export const mintWebhookSecret = (platform: Platform, endpointId: string, now: number): WebhookSecret => ({
  id: recordId('whs_', platform.random.uuid(now)),
  endpointId,
  secret: platform.random.bytes(secretBytes),
  createdAt: now,
  expiresAt: null,
})

/** As its owner copies it and libraries take it (Standard Webhooks, "Symmetric"). */
export const webhookSecretText = ({ secret }: Pick<WebhookSecret, 'secret'>): string =>
  `whsec_${Buffer.from(secret).toString('base64')}`
