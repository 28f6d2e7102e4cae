import type { TProperties } from '@sinclair/typebox'
import type { RowKey } from '../domain/identifier.ts'
import { takeShare } from '../http/limits.ts'
import type { Actor } from '../operations/audit/event.ts'
import { type AttemptRecord, pingEndpoint, resendEvents } from '../operations/webhooks/deliveries.ts'
import {
  type EndpointDetail,
  type EndpointRecord,
  removeEndpoint,
  rotateWebhookSecret,
  setEndpointStatus,
} from '../operations/webhooks/endpoints.ts'
import { changed, type FormChange, type ParamsOf, paramsOf, type Routes, routes, secretShownBefore } from './change.tsx'
import { emptyForm, formOf, numberIn, text } from './form.ts'
import { seeOther } from './page.ts'
import type { Effect } from './proof.ts'
import { GraceField, showOnce } from './secret-page.tsx'
import { noticeFor } from './query.ts'
import { stepsOf, type Subject } from './step.tsx'
import type { Acting, Visit } from './visit.ts'
import { isDelivered, outcomeInWords } from '../domain/webhook-delivery.ts'
import { isEveryKind } from '../domain/webhook-event.ts'
import { Badge } from './design/badge.tsx'
import { line } from './design/field.tsx'
import { Row } from './design/row-list.tsx'
import { Facts, ShownOnce, Time, TimeFact } from './design/values.tsx'

/** Where webhook endpoints of an app or of the builder are, and as whom this person changes them. */
type EndpointPlace = {
  readonly acting: (visit: Visit, endpoint: EndpointDetail, ticket?: RowKey) => Acting<Actor>
  /** The address of the list, or of a page below it. */
  readonly path: (visit: Visit, endpoint: EndpointDetail, ...below: readonly string[]) => string
}

/** What changes or ends an endpoint, in the order of the links to it. */
export const endpointStepsOf = <const Root extends string>(
  { acting, path }: EndpointPlace,
  ...subjects: readonly Subject<Root, EndpointDetail>[]
) => {
  const ofEndpoint = stepsOf(...subjects)

  const rotation = ofEndpoint('rotate', {
    link: ['Rotate the secret', 'Creates a new signing secret. The old one expires later.'],
    effect: 'gives a secret',
    form: formOf({ graceHours: text }),
    ask: (_, { url, oldSecretEndsAt }) => ({
      title: 'Rotate the secret of this endpoint?',
      says: (
        <p>
          Deliveries to <code class="whole">{url}</code> are signed with a new secret from now on.
          {oldSecretEndsAt === null ? '' : ' The secret from before the last rotation ends at once.'}
        </p>
      ),
      button: 'Rotate the secret',
      fields: (
        <GraceField
          label="Hours until the old secret expires"
          hint="Until then each delivery is signed with both secrets."
        />
      ),
    }),
    act: async ({ visit, fields, ticket }, endpoint) => {
      const input = { id: endpoint.id, graceHours: numberIn(fields.graceHours) }
      const { secret } = await acting(visit, endpoint, ticket).do(rotateWebhookSecret, input)
      return showOnce(visit, path(visit, endpoint, endpoint.id, 'secret'), secret)
    },
    done: {},
    again: secretShownBefore('rotate it again'),
  })

  const disabling = ofEndpoint('disable', {
    link: ['Disable the endpoint', 'Its events wait until you enable it again.'],
    unless: ({ status }) => (status === 'enabled' ? null : 'This endpoint is disabled.'),
    effect: 'takes away',
    ask: (_, { url, deliveries }) => ({
      title: 'Disable this endpoint?',
      says: (
        <p>
          Nothing is sent to <code class="whole">{url}</code> until you enable it again. Its events wait for up to
          thirty days.
        </p>
      ),
      counts: [[deliveries.pending, 'event waits', 'events wait']],
      button: 'Disable',
    }),
    act: async ({ visit }, endpoint) =>
      await acting(visit, endpoint).do(setEndpointStatus, { id: endpoint.id, status: 'disabled' }),
    done: { disabled: 'The endpoint is disabled. Nothing is sent to it.' },
  })

  const removal = ofEndpoint('remove', {
    link: ['Remove the endpoint', 'Its secrets and waiting events are deleted.'],
    effect: 'takes away',
    ask: (_, { url, deliveries }) => ({
      title: 'Remove this endpoint?',
      says: (
        <p>
          Nothing more is sent to <code class="whole">{url}</code>. Its secrets are deleted at once. This cannot be
          undone.
        </p>
      ),
      counts: [[deliveries.pending, 'waiting event is deleted', 'waiting events are deleted']],
      button: 'Remove',
    }),
    act: async ({ visit }, endpoint) => {
      await acting(visit, endpoint).do(removeEndpoint, endpoint.id)
      return seeOther(`${path(visit, endpoint)}?done=removed`)
    },
    done: {},
  })

  return [rotation, disabling, removal]
}

/** An endpoint that a button is about, and as whom this person presses it. */
type Pressed = {
  readonly id: string
  readonly acting: (right: 'webhooks' | 'resendEvents') => Acting<Actor>
  /** The page that the button is on. */
  readonly page: string
}

/** What the buttons on the page of an endpoint do. Pressing one again just repeats it. */
export const endpointButtonRoutes = <const Root extends string>(
  root: Root,
  {
    by,
    show,
    find,
  }: Pick<FormChange<Root, TProperties>, 'by' | 'show'> & {
    /** @throws route_not_found */
    readonly find: (visit: Visit, params: ParamsOf<Root>) => Pressed | Promise<Pressed>
  },
): Routes => {
  const button = (step: string, effect: Effect, act: (pressed: Pressed, visit: Visit) => Promise<string>) =>
    changed(`${root}/${step}`, {
      by,
      effect,
      form: emptyForm,
      show: async (visit, params, sent) => await show(visit, paramsOf<Root>(root, params), sent),
      act: async ({ visit }, params) => {
        const pressed = await find(visit, paramsOf<Root>(root, params))
        return seeOther(`${pressed.page}?done=${await act(pressed, visit)}`)
      },
    })
  return routes(() => [
    button('ping', 'repeats something', async ({ id, acting }, visit) => {
      takeOutgoingShare(visit)
      const { delivered } = await acting('resendEvents').do(pingEndpoint, id)
      return delivered ? 'taken' : 'not-taken'
    }),
    button('enable', 'sends events elsewhere', async ({ id, acting }) => {
      await acting('webhooks').do(setEndpointStatus, { id, status: 'enabled' })
      return 'enabled'
    }),
    button('resend-failed', 'repeats something', async ({ id, acting }) => {
      const { resent } = await acting('resendEvents').do(resendEvents, { id, choice: { kind: 'failed' } })
      return resent > 0 ? 'resent' : 'none-resent'
    }),
  ])
}

/** What is said after a button. */
export const buttonNotices = {
  taken: 'The endpoint accepted the ping.',
  resent: 'The events are being sent again, with the same IDs.',
  'none-resent': 'There was nothing to send again.',
  enabled: 'The endpoint is enabled, and waiting events are being sent to it.',
} as const

/** Says that a ping has failed. */
export const PingProblem = ({ visit }: { readonly visit: Visit }) => {
  const problem = noticeFor(visit, {
    'not-taken': 'The endpoint did not accept the ping. The first attempt below shows why.',
  })
  return problem === null ? null : (
    <p class="problem" role="alert">
      {problem}
    </p>
  )
}

/**
 * Counts a form that makes this server send a request while it is answered. Each can keep a connection open for fifteen
 * seconds, and the host that is called may not be the person's own.
 * @throws rate_limited
 */
export const takeOutgoingShare = ({ door, call, userId }: Visit): void => takeShare(door, call, 'authorize', userId)

/** Names an endpoint in titles. */
export const hostOf = ({ url }: Pick<EndpointDetail, 'url'>): string => new URL(url).host

export const endpointUrl = line('URL', {
  hint: 'An HTTPS address on a public host. Private and reserved IP addresses are not allowed.',
  placeholder: 'https://app.example/webhooks',
  maxLength: 2048,
  spellcheck: false,
})

// What the pages of apps and of the builder say of a webhook endpoint and of the attempts to deliver to it.

type Told = Pick<EndpointRecord, 'app' | 'kinds'>

const isOfAll = ({ app, kinds }: Told): boolean => isEveryKind(kinds, app === null ? 'builder' : 'app')

/** `All events`, `ping`, or `3 kinds of events`. */
const kindsInWords = (endpoint: Told): string => {
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

type EndpointRowProps = { readonly href: string; readonly endpoint: EndpointRecord }

export const EndpointRow = ({ href, endpoint }: EndpointRowProps) => (
  <Row
    href={href}
    title={<code>{endpoint.url}</code>}
    badge={<EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />}
    facts={[kindsInWords(endpoint)]}
  />
)

type SigningSecretProps = { readonly value: string | null; readonly href: string; readonly backend: string }

/** The secret that signs deliveries, shown once, and the way back to its endpoint. */
export const SigningSecret = ({ value, href, backend }: SigningSecretProps) => (
  <ShownOnce
    value={value}
    what="secret"
    label="Signing secret"
    hint="Copy it now. It cannot be shown again."
    advice="rotate it"
    back={{ href, name: 'the endpoint' }}
  >
    <p>
      {backend} needs it to verify each delivery before it trusts the content. The Standard Webhooks libraries do that
      in one line.
    </p>
  </ShownOnce>
)

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
        <TimeFact words="Also signs deliveries until" at={endpoint.oldSecretEndsAt} />
      ),
      ID: <code>{endpoint.id}</code>,
      Added: <Time at={endpoint.createdAt} />,
    }}
  />
)
