import { Elysia } from 'elysia'
import { environments } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInApp } from '../../operations/acting-as.ts'
import { revokeCredential, rotateCredential } from '../../operations/credentials/change-credentials.ts'
import { listLiveCredentials, ownsCredential } from '../../operations/credentials/list-credentials.ts'
import { appTokensOf } from '../../operations/reach.ts'
import { listRedirectUris, removeRedirectUri } from '../../operations/redirect-uris.ts'
import { readEndpoint, removeEndpoint, setEndpointStatus } from '../../operations/webhooks/endpoints.ts'
import { rotateWebhookSecret } from '../../operations/webhooks/secrets.ts'
import { confirmed, type Question, secretShownBefore } from '../confirmation.tsx'
import { asMember, asUser, emptyForm, formOf, text } from '../form.ts'
import { GraceField, hoursFrom } from '../grace-field.tsx'
import { seeOther } from '../page.ts'
import { secretName } from '../secret-row.tsx'
import { showOnce } from '../shown-once.ts'
import { onEndpoint, endpointPath, endpointSecretPath } from './endpoint.tsx'
import { consoleArea, consoleAppPath, environmentField, ownAppOf } from './own-app.tsx'
import { newSecretPath } from './secret-parts.tsx'

const credentialsOf = ({ slug }: Slug) => ({ href: consoleAppPath(slug, 'credentials'), name: 'Credentials' })
const endpointOf = (at: Slug & { readonly id: string }) => ({ href: endpointPath(at), name: 'Webhook endpoint' })
type Slug = { readonly slug: string }

/** Everything that a developer can end in their apps. In a suspended app secrets can be revoked and URIs removed. */
export const consoleConfirmations = (door: Door) =>
  new Elysia()
    .use(revocation(door))
    .use(rotation(door))
    .use(uriRemoval(door))
    .use(endpointDisabling(door))
    .use(endpointRemoval(door))
    .use(endpointRotation(door))

const revocation = (door: Door) =>
  confirmed(door, '/console/:slug/credentials/:id/revoke', {
    area: consoleArea,
    form: emptyForm,
    back: credentialsOf,
    ask: async (visit, { slug, id }) => {
      const { app } = await ownAppOf(visit, slug)
      const { development, production } = await listLiveCredentials(door.platform, app.clientIds)
      const secret = [...development, ...production].find((one) => one.id === id)
      if (secret === undefined) throw refuse('route_not_found')
      const others = (secret.environment === 'production' ? production : development).length - 1
      return {
        title: 'Revoke this secret?',
        belongsTo: app.name,
        says: (
          <p>
            The {secret.environment} secret{' '}
            <strong>
              <bdi>{secretName(secret)}</bdi>
            </strong>{' '}
            {secret.hint === null ? null : (
              <>
                (ends with <code>{secret.hint}</code>){' '}
              </>
            )}
            of <bdi>{app.name}</bdi> and its app tokens stop working at once. Access that users have granted continues.
            This cannot be undone.
          </p>
        ),
        counts: [
          [await appTokensOf(door.platform, { secret: id }), 'app token stops working', 'app tokens stop working'],
          [others, `other ${secret.environment} secret stays`, `other ${secret.environment} secrets stay`],
        ],
        button: 'Revoke now',
      }
    },
    act: async ({ visit }, { slug, id }, back) => {
      await revokeCredential(...asUser(visit, ownsCredential(visit.userId, slug, id)), id)
      return back('revoked')
    },
  })

const rotateForm = formOf({ environment: environmentField, graceHours: text })

const rotation = (door: Door) =>
  confirmed(door, '/console/:slug/credentials/rotate', {
    area: consoleArea,
    form: rotateForm,
    back: credentialsOf,
    again: secretShownBefore('revoke it and create another'),
    ask: async (visit, { slug }, given): Promise<Question<typeof rotateForm.schema.properties>> => {
      const { app } = await ownAppOf(visit, slug)
      const environment = environments.find((one) => one === given('environment')) ?? 'development'
      const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
      return {
        title: `Rotate the ${environment} secret?`,
        belongsTo: app.name,
        says: (
          <p>
            <bdi>{app.name}</bdi> gets a new {environment} secret. The old one stops working after the hours below, and
            so do its app tokens.
          </p>
        ),
        counts: [[secrets.length, 'secret will expire', 'secrets will expire']],
        button: 'Rotate the secret',
        fields: (sent, error) => (
          <>
            <input type="hidden" name="environment" value={environment} />
            <GraceField
              label="Hours until the old secret expires"
              hint="Until then both secrets work. With 0 the old one stops working at once."
              typed={sent?.graceHours}
              error={error}
            />
          </>
        ),
      }
    },
    act: async ({ visit, fields, ticket }, { slug }) => {
      const { app } = await ownAppOf(visit, slug)
      const input = { clientId: app.clientIds[fields.environment], graceHours: hoursFrom(fields.graceHours) }
      const created = await rotateCredential(
        ...asMember(visit, slug, rightOverSecrets(fields.environment), ticket),
        input,
      )
      return showOnce(visit, newSecretPath(slug, created.id), created.clientSecret)
    },
  })

const uriForm = formOf({ environment: environmentField, uri: text })

const uriRemoval = (door: Door) =>
  confirmed(door, '/console/:slug/redirect-uris/remove', {
    area: consoleArea,
    form: uriForm,
    back: ({ slug }) => ({ href: consoleAppPath(slug, 'redirect-uris'), name: 'Redirect URIs' }),
    ask: async (visit, { slug }, given) => {
      const { app } = await ownAppOf(visit, slug)
      const { redirectUris } = await listRedirectUris(door.platform, slug)
      const uri = given('uri')
      const environment = environments.find((one) => one === given('environment') && redirectUris[one].includes(uri))
      if (environment === undefined) throw refuse('route_not_found')
      return {
        title: 'Remove this redirect URI?',
        belongsTo: app.name,
        says: (
          <>
            <p>
              <code class="whole">{uri}</code>
            </p>
            <p>
              Users of <bdi>{app.name}</bdi> ({environment}) cannot return to it any more. Sign-ins that are in progress
              with it fail, and codes that were sent to it are invalid. Tokens that were issued before keep working.
            </p>
          </>
        ),
        counts: [
          [
            redirectUris[environment].length - 1,
            `other ${environment} redirect URI stays`,
            `other ${environment} redirect URIs stay`,
          ],
        ],
        button: 'Remove',
        fields: () => (
          <>
            <input type="hidden" name="environment" value={environment} />
            <input type="hidden" name="uri" value={uri} />
          </>
        ),
      }
    },
    act: async ({ visit, fields: { environment, uri } }, { slug }, back) => {
      await removeRedirectUri(...asUser(visit, mayInApp(visit.userId, slug, 'settings')), { slug, environment, uri })
      return back('uri-removed')
    },
  })

const endpointDisabling = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/disable', {
    area: consoleArea,
    form: emptyForm,
    back: endpointOf,
    ask: async (visit, { slug, id }) => {
      const { app } = await ownAppOf(visit, slug)
      const { url, deliveries } = await readEndpoint(door.platform, app.id, id)
      return {
        title: 'Disable this endpoint?',
        belongsTo: app.name,
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
      await setEndpointStatus(...onEndpoint(visit, at, 'webhooks'), { id: at.id, status: 'disabled' })
      return back('disabled')
    },
  })

const endpointRemoval = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/remove', {
    area: consoleArea,
    form: emptyForm,
    back: endpointOf,
    ask: async (visit, { slug, id }) => {
      const { app } = await ownAppOf(visit, slug)
      const { url, deliveries } = await readEndpoint(door.platform, app.id, id)
      return {
        title: 'Remove this endpoint?',
        belongsTo: app.name,
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
      await removeEndpoint(...onEndpoint(visit, at, 'webhooks'), at.id)
      return seeOther(`${consoleAppPath(at.slug, 'webhooks')}?done=removed`)
    },
  })

const graceForm = formOf({ graceHours: text })

const endpointRotation = (door: Door) =>
  confirmed(door, '/console/:slug/webhooks/:id/rotate', {
    area: consoleArea,
    form: graceForm,
    back: endpointOf,
    again: secretShownBefore('rotate it again'),
    ask: async (visit, { slug, id }): Promise<Question<typeof graceForm.schema.properties>> => {
      const { app } = await ownAppOf(visit, slug)
      const { url, oldSecretEndsAt } = await readEndpoint(door.platform, app.id, id)
      return {
        title: 'Rotate the secret of this endpoint?',
        belongsTo: app.name,
        says: (
          <p>
            Deliveries to <code class="whole">{url}</code> are signed with a new secret from now on.
            {oldSecretEndsAt === null ? '' : ' The secret from before the last rotation ends at once.'}
          </p>
        ),
        button: 'Rotate the secret',
        fields: (sent, error) => (
          <GraceField
            label="Hours until the old secret expires"
            hint="Until then each delivery is signed with both secrets."
            typed={sent?.graceHours}
            error={error}
          />
        ),
      }
    },
    act: async ({ visit, fields, ticket }, at) => {
      const input = { id: at.id, graceHours: hoursFrom(fields.graceHours) }
      const { secret } = await rotateWebhookSecret(...onEndpoint(visit, at, 'webhooks', ticket), input)
      return showOnce(visit, endpointSecretPath(at), secret)
    },
  })
