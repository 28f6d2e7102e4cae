import type { AttemptQuestion, WebhookAttempt, WebhookEndpoint, WebhookEvent, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { recordId, recordIdOfTime } from '../../domain/identifier.ts'
import { pick } from '../../domain/pick.ts'
import {
  type AttemptOutcome,
  decideAttempt,
  isDelivered,
  attemptOutcome,
  restAskedFor,
  webhookHistoryMs,
} from '../../domain/webhook-delivery.ts'
import type { WebhookAnswer } from '../../runtime/webhook-sender.ts'
import { type Actor, system } from '../audit/event.ts'
import { decide, badInput, type Operation } from '../decide.ts'
import { newestFirst, type PageRequest, beyondEveryId } from '../page.ts'
import type { Platform, Trace } from '../platform.ts'
import { storedJson } from '../stored-json.ts'
import { bodyNow } from './builder-events.ts'
import { findEndpoint, signEvent } from './endpoints.ts'
import { type ApiVersion, apiVersions } from '../../domain/api-version.ts'

/** The IDs of the enabled endpoints that have a delivery due. */
export const listDueEndpoints = async (platform: Platform): Promise<readonly string[]> =>
  await platform.database.queries.webhookEndpoints.due(platform.clock.now())

type Delivered =
  | { readonly kind: 'nothing due' }
  /** `restUntil`: until when the receiver asks not to be called (epoch milliseconds). */
  | { readonly kind: 'sent'; readonly outcome: AttemptOutcome; readonly restUntil: number | null }
  /** Sent, but the store did not take the result, so the event is still due. */
  | { readonly kind: 'not recorded'; readonly cause: unknown }

/**
 * Sends an endpoint the oldest event that is due, if any. The caller must not run it twice at the same time for one
 * endpoint, or the same event is sent twice.
 * @throws what the store throws before anything is sent; the abort reason when the signal aborts
 */
export const deliverNext = async (
  platform: Platform,
  trace: Trace,
  endpointId: string,
  signal: AbortSignal,
): Promise<Delivered> => {
  const q = platform.database.queries
  const endpoint = (await q.webhookEndpoints.find(endpointId))?.endpoint
  if (endpoint?.status !== 'enabled') return nothingDue
  const next = await q.webhookEvents.nextDue(endpointId, platform.clock.now())
  if (next === null) return nothingDue
  const { event, attempts } = next
  const before = { state: 'pending', attempts } as const
  const attempt = await attemptDelivery(platform, { endpoint, event, before }, signal)
  try {
    await storeResult(platform, trace, attempt)
  } catch (cause) {
    return { kind: 'not recorded', cause }
  }
  const { answer } = attempt
  return { kind: 'sent', outcome: attemptOutcome(answer.status), restUntil: restAskedFor(answer, platform.clock.now()) }
}

const nothingDue = { kind: 'nothing due' } as const

type DeliveryAttempt = {
  readonly endpoint: WebhookEndpoint
  readonly event: WebhookEvent
  /** The delivery as it was read. If it has changed since, for example by a resend, the result does not overwrite it. */
  readonly before: { readonly state: 'pending' | 'delivered' | 'failed'; readonly attempts: number }
}

/** A call of an endpoint, and what it answered. */
type Attempt = DeliveryAttempt & {
  readonly answer: WebhookAnswer
  readonly sent: Pick<WebhookAttempt, 'at' | 'url' | 'sentHeaders'>
}

/**
 * Sends an event to an endpoint once. `storeResult` records it; if the process dies before that, the event is sent again with the
 * same ID.
 * @throws what the store throws, and then nothing was sent; the abort reason when the signal aborts
 */
const attemptDelivery = async (platform: Platform, delivery: DeliveryAttempt, signal?: AbortSignal) => {
  const { endpoint } = delivery
  const startedAt = platform.clock.now()
  const { queries: q } = platform.database
  const secrets = await q.webhookEndpoints.liveSecrets(endpoint.id, startedAt)
  const event = { ...delivery.event, body: await bodyNow(q, delivery.event.body) }
  const { url } = endpoint
  const message = { url, body: event.body, ...(signal === undefined ? {} : { signal }) }
  const headers = secrets.length === 0 ? null : signEvent(event, secrets, platform.clock.wall())
  const answer = headers === null ? notSent : await platform.webhooks.send({ ...message, headers })
  const sentHeaders = headers === null ? null : JSON.stringify(headers)
  return { ...delivery, answer, sent: { at: startedAt, url: withoutParameters(url), sentHeaders } }
}

const notSent: WebhookAnswer = {
  status: null,
  error: 'no_secret',
  retryAfter: null,
  headers: {},
  answer: '',
  durationMs: 0,
}

/** The parameters of a URL may hold a secret of the receiver, and an attempt outlives the endpoint. */
export const withoutParameters = (url: string): string => {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

/**
 * Records an attempt, the new state of the delivery, and whether the endpoint is disabled. A result that comes after the delivery
 * was changed, for example by another server or a resend, decides nothing.
 */
const storeResult = async (platform: Platform, trace: Trace, { endpoint, event, before, answer, sent }: Attempt) => {
  const id = recordId('att_', platform.random.uuid(sent.at))
  const chance = (platform.random.bytes(1)[0] ?? 0) / 255
  const { position } = event
  const isPing = event.kind === 'ping'
  await decide(
    platform,
    trace,
    { actor: system, kind: 'guarded', endsAccess: isDisabled },
    async ({ q, now, record }) => {
      const { status, error, durationMs } = answer
      const about = { endpointId: endpoint.id, eventId: event.id, kind: event.kind, ...sent }
      const answerHeaders = status === null ? null : JSON.stringify(answer.headers)
      await q.webhookAttempts.insert({ id, ...about, durationMs, status, error, answerHeaders, answer: answer.answer })
      const current = (await q.webhookEndpoints.find(endpoint.id))?.endpoint
      if (current === undefined) return false
      const { failingSince } = current
      const decision = decideAttempt({ result: answer, attempts: before.attempts, isPing, failingSince, now, chance })
      const place = { position, endpointId: endpoint.id }
      const after = { ...place, ...decision.delivery, attempts: before.attempts + 1 }
      if (!(await q.webhookEvents.moveDelivery({ ...place, ...before }, after))) return false
      if (decision.failingSince !== failingSince) {
        await q.webhookEndpoints.setFailingSince(endpoint.id, decision.failingSince)
      }
      const reason = decision.disable
      if (reason === null) return false
      if (!(await q.webhookEndpoints.setStatus(endpoint.id, { status: 'disabled', reason }, now))) return false
      const { appId, environment } = endpoint
      await record({ action: 'webhook.disabled', appId, environment, target: endpoint.id, detail: { reason } })
      return true
    },
  )
}

const isDisabled = (value: boolean) => value

/**
 * Sends an endpoint one `ping` now, even when it is disabled, and returns the result. It is never repeated.
 * @throws invalid_request for an unknown ID
 */
export const pingEndpoint = async (platform: Platform, trace: Trace, actor: Actor, id: string) => {
  const now = platform.clock.now()
  const eventId = recordId('evt_', platform.random.uuid(now))
  const { endpoint, event } = await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const { endpoint } = await findEndpoint(q, id)
    const { appId, environment } = endpoint
    // A ping of the builder is about no app, like its events about people.
    const about =
      appId === null
        ? { appId, environment: null, data: { endpointId: id } }
        : { appId, environment, data: { appId, endpointId: id } }
    const position = await q.webhookEvents.put({ id: eventId, kind: 'ping', ...about }, now)
    // Stored as given up, so that the delivery job never sends it.
    await q.webhookEvents.putDelivery({ position, endpointId: id, ...unsent, nextAttemptAt: null })
    await record({ action: 'webhook.pinged', appId, environment, target: id })
    const event: WebhookEvent | null = await q.webhookEvents.find(eventId)
    if (event === null) throw new Error('an event disappeared within its own transaction')
    return { endpoint, event }
  })
  const attempt = await attemptDelivery(platform, { endpoint, event, before: unsent })
  await storeResult(platform, trace, attempt)
  const { answer } = attempt
  const { status, error, durationMs } = answer
  return { eventId, delivered: isDelivered(status), status, error, durationMs, answer: answer.answer }
}

const unsent = { state: 'failed', attempts: 0 } as const

/** One attempt as the owner sees it. `answer` is text that the receiver wrote: do not trust it. */
export type AttemptRecord = ReturnType<typeof attemptRecord>

const attemptRecord = (row: WebhookAttempt) => ({
  ...pick(row, 'id', 'eventId', 'kind', 'at', 'durationMs', 'status', 'error', 'answer'),
})

const everyAttempt: AttemptQuestion = { outcome: null, kind: null, since: null, until: null }

/**
 * The attempts of the last 30 days for an endpoint that match, newest first.
 * @throws invalid_request for an unknown ID
 */
export const listAttempts = async (
  platform: Platform,
  endpointId: string,
  page: PageRequest,
  question: AttemptQuestion = everyAttempt,
) => {
  const q = platform.database.queries
  await findEndpoint(q, endpointId)
  return await newestFirst(page, async (place, rows) =>
    (await q.webhookAttempts.pageOfEndpoint(endpointId, question, place, rows)).map(attemptRecord),
  )
}

export type AttemptDetail = Awaited<ReturnType<typeof readAttempt>>

/**
 * One attempt with what was sent and answered. Headers are null when nothing was sent or answered, and for an attempt of an
 * earlier release; the body is null when the event has been purged.
 * @throws route_not_found when the endpoint has no attempt with this ID
 */
export const readAttempt = async (platform: Platform, endpointId: string, id: string) => {
  const q = platform.database.queries
  const row = await q.webhookAttempts.find(endpointId, id)
  if (row === null) throw refuse('route_not_found')
  const { url, sentHeaders, answerHeaders } = row
  const event = await q.webhookEvents.find(row.eventId)
  return {
    ...attemptRecord(row),
    url,
    sentHeaders: headersOf(sentHeaders),
    answerHeaders: headersOf(answerHeaders),
    body: event === null ? null : await bodyNow(q, event.body),
  }
}

const headersOf = (text: string | null) => (text === null ? null : storedJson<Readonly<Record<string, string>>>(text))

/** Announces once to every app that has an endpoint which versions of the contract this release will switch off. */
export const announceDeprecations = async (
  platform: Platform,
  trace: Trace,
  versions: readonly ApiVersion[] = apiVersions,
): Promise<void> => {
  for (const { name, deprecatedAt, sunsetAt } of versions.filter((version) => version.deprecatedAt !== null)) {
    const detail = { apiVersion: name, deprecatedAt: wireTime(deprecatedAt), sunsetAt: wireTime(sunsetAt) }
    for (const appId of await platform.database.queries.webhookEndpoints.listeningApps()) {
      await decide(platform, trace, { actor: system }, async ({ q, record }) => {
        const announced = await q.audit.pageOfApp(appId, 'api_version.deprecated', beyondEveryId, 100)
        if (announced.some(({ target }) => target === name)) return
        await record({ action: 'api_version.deprecated', appId, target: name, detail })
      })
    }
  }
}

const wireTime = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString())

/** One event, which may be a ping; or all events since a moment (epoch milliseconds) or all given up, without pings. */
export type ResendChoice =
  | { readonly kind: 'one'; readonly eventId: string }
  | { readonly kind: 'since'; readonly at: number }
  | { readonly kind: 'failed' }

/** How many deliveries one transaction restarts, so that no other write waits for long. */
const resentAtOnce = 500

/**
 * Makes deliveries to an endpoint due again, under the same event IDs and with all their attempts ahead. Returns how
 * many. A disabled endpoint gets them when it is enabled.
 * @throws invalid_request for an unknown endpoint or event, or a moment in the future or more than 30 days ago
 */
export const resendEvents: Operation<
  { readonly id: string; readonly choice: ResendChoice },
  { readonly id: string; readonly resent: number }
> = async (platform, trace, actor, { id, choice }) => {
  if (choice.kind === 'since') {
    const now = platform.clock.now()
    if (choice.at < now - webhookHistoryMs) throw badInput('since', 'Events are kept for 30 days.')
    if (choice.at > now) throw badInput('since', 'This time is in the future: it is read in UTC.')
  }
  let resent = 0
  let after = 0
  for (;;) {
    const from = after
    const batch = await decide(platform, trace, { actor }, async ({ q, now, record }) => {
      const { endpoint } = await findEndpoint(q, id)
      const positions = await positionsOf(q, id, choice, from)
      if (positions === null) return badInput('event', 'This endpoint has no such event.')
      if (positions.length === 0) return positions
      await q.webhookEvents.restart(id, positions, now)
      const { appId, environment } = endpoint
      const detail = { choice: choice.kind, events: positions.length }
      await record({ action: 'webhook.resent', appId, environment, target: id, detail })
      return positions
    })
    resent += batch.length
    after = batch.at(-1) ?? after
    if (choice.kind === 'one' || batch.length < resentAtOnce) return { id, resent }
  }
}

/** Null when the one event was never meant for the endpoint. */
const positionsOf = async (q: Queries, id: string, choice: ResendChoice, after: number) => {
  switch (choice.kind) {
    case 'one': {
      const event = await q.webhookEvents.find(choice.eventId)
      if (event === null || (await q.webhookEvents.findDelivery(event.position, id)) === null) return null
      return [event.position]
    }
    case 'since':
      return await q.webhookEvents.positionsSince(id, recordIdOfTime('evt_', choice.at), after, resentAtOnce)
    case 'failed':
      return await q.webhookEvents.failedPositions(id, after, resentAtOnce)
    default:
      return choice satisfies never
  }
}
