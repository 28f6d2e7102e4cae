import type { WebhookKind } from '../domain/webhook-event.ts'
import { isObject } from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import { bytesOf } from './base64.ts'

type About<Facts> = Readonly<{ appId: string } & Facts>
type InstallFacts<Approval extends string, State extends string> = About<{
  installId: string
  approval: Approval
  state: State
}> &
  PlaceFacts
type GrantFacts<Facts> = About<{ grantId: string; userId: string } & Facts>
/** `resourceId` is the builder's own ID; null if it has none. */
type PlaceFacts = Readonly<{ userId: string; kind: 'site' | 'store'; resourceId: string | null }>
type ResourceFacts = About<{ installId: string }> & PlaceFacts
type VersionFacts<Status extends string> = About<{ versionId: string; status: Status }>
type CredentialFacts<Facts = unknown> = About<{ credentialId: string; status: string } & Facts>

/** What each kind of event says: IDs and states. */
export type WebhookData = {
  'install.created': InstallFacts<'pending' | 'approved', 'inactive' | 'active'>
  'install.approved': InstallFacts<'approved', 'active'>
  'install.rejected': InstallFacts<'rejected', 'inactive'>
  'install.deactivated': InstallFacts<'approved' | 'withdrawn', 'inactive'>
  'grant.created': GrantFacts<{ state: 'live'; clientId: string; scope: string }>
  'grant.scopes_changed': About<{ installId: string; added: readonly string[]; withdrawn: readonly string[] }> &
    PlaceFacts
  'grant.revoked': GrantFacts<{ state: 'revoked' }>
  'grant.reuse_detected': GrantFacts<{ state: 'revoked' }>
  'resource.updated': ResourceFacts
  'resource.removed': ResourceFacts
  'user.erased': About<{ userId: string }>
  'version.submitted': VersionFacts<'submitted'>
  'version.approved': VersionFacts<'approved'>
  'version.rejected': VersionFacts<'rejected'>
  'version.withdrawn': VersionFacts<'draft'>
  'version.activated': VersionFacts<'active'>
  'version.superseded': VersionFacts<'superseded'> & { readonly replacedByVersionId: string }
  'version.rolled_back': About<{ versionId: string; rollbackId: string; fromVersionId: string }>
  'credential.created': CredentialFacts
  'credential.rotated': CredentialFacts<{ graceHours: number }>
  'credential.revoked': CredentialFacts
  'app.suspended': About<{ status: 'suspended' }>
  'app.activated': About<{ status: 'active' }>
  'webhook.disabled': About<{ endpointId: string; status: 'disabled'; reason: string }>
  'api_version.deprecated': About<{ apiVersion: string; deprecatedAt: string; sunsetAt?: string }>
  ping: About<{ endpointId: string }>
}

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
