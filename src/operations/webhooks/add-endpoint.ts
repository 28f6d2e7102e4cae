import type { WebhookEndpoint } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { recordId } from '../../domain/identifier.ts'
import { webhookUrlFault } from '../../domain/registered-url.ts'
import {
  formatKinds,
  isWebhookKind,
  maximumEndpoints,
  parseStoredKinds,
  webhookKinds,
} from '../../domain/webhook-event.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput, decide, type Operation, refusalOfFaults, refuseFault } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { type EndpointRecord, endpointRecord, findEndpoint, type NewEndpointRecord } from './endpoints.ts'
import { mintWebhookSecret, webhookSecretText } from './secrets.ts'

type NewEndpoint = {
  readonly slug: string
  readonly environment: Environment
  readonly url: string
  readonly kinds: readonly string[]
}

/**
 * Adds a webhook endpoint to one environment of an app. The secret is shown in this answer and never again.
 * @throws invalid_request for a URL that is not allowed, a host with a refused address, unknown kinds, or too many
 *   endpoints
 */
export const addEndpoint: Operation<NewEndpoint, NewEndpointRecord> = async (platform, trace, actor, input) => {
  const { slug, environment, url, kinds } = input
  const refusal = refusalOfFaults({ url: await urlFault(platform, url), kinds: kindsFault(kinds) })
  if (refusal !== null) throw refusal
  const chosen = kinds.filter(isWebhookKind)
  const now = platform.clock.now()
  const id = recordId('whk_', platform.random.uuid(now))
  const secret = mintWebhookSecret(platform, id, now)

  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const app = await findApp(q, slug)
    if ((await q.webhookEndpoints.countOfPlace(app.id, environment)) >= maximumEndpoints) {
      return badInput('url', `An environment has at most ${maximumEndpoints} webhook endpoints.`)
    }
    const row: WebhookEndpoint = {
      id,
      appId: app.id,
      environment,
      url,
      kinds: formatKinds(chosen),
      status: 'enabled',
      reason: null,
      failingSince: null,
      createdAt: now,
      updatedAt: now,
    }
    await q.webhookEndpoints.insert(row)
    await q.webhookEndpoints.insertSecret(secret)
    const detail = { host: new URL(url).host, kinds: chosen }
    await record({ action: 'webhook.created', appId: app.id, environment, target: id, detail })
    return { ...endpointRecord(row, app.slug), secret: webhookSecretText(secret) }
  })
}

type EndpointChange = {
  readonly id: string
  readonly url: string
  readonly kinds: readonly string[]
}

/**
 * Gives an endpoint another URL and other kinds of events. What waits for it goes to the new URL, signed with the same
 * secret. Nothing changes when it has both already.
 * @throws invalid_request for an unknown ID, a URL that is not allowed, a host with a refused address, or unknown kinds
 */
export const changeEndpoint: Operation<EndpointChange, EndpointRecord> = async (platform, trace, actor, change) => {
  const { id, url } = change
  const shown = await findEndpoint(platform.database.queries, id)
  const isSame = shown.endpoint.url === url
  const refusal = refusalOfFaults({
    url: isSame ? null : await urlFault(platform, url),
    kinds: kindsFault(change.kinds),
  })
  if (refusal !== null) throw refusal
  const kinds = formatKinds(change.kinds.filter(isWebhookKind))
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    const isMoved = endpoint.url !== url
    // Another address has not failed yet.
    const after = { url, kinds, failingSince: isMoved ? null : endpoint.failingSince }
    if (!isMoved && endpoint.kinds === kinds) return endpointRecord(endpoint, slug)
    await q.webhookEndpoints.change(id, after, now)
    const { appId, environment } = endpoint
    const detail = {
      ...(isMoved ? { from: new URL(endpoint.url).host, host: new URL(url).host } : {}),
      kinds: parseStoredKinds(kinds),
    }
    await record({ action: 'webhook.changed', appId, environment, target: id, detail })
    return endpointRecord({ ...endpoint, ...after, updatedAt: now }, slug)
  })
}

const kindsFault = (kinds: readonly string[]): string | null => {
  if (kinds.length === 0) return 'Choose at least one kind of event.'
  return kinds.every(isWebhookKind) ? null : `There is no such kind of event. The kinds are ${webhookKinds.join(', ')}.`
}

/**
 * Checks the form of the URL and the addresses that its host has now.
 * @throws invalid_request
 */
export const checkEndpointUrl = async (platform: Platform, url: string): Promise<void> => {
  refuseFault('url', await urlFault(platform, url))
}

const urlFault = async (platform: Platform, url: string): Promise<string | null> => {
  const fault = webhookUrlFault(url)
  if (fault !== null) return fault
  const wrong = await platform.webhooks.check(url)
  return wrong === null ? null : placeFaults[wrong]
}

/** Never says what the address answers, so that nobody can use this check to explore a private network. */
const placeFaults = {
  address_refused:
    'This host has an address that webhooks do not call: it is private, reserved, or belongs to this machine.',
  not_resolved: 'This host name has no address.',
  timed_out: 'This host name could not be looked up in time. Try it again.',
} as const
