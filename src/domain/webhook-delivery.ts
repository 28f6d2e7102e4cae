/** Why an endpoint was disabled. */
export const disabledReasons = ['by_hand', 'gone', 'failing'] as const
export type DisabledReason = (typeof disabledReasons)[number]
export const endpointStatuses = ['enabled', 'disabled'] as const

/** Waiting for its first or next attempt, accepted by the receiver, or given up. */
export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/**
 * Why an attempt had no answer. `address_refused`: the host has an address that must not be called. `no_secret`: there is
 * no secret to sign with, as after the restore of a backup that is older than a rotation; nothing is sent unsigned. `no_answer`:
 * the connection was made, and ended before a readable answer; the receiver may have read the event.
 */
export const attemptErrors = [
  'no_secret',
  'address_refused',
  'not_resolved',
  'not_connected',
  'certificate_refused',
  'no_answer',
  'timed_out',
] as const
export type AttemptError = (typeof attemptErrors)[number]

const errorWords = {
  no_secret: 'Not sent: no signing secret. Rotate the secret.',
  address_refused: 'The host resolves to an address that is not allowed',
  not_resolved: 'The host name does not resolve',
  not_connected: 'Could not connect',
  certificate_refused: 'The certificate is not valid for the host',
  no_answer: 'The connection ended without an answer in HTTP',
  timed_out: 'No answer within 15 seconds',
} as const satisfies Record<AttemptError, string>

/** How an attempt ended, for people. */
export const outcomeInWords = ({
  status,
  error,
}: {
  readonly status: number | null
  readonly error: AttemptError | null
}) => {
  if (isDelivered(status)) return `Delivered (${status})`
  if (error !== null) return errorWords[error]
  return redirects.has(status) ? `Answered ${status}: redirects are not followed` : `Answered ${status ?? 'nothing'}`
}

const redirects: ReadonlySet<number | null> = new Set([301, 302, 303, 307, 308])

/** How an attempt ended: accepted, answered with another status, or not answered. */
export const attemptOutcomes = ['delivered', 'refused', 'unanswered'] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** The pause after each attempt: ten attempts in a little over three days. */
const pauses = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]
export const maximumAttempts = pauses.length + 1
/** A pause grows by up to this fraction, so that receivers that were down together are not called together. */
const jitter = 0.2
/** A receiver may ask for a longer pause (Retry-After, RFC 9110 section 10.2.3), up to this. */
const longestAskedPauseMs = day
/** An endpoint that has accepted nothing for so long is disabled. */
export const failingForMs = 5 * day
/** How long events, deliveries and attempts are kept. */
export const webhookHistoryMs = 30 * day
/** How long an attempt may take, from resolving the name to the end of the answer. */
export const attemptTimeoutMs = 15 * second

/** The result of one attempt. `status` is null when there was no answer. */
type AttemptResult = { readonly status: number | null; readonly retryAfter: string | null }

type AttemptFacts = {
  readonly result: AttemptResult
  /** Attempts before this one. */
  readonly attempts: number
  /** A `ping` is not repeated, and its failure does not count against the endpoint. */
  readonly isPing: boolean
  /** Since when the endpoint has accepted nothing; null while it accepts what is sent. */
  readonly failingSince: number | null
  readonly now: number
  /** From 0 to 1. */
  readonly chance: number
}

type AttemptDecision = {
  readonly delivery:
    | { readonly state: 'delivered' | 'failed'; readonly nextAttemptAt: null }
    | { readonly state: 'pending'; readonly nextAttemptAt: number }
  readonly failingSince: number | null
  /** Why the endpoint is disabled now; null when it is not. */
  readonly disable: Exclude<DisabledReason, 'by_hand'> | null
}

/** The consequences of an attempt for the delivery and for the endpoint. */
export const decideAttempt = (facts: AttemptFacts): AttemptDecision => {
  const { result, attempts, isPing, failingSince, now } = facts
  if (isDelivered(result.status)) {
    return { delivery: { state: 'delivered', nextAttemptAt: null }, failingSince: null, disable: null }
  }
  const since = isPing ? failingSince : (failingSince ?? now)
  const isLast = isPing || attempts + 1 >= maximumAttempts
  return {
    delivery: isLast
      ? { state: 'failed', nextAttemptAt: null }
      : { state: 'pending', nextAttemptAt: now + pauseAfter(facts) },
    failingSince: since,
    disable: reasonToDisable(result.status, since, facts),
  }
}

/** Until when the endpoint asks to be sent nothing at all; null when it asks for no pause. */
export const restAskedFor = (result: AttemptResult, now: number): number | null => {
  if (isDelivered(result.status)) return null
  const asked = askedPauseMs(result, now)
  return asked === 0 ? null : now + asked
}

/** Standard Webhooks: only 2xx is accepted; a redirect is not. */
export const isDelivered = (status: number | null): boolean => status !== null && status >= 200 && status < 300

export const attemptOutcome = (status: number | null): AttemptOutcome =>
  status === null ? 'unanswered' : isDelivered(status) ? 'delivered' : 'refused'

/**
 * The first attempt of an event never disables an endpoint. With rare events, one that failed long ago and was sent nothing
 * since would be disabled by a second short failure.
 */
const reasonToDisable = (status: number | null, since: number | null, { attempts, isPing, now }: AttemptFacts) => {
  if (isPing) return null // somebody tries the endpoint out, perhaps before it is ready
  if (status === 410) return 'gone'
  return attempts > 0 && since !== null && now - since >= failingForMs ? 'failing' : null
}

const pauseAfter = ({ attempts, result, now, chance }: AttemptFacts): number => {
  const planned = (pauses[attempts] ?? day) * (1 + jitter * chance)
  return Math.ceil(Math.max(planned, askedPauseMs(result, now)))
}

/** The pause of a Retry-After, which has seconds or a date, within its bound; 0 when it cannot be read. */
const askedPauseMs = ({ retryAfter }: AttemptResult, now: number): number => {
  const text = retryAfter ?? ''
  const asked = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(0, asked), longestAskedPauseMs)
}
