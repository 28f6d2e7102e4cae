import type { RowKey } from '../domain/identifier.ts'
import type { Actor } from '../operations/audit/event.ts'
import {
  type EndpointDetail,
  removeEndpoint,
  rotateWebhookSecret,
  setEndpointStatus,
} from '../operations/webhooks/endpoints.ts'
import { secretShownBefore } from './change.tsx'
import { emptyForm, formOf, numberIn, text } from './form.ts'
import { seeOther } from './page.ts'
import { GraceField, showOnce } from './secret-page.tsx'
import { stepsOf, type Subject } from './step.tsx'
import type { Acting, Visit } from './visit.ts'

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
    act: async ({ visit, fields, ticket }, _, find) => {
      const endpoint = await find()
      const input = { id: endpoint.id, graceHours: numberIn(fields.graceHours) }
      const { secret } = await acting(visit, endpoint, ticket).do(rotateWebhookSecret, input)
      return showOnce(visit, path(visit, endpoint, endpoint.id, 'secret'), secret)
    },
    done: {},
    again: secretShownBefore('rotate it again'),
  })

  const disabling = ofEndpoint('disable', {
    link: ['Disable the endpoint', 'Its events wait until you enable it again.'],
    when: ({ status }) => status === 'enabled',
    effect: 'takes away',
    form: emptyForm,
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
    act: async ({ visit }, _, find) => {
      const endpoint = await find()
      await acting(visit, endpoint).do(setEndpointStatus, { id: endpoint.id, status: 'disabled' })
      return 'disabled'
    },
    done: { disabled: 'The endpoint is disabled. Nothing is sent to it.' },
  })

  const removal = ofEndpoint('remove', {
    link: ['Remove the endpoint', 'Its secrets and waiting events are deleted.'],
    effect: 'takes away',
    form: emptyForm,
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
    act: async ({ visit }, _, find) => {
      const endpoint = await find()
      await acting(visit, endpoint).do(removeEndpoint, endpoint.id)
      return seeOther(`${path(visit, endpoint)}?done=removed`)
    },
    done: {},
  })

  return [rotation, disabling, removal]
}

/** Names an endpoint in titles. */
export const hostOf = ({ url }: Pick<EndpointDetail, 'url'>): string => new URL(url).host
