// The webhook endpoints of an app as owners and operators see, list, disable and remove them. add-endpoint.ts adds one and changes its URL.

import type { Queries, WebhookEndpoint } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import type { AppRight } from '../../domain/member.ts'
import { pick } from '../../domain/pick.ts'
import type { DeliveryState } from '../../domain/webhook-delivery.ts'
import { parseStoredKinds } from '../../domain/webhook-event.ts'
import { refusalOfRole, type Rule } from '../acting-as.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'

/** An endpoint without its secrets. */
export type EndpointRecord = ReturnType<typeof endpointRecord>

/** The answer to creating an endpoint or rotating its secret. No other answer contains a secret. */
export type NewEndpointRecord = EndpointRecord & { readonly secret: string }

export const endpointRecord = (row: WebhookEndpoint, app: string) => ({
  id: row.id,
  app,
  environment: row.environment,
  url: row.url,
  kinds: parseStoredKinds(row.kinds),
  ...pick(row, 'status', 'reason', 'failingSince', 'createdAt', 'updatedAt'),
})

/**
 * The endpoint with this ID and the slug of its app.
 * @throws invalid_request for an unknown ID, or when the app is deleted
 */
export const findEndpoint = async (q: Queries, id: string) => {
  const found = await q.webhookEndpoints.find(id)
  if (found === null) throw badInput('endpoint', 'There is no such webhook endpoint.')
  return found
}

/** The endpoint belongs to the app with this slug, and the role of this user there has the right. To others it does not exist. */
export const ownsEndpoint =
  (userId: string, slug: string, endpointId: string, right: AppRight): Rule =>
  async (q) => {
    const access = await q.appMembers.access(userId, slug)
    const found = await q.webhookEndpoints.find(endpointId)
    if (access === null || found?.endpoint.appId !== access.app.id) return refuse('route_not_found')
    return refusalOfRole(access.role, right)
  }

/** The app has this endpoint in this environment. Other endpoints do not exist for its credentials. */
export const hasEndpoint =
  (appId: string, environment: Environment, endpointId: string): Rule =>
  async (q) => {
    const endpoint = (await q.webhookEndpoints.find(endpointId))?.endpoint
    return endpoint?.appId === appId && endpoint.environment === environment ? null : refuse('record_not_found')
  }

/** @throws the refusal of a rule that does not hold now */
export const requireRule = async ({ database }: Platform, rule: Rule): Promise<void> => {
  const refusal = await rule(database.queries)
  if (refusal !== null) throw refusal
}

/**
 * The webhook endpoints of an app, by environment, oldest first.
 * @throws invalid_request for an unknown slug or ID
 */
export const listEndpoints = async (platform: Platform, slug: string): Promise<readonly EndpointRecord[]> => {
  const q = platform.database.queries
  const app = await findApp(q, slug)
  return (await q.webhookEndpoints.listOfApp(app.id)).map((row) => endpointRecord(row, app.slug))
}

export type EndpointDetail = Awaited<ReturnType<typeof readEndpoint>>

/**
 * One endpoint of an app, with the number of its deliveries in each state (without pings) and when its old secret expires
 * (null when only the current one is valid).
 * @throws route_not_found when the app has no endpoint with this ID
 */
export const readEndpoint = async (platform: Platform, appId: string, id: string) => {
  const q = platform.database.queries
  const found = await q.webhookEndpoints.find(id)
  if (found?.endpoint.appId !== appId) throw refuse('route_not_found')
  const counts = await q.webhookEvents.countsOf(id)
  const countOf = (state: DeliveryState): number => counts.find((row) => row.state === state)?.count ?? 0
  const [, old] = await q.webhookEndpoints.liveSecrets(id, platform.clock.now())
  return {
    ...endpointRecord(found.endpoint, found.slug),
    deliveries: { pending: countOf('pending'), delivered: countOf('delivered'), failed: countOf('failed') },
    oldSecretEndsAt: old?.expiresAt ?? null,
  }
}

/**
 * Enables or disables an endpoint. Events for a disabled endpoint are kept for 30 days and sent once it is enabled.
 * Nothing changes when the endpoint already has this status.
 * @throws invalid_request for an unknown ID
 */
export const setEndpointStatus: Operation<
  { readonly id: string; readonly status: EndpointRecord['status'] },
  EndpointRecord
> = async (platform, trace, actor, { id, status }) => {
  const reason = status === 'disabled' ? ('by_hand' as const) : null
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    if (!(await q.webhookEndpoints.setStatus(id, { status, reason }, now))) return endpointRecord(endpoint, slug)
    const { appId, environment } = endpoint
    const detail = reason === null ? {} : { detail: { reason } }
    await record({ action: `webhook.${status}`, appId, environment, target: id, ...detail })
    return endpointRecord({ ...endpoint, status, reason, failingSince: null, updatedAt: now }, slug)
  })
}

/**
 * Removes an endpoint and its secrets. Pending deliveries to it are never sent.
 * @throws invalid_request for an unknown ID
 */
export const removeEndpoint: Operation<string, EndpointRecord> = async (platform, trace, actor, id) => {
  return await decide(platform, trace, { actor }, async ({ q, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    await q.webhookEndpoints.remove(id)
    const { appId, environment } = endpoint
    await record({ action: 'webhook.removed', appId, environment, target: id })
    return endpointRecord(endpoint, slug)
  })
}
