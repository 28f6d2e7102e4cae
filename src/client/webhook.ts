import type { WebhookKind } from '../domain/webhook-event.ts'
import type { WebhookData } from './contract-types.ts'
import { isObject } from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { bytesOf } from './base64.ts'

/** An event. `switch (event.type)` knows the data; a later server may send more kinds, so give it a `default`. */
export type WebhookEvent = {
  readonly [Kind in WebhookKind]: {
    /** The same in every repeat of the delivery. */
    readonly id: string
    readonly type: Kind
    readonly timestamp: string
    readonly apiVersion: string
    readonly environment: 'development' | 'production'
    readonly data: WebhookData[Kind]
  }
}[WebhookKind]

export type WebhookDelivery = {
  /** The body as it arrived, byte for byte. */
  readonly body: string
  /** Those of a `Request`, or those of Node's `IncomingMessage`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** `whsec_…` */
  readonly secret: string
  /** How old or how far ahead the timestamp may be; five minutes unless stated. */
  readonly toleranceSeconds?: number
}

/**
 * The event in a delivery that the platform signed (Standard Webhooks).
 * @throws AppPlatformError invalid_signature: answer 400 and do nothing else
 */
export const verifyWebhook = async (delivery: WebhookDelivery): Promise<WebhookEvent> => {
  const { body, headers, secret, toleranceSeconds = 300 } = delivery
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  const isRecent = /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  if (id === '' || !isRecent || !(await isSigned(signed, header('webhook-signature'), secret))) throw unsigned()
  const event: unknown = JSON.parse(body)
  if (isEvent(event)) return event
  throw unsigned()
}

/** Whether one of the signatures is right; during a rotation there are two. */
const isSigned = async (signed: Uint8Array<ArrayBuffer>, signatures: string, secret: string): Promise<boolean> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), algorithm, false, ['verify'])
  for (const [, digest = ''] of signatures.matchAll(/(?:^| )v1,([A-Za-z0-9+/]{43}=)(?= |$)/g)) {
    if (await crypto.subtle.verify('HMAC', key, bytesOf(digest), signed)) return true // compares in constant time
  }
  return false
}

/** The signature says that the platform wrote it; the parts are checked so far as every event has them. */
const isEvent = (value: unknown): value is WebhookEvent =>
  isObject(value) && typeof value['type'] === 'string' && typeof value['id'] === 'string' && isObject(value['data'])

const unsigned = (): AppPlatformError =>
  new AppPlatformError('invalid_signature', 'The delivery is not signed by the platform, or is too old.')
