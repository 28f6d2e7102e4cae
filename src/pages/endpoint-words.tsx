import { isDelivered, outcomeInWords } from '../domain/webhook-delivery.ts'
import { isEveryKind } from '../domain/webhook-event.ts'
import type { AttemptRecord } from '../operations/webhooks/deliveries.ts'
import type { EndpointDetail, EndpointRecord } from '../operations/webhooks/endpoints.ts'
import { Badge } from './design/badge.tsx'
import { Facts, Time } from './design/values.tsx'

// What the pages of apps and of the builder say of a webhook endpoint and of the attempts to deliver to it.

type Told = Pick<EndpointRecord, 'app' | 'kinds'>

const isOfAll = ({ app, kinds }: Told): boolean => isEveryKind(kinds, app === null ? 'builder' : 'app')

/** `All events`, `ping`, or `3 kinds of events`. */
export const kindsInWords = (endpoint: Told): string => {
  const { kinds } = endpoint
  if (isOfAll(endpoint)) return 'All events'
  return kinds.length === 1 ? kinds.join() : `${kinds.length} kinds of events`
}

const reasonWords = {
  by_hand: 'Disabled',
  gone: 'Disabled: answered 410 Gone',
  failing: 'Disabled: failed for five days',
} as const

/** Whether events are sent to an endpoint, and why not. */
export const EndpointStatus = ({ reason, failingSince }: Pick<EndpointRecord, 'reason' | 'failingSince'>) => {
  if (reason !== null) return <Badge tone="bad">{reasonWords[reason]}</Badge>
  return failingSince === null ? <Badge tone="good">Enabled</Badge> : <Badge tone="waiting">Enabled, failing</Badge>
}

export const OutcomeBadge = ({ attempt }: { readonly attempt: AttemptRecord }) => (
  <Badge tone={isDelivered(attempt.status) ? 'good' : 'bad'}>{outcomeInWords(attempt)}</Badge>
)

/** Pings are not events, so they are said on their own: who has just sent one looks for it here. */
export const deliveriesInWords = ({ deliveries, pings }: Pick<EndpointDetail, 'deliveries' | 'pings'>): string => {
  const { delivered, pending, failed } = deliveries
  const events = `${delivered} delivered, ${pending} waiting, ${failed} failed`
  return pings === 0 ? events : `${events}; and ${pings} ${pings === 1 ? 'ping' : 'pings'}`
}

export const EndpointFacts = ({ endpoint }: { readonly endpoint: EndpointDetail }) => (
  <Facts
    of={{
      URL: <code>{endpoint.url}</code>,
      'Failing since': endpoint.failingSince && <Time at={endpoint.failingSince} />,
      Events: isOfAll(endpoint) ? 'All, including those of later releases' : endpoint.kinds.join(', '),
      'Last 30 days': deliveriesInWords(endpoint),
      'Old secret': endpoint.oldSecretEndsAt && (
        <>
          Also signs deliveries until <Time at={endpoint.oldSecretEndsAt} />
        </>
      ),
      ID: <code>{endpoint.id}</code>,
      Added: <Time at={endpoint.createdAt} />,
    }}
  />
)
