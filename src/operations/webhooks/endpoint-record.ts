import type { WebhookEndpoint } from '../../../db/database.ts'
import { parseStoredKinds, type WebhookKind } from '../../domain/webhook-event.ts'

/** An endpoint as its owner sees it: everything but its secrets. */
export type EndpointRecord = Pick<
  WebhookEndpoint,
  'id' | 'environment' | 'url' | 'status' | 'reason' | 'failingSince' | 'createdAt' | 'updatedAt'
> & {
  readonly app: string
  readonly kinds: readonly WebhookKind[]
}

/** The answer to its creation or to a rotation: the only places where a secret is ever shown. */
export type NewEndpointRecord = EndpointRecord & { readonly secret: string }

export const endpointRecord = (row: WebhookEndpoint, app: string): EndpointRecord => ({
  id: row.id,
  app,
  environment: row.environment,
  url: row.url,
  kinds: parseStoredKinds(row.kinds),
  status: row.status,
  reason: row.reason,
  failingSince: row.failingSince,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})
