// The webhook endpoints of an app as owners and operators add, see, change and remove them, and their secrets.
import { Webhook } from 'standardwebhooks'
import type { Queries, WebhookEndpoint, WebhookEvent, WebhookSecret } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import type { AppRight } from '../../domain/member.ts'
import { pick } from '../../domain/pick.ts'
import type { DeliveryState } from '../../domain/webhook-delivery.ts'
import {
  type Audience,
  formatKinds,
  kindsAmong,
  kindsFor,
  maximumEndpoints,
  parseStoredKinds,
} from '../../domain/webhook-event.ts'
import { accessTo, type Condition, refusalOfRole, type Rule } from '../acting-as.ts'
import { findApp } from '../apps/app-record.ts'
import { numberAudit } from '../audit/read-audit.ts'
import { badInput, decide, endOfGrace, type Operation, refusalOfFaults, refuseFault } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { recordId } from '../../domain/identifier.ts'
import { webhookUrlFault } from '../../domain/registered-url.ts'
import { webhookSecretPrefix } from '../../domain/secret.ts'

/** An endpoint without its secrets. */
export type EndpointRecord = ReturnType<typeof endpointRecord>

/** The answer to creating an endpoint or rotating its secret. No other answer contains a secret. */
export type NewEndpointRecord = EndpointRecord & { readonly secret: string }

const endpointRecord = (row: WebhookEndpoint, app: string | null) => ({
  id: row.id,
  /** The slug of its app; null: it is the builder's, which hears of all apps. */
  app,
  environment: row.environment,
  url: row.url,
  kinds: parseStoredKinds(row.kinds, audienceOf(row)),
  ...pick(row, 'status', 'reason', 'failingSince', 'createdAt', 'updatedAt'),
})

/** Whom an endpoint is for. */
const audienceOf = ({ appId }: Pick<WebhookEndpoint, 'appId'>): Audience => (appId === null ? 'builder' : 'app')

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
  ({ slug, id }: { readonly slug: string; readonly id: string }, right: AppRight): Rule =>
  async (q, userId, as) => {
    const access = await accessTo(q, slug, userId, as)
    const found = await q.webhookEndpoints.find(id)
    if (access === null || found?.endpoint.appId !== access.app.id) return refuse('route_not_found')
    return refusalOfRole(access.role, right)
  }

/** The app has this endpoint in this environment. Other endpoints do not exist for its credentials. */
export const hasEndpoint =
  (appId: string, environment: Environment, endpointId: string): Condition =>
  async (q) => {
    const endpoint = (await q.webhookEndpoints.find(endpointId))?.endpoint
    return endpoint?.appId === appId && endpoint.environment === environment ? null : refuse('record_not_found')
  }

/** The builder has this endpoint. Those of apps do not exist for it. */
export const isBuilderEndpoint =
  (endpointId: string): Condition =>
  async (q) => {
    const found = await q.webhookEndpoints.find(endpointId)
    return found !== null && found.endpoint.appId === null ? null : refuse('record_not_found')
  }

/** @throws the refusal of a rule that does not hold now */
export const requireRule = async ({ database }: Platform, rule: Condition): Promise<void> => {
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

/** The builder's webhook endpoints, oldest first. */
export const listBuilderEndpoints = async ({ database }: Platform): Promise<readonly EndpointRecord[]> =>
  (await database.queries.webhookEndpoints.ofBuilder()).map((row) => endpointRecord(row, null))

export type EndpointDetail = Awaited<ReturnType<typeof readEndpoint>>

/**
 * One endpoint of an app, or for null of the builder, with the number of its deliveries in each state, that of pings, and when its old secret expires
 * (null when only the current one is valid).
 * @throws route_not_found when the app has no endpoint with this ID
 */
export const readEndpoint = async (platform: Platform, appId: string | null, id: string) => {
  const q = platform.database.queries
  const found = await q.webhookEndpoints.find(id)
  if (found === null || found.endpoint.appId !== appId) throw refuse('route_not_found')
  const counts = await q.webhookEvents.countsOf(id)
  const countOf = (state: DeliveryState): number => counts.find((row) => row.state === state && !row.isPing)?.count ?? 0
  const [, old] = await q.webhookEndpoints.liveSecrets(id, platform.clock.now())
  return {
    ...endpointRecord(found.endpoint, found.slug),
    deliveries: { pending: countOf('pending'), delivered: countOf('delivered'), failed: countOf('failed') },
    pings: counts.reduce((sum, row) => sum + (row.isPing ? row.count : 0), 0),
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
  return await decide(platform, trace, { actor, endsAccess: status === 'disabled' }, async ({ q, now, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    if (!(await q.webhookEndpoints.setStatus(id, { status, reason }, now))) return endpointRecord(endpoint, slug)
    const { appId, environment } = endpoint
    const detail = reason === null ? {} : { detail: { reason } }
    await record({ action: `webhook.${status}`, appId, environment, target: id, ...detail, mail: null }) // by hand
    return endpointRecord({ ...endpoint, status, reason, failingSince: null, updatedAt: now }, slug)
  })
}

/**
 * Removes an endpoint and its secrets. Pending deliveries to it are never sent.
 * @throws invalid_request for an unknown ID
 */
export const removeEndpoint: Operation<string, EndpointRecord> = async (platform, trace, actor, id) => {
  return await decide(platform, trace, { actor, endsAccess: true }, async ({ q, record }) => {
    const { endpoint, slug } = await findEndpoint(q, id)
    await q.webhookEndpoints.remove(id)
    const { appId, environment } = endpoint
    await record({ action: 'webhook.removed', appId, environment, target: id })
    return endpointRecord(endpoint, slug)
  })
}

type NewEndpoint = {
  /** Null: for the builder. Its endpoints hear of both environments. */
  readonly slug: string | null
  readonly environment: Environment
  readonly url: string
  readonly kinds: readonly string[]
}

/**
 * Adds a webhook endpoint to one environment of an app, or for the builder. The secret is shown in this answer and never again.
 * @throws invalid_request for a URL that is not allowed, a host with a refused address, unknown kinds, or too many
 *   endpoints
 */
export const addEndpoint: Operation<NewEndpoint, NewEndpointRecord> = async (platform, trace, actor, input) => {
  const { slug, environment, url, kinds } = input
  const audience = slug === null ? 'builder' : 'app'
  const refusal = refusalOfFaults({ url: await urlFault(platform, url), kinds: kindsFault(kinds, audience) })
  if (refusal !== null) throw refusal
  const chosen = kindsAmong(kinds, audience)
  const start = slug === null ? await numberAudit(platform) : 0
  const now = platform.clock.now()
  const id = recordId('whk_', platform.random.uuid(now))
  const secret = mintWebhookSecret(platform, id, now)

  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const app = slug === null ? null : await findApp(q, slug)
    const others =
      app === null
        ? (await q.webhookEndpoints.ofBuilder()).length
        : await q.webhookEndpoints.countOfPlace(app.id, environment)
    if (others >= maximumEndpoints) {
      const whose = app === null ? 'The builder' : 'An environment'
      return badInput('url', `${whose} has at most ${maximumEndpoints} webhook endpoints.`)
    }
    // The first one hears of what happens from now on.
    if (app === null && others === 0) await q.watermarks.set('told', start)
    const row: WebhookEndpoint = {
      id,
      appId: app?.id ?? null,
      environment,
      url,
      kinds: formatKinds(chosen, audience),
      status: 'enabled',
      reason: null,
      failingSince: null,
      createdAt: now,
      updatedAt: now,
    }
    await q.webhookEndpoints.insert(row)
    await q.webhookEndpoints.insertSecret(secret)
    const detail = { host: new URL(url).host, kinds: chosen }
    await record({ action: 'webhook.created', appId: row.appId, environment, target: id, detail })
    return { ...endpointRecord(row, app?.slug ?? null), secret: webhookSecretText(secret) }
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
  const audience = audienceOf(shown.endpoint)
  const refusal = refusalOfFaults({
    url: isSame ? null : await urlFault(platform, url),
    kinds: kindsFault(change.kinds, audience),
  })
  if (refusal !== null) throw refusal
  const kinds = formatKinds(kindsAmong(change.kinds, audience), audience)
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
      kinds: parseStoredKinds(kinds, audience),
    }
    await record({ action: 'webhook.changed', appId, environment, target: id, detail })
    return endpointRecord({ ...endpoint, ...after, updatedAt: now }, slug)
  })
}

const kindsFault = (kinds: readonly string[], audience: Audience): string | null => {
  if (kinds.length === 0) return 'Choose at least one kind of event.'
  const known = kindsAmong(kinds, audience)
  const unknown = kinds.findIndex((kind) => !known.some((each) => each === kind))
  return unknown === -1
    ? null
    : `Kind ${unknown + 1} in the list does not exist. There are: ${kindsFor[audience].join(', ')}.`
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
    'This host has an address that webhooks do not call: it is private, reserved, or belongs to this machine. For localhost use a tunnel, or the demo of “app-platform dev”.',
  not_resolved: 'We couldn’t find this host.',
  timed_out: 'This host name could not be looked up in time. Try it again.',
} as const

/** Bytes of a signing secret; Standard Webhooks asks for 24 to 64. */
const secretBytes = 32

/** A new random secret of an endpoint. `now` is epoch milliseconds. */
const mintWebhookSecret = (platform: Platform, endpointId: string, now: number): WebhookSecret => ({
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
