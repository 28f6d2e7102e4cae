import { Elysia } from 'elysia'
import { rightOverSecrets } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'
import { ownsCredential } from '../../operations/credentials/credentials.ts'
import {
  ownsEndpoint,
  readEndpoint,
  removeEndpoint,
  setEndpointStatus,
  rotateWebhookSecret,
} from '../../operations/webhooks/endpoints.ts'
import { secretShownBefore } from '../change.tsx'
import { confirmed } from '../confirmation.tsx'
import { emptyForm, formOf, numberIn, text } from '../form.ts'
import { GraceField } from '../grace-field.tsx'
import { seeOther } from '../page.ts'
import { secretSteps } from '../secret-steps.tsx'
import { showOnce } from '../shown-once.ts'
import type { Visit } from '../visit.ts'
import { endpointPath, endpointSecretPath } from './endpoint.tsx'
import { consoleArea, consoleAppPath, consolePath, ownAppOf } from './own-app.tsx'
import { newSecretPath } from './secret-parts.tsx'

type At = { readonly slug: string; readonly id: string }

const toEndpoint = (at: At) => ({ href: endpointPath(at) })

/** The endpoint that a question is about. Its host names it in the title and in the way back. */
const askedAbout = async (visit: Visit, { slug, id }: At) => {
  const { app } = await ownAppOf(visit, slug)
  const endpoint = await readEndpoint(visit.door.platform, app.id, id)
  return { ...endpoint, belongsTo: new URL(endpoint.url).host }
}

/** Everything that a developer can end in their apps. */
export const consoleConfirmations = (door: Door) =>
  new Elysia().use(ofSecrets(door)).use(endpointDisabling(door)).use(endpointRemoval(door)).use(endpointRotation(door))

/** In a suspended app secrets can be revoked and redirect URIs removed, but no secret made. */
const ofSecrets = (door: Door) =>
  secretSteps(door, {
    area: consoleArea,
    root: consolePath,
    uris: 'redirect-uris',
    back: (slug) => ({ href: consoleAppPath(slug, 'redirect-uris'), name: 'Redirect URIs' }),
    appOf: async (visit, slug) => (await ownAppOf(visit, slug)).app,
    toRevoke: (visit, slug, id) => visit.as(ownsCredential(slug, id)),
    toRotate: (visit, slug, environment, ticket) =>
      visit.as(mayInActiveApp(slug, rightOverSecrets(environment)), ticket),
    toRemoveUris: (visit, slug) => visit.as(mayInApp(slug, 'settings')),
    showSecret: (visit, slug, { id, clientSecret }) => showOnce(visit, newSecretPath(slug, id), clientSecret),
  })

const endpointDisabling = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/disable', {
    area: consoleArea,
    proof: 'none',
    form: emptyForm,
    back: toEndpoint,
    ask: async (visit, at) => {
      const { url, deliveries, belongsTo } = await askedAbout(visit, at)
      return {
        title: 'Disable this endpoint?',
        belongsTo,
        says: (
          <p>
            Nothing is sent to <code class="whole">{url}</code> until you enable it again. Its events wait for up to
            thirty days.
          </p>
        ),
        counts: [[deliveries.pending, 'event waits', 'events wait']],
        button: 'Disable',
      }
    },
    act: async ({ visit }, at, back) => {
      await visit.as(ownsEndpoint(at, 'webhooks')).do(setEndpointStatus, { id: at.id, status: 'disabled' })
      return back('disabled')
    },
  })

const endpointRemoval = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/remove', {
    area: consoleArea,
    proof: 'none',
    form: emptyForm,
    back: toEndpoint,
    ask: async (visit, at) => {
      const { url, deliveries, belongsTo } = await askedAbout(visit, at)
      return {
        title: 'Remove this endpoint?',
        belongsTo,
        says: (
          <p>
            Nothing more is sent to <code class="whole">{url}</code>. Its secrets are deleted at once, and its waiting
            events are never sent. This cannot be undone.
          </p>
        ),
        counts: [[deliveries.pending, 'waiting event is never sent', 'waiting events are never sent']],
        button: 'Remove',
      }
    },
    act: async ({ visit }, at) => {
      await visit.as(ownsEndpoint(at, 'webhooks')).do(removeEndpoint, at.id)
      return seeOther(`${consoleAppPath(at.slug, 'webhooks')}?done=removed`)
    },
  })

const graceForm = formOf({ graceHours: text })

const endpointRotation = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/rotate', {
    area: consoleArea,
    proof: 'asked',
    form: graceForm,
    back: toEndpoint,
    again: secretShownBefore('rotate it again'),
    ask: async (visit, at) => {
      const { url, oldSecretEndsAt, belongsTo } = await askedAbout(visit, at)
      return {
        title: 'Rotate the secret of this endpoint?',
        belongsTo,
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
      }
    },
    act: async ({ visit, fields, ticket }, at) => {
      const input = { id: at.id, graceHours: numberIn(fields.graceHours) }
      const { secret } = await visit.as(ownsEndpoint(at, 'webhooks'), ticket).do(rotateWebhookSecret, input)
      return showOnce(visit, endpointSecretPath(at), secret)
    },
  })
