import {
  ownsEndpoint,
  readEndpoint,
  removeEndpoint,
  rotateWebhookSecret,
  setEndpointStatus,
} from '../../operations/webhooks/endpoints.ts'
import { secretShownBefore } from '../change.tsx'
import { emptyForm, formOf, numberIn, text } from '../form.ts'
import { seeOther } from '../page.ts'
import { GraceField, showOnce } from '../secret-page.tsx'
import { stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { acting, addressIn, appFor, inBoth, inEnvironment } from './app-area.tsx'

type At = { readonly slug: string; readonly id: string }

/** The steps of an endpoint. Its host names it in the title and in the way back. */
const ofEndpoint = stepsOf(
  ...Object.values(
    inBoth(({ area, pattern }) => ({
      area,
      root: pattern('webhooks/:id'),
      find: async (visit: Visit, { slug, id }: At) => {
        const at = await appFor(visit, slug)
        const endpoint = await readEndpoint(visit.door.platform, at.app.id, id)
        inEnvironment(at, endpoint.environment)
        return endpoint
      },
      belongsTo: ({ url }: { readonly url: string }) => new URL(url).host,
    })),
  ),
)

/** Where a new signing secret of an endpoint is shown once. */
export const showEndpointSecret = (visit: Visit, { slug, id }: At, secret: string): Response =>
  showOnce(visit, addressIn(visit, slug, 'webhooks', id, 'secret'), secret)

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
  act: async ({ visit, fields, ticket }, at) => {
    const input = { id: at.id, graceHours: numberIn(fields.graceHours) }
    const { secret } = await acting(visit, ownsEndpoint(at, 'webhooks'), ticket).do(rotateWebhookSecret, input)
    return showEndpointSecret(visit, at, secret)
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
        Nothing is sent to <code class="whole">{url}</code> until you enable it again. Its events wait for up to thirty
        days.
      </p>
    ),
    counts: [[deliveries.pending, 'event waits', 'events wait']],
    button: 'Disable',
  }),
  act: async ({ visit }, at) => {
    await acting(visit, ownsEndpoint(at, 'webhooks')).do(setEndpointStatus, { id: at.id, status: 'disabled' })
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
  act: async ({ visit }, at) => {
    await acting(visit, ownsEndpoint(at, 'webhooks')).do(removeEndpoint, at.id)
    return seeOther(`${addressIn(visit, at.slug, 'webhooks')}?done=removed`)
  },
  done: {},
})

/** What changes or ends an endpoint, in the order of the links to it. */
export const endpointSteps = [rotation, disabling, removal]
