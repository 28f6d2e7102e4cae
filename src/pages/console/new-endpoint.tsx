import { secretShownBefore, sentBefore } from '../confirmation.tsx'
import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import type { PlatformError } from '../../domain/errors.ts'
import { type WebhookKind, webhookKinds } from '../../domain/webhook-event.ts'
import type { Door } from '../../http/door.ts'
import { takeShare } from '../../http/limits.ts'
import { addEndpoint } from '../../operations/webhooks/add-endpoint.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { Choice, ChoiceSet, Field, Form, Problem } from '../design/field.tsx'
import { answerForm, asOwner, formOf, receiveFromUser, text, texts } from '../form.ts'
import { page } from '../page.ts'
import { choiceParameter } from '../query.ts'
import { showOnce } from '../shown-once.ts'
import type { Visit } from '../visit.ts'
import { consoleAppPath, environmentField, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'

const newEndpointForm = formOf({ environment: environmentField, url: text, kinds: texts })

/** The form that adds a webhook endpoint. */
export const newEndpointRoutes = (door: Door) =>
  new Elysia()
    .get('/console/:slug/webhooks/new', async ({ request, params: { slug } }) => {
      const own = await requireOwnApp(door, request, slug)
      const environment = choiceParameter(request, 'environment', environments) ?? 'development'
      return ask(own, { environment, url: '', kinds: [] }, null)
    })
    .post('/console/:slug/webhooks', async ({ request, params: { slug } }) => await add(door, request, slug))

type NewEndpointValues = {
  readonly environment: Environment
  readonly url: string
  readonly kinds: readonly string[]
}

const ask = ({ visit, app }: OwnApp, values: NewEndpointValues, error: PlatformError | null): Response =>
  page(
    <OwnAppPage visit={visit} app={app} tab="webhooks" title="Add a webhook endpoint">
      <Problem error={error} />
      <p>
        <EnvironmentBadge environment={values.environment} />
      </p>
      <Form action={consoleAppPath(app.slug, 'webhooks')} visit={visit} hidden={{ environment: values.environment }}>
        <Field
          label="URL"
          name="url"
          hint="An HTTPS address on a public host. Private and reserved IP addresses are not allowed."
          error={error}
          input={{
            value: values.url,
            placeholder: 'https://app.example/webhooks',
            required: true,
            maxLength: 2048,
            spellcheck: false,
          }}
        />
        <ChoiceSet legend="Events" name="kinds" error={error}>
          {webhookKinds.map((kind) => (
            <Choice
              key={kind}
              type="checkbox"
              name="kinds"
              value={kind}
              checked={values.kinds.includes(kind)}
              about={kindWords[kind]}
            >
              <code>{kind}</code>
            </Choice>
          ))}
        </ChoiceSet>
        <button type="submit" class="primary">
          Add the endpoint
        </button>
      </Form>
    </OwnAppPage>,
    { refusal: error },
  )

/** The owner is checked first, so that nobody else can make this server look up host names. */
const add = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromUser(door, request, newEndpointForm)
  const { environment, url, kinds } = fields
  const own = await ownAppOf(visit, slug)
  takeOutgoingShare(visit)
  const input = { slug, environment, url: url.trim(), kinds }
  return await answerForm(addEndpoint(...asOwner(visit, slug, ticket), input), {
    done: ({ id, secret }) => showOnce(visit, consoleAppPath(slug, 'webhooks', id, 'secret'), secret),
    refused: (error) => ask(own, { environment, url, kinds }, error),
    sentBefore: () => {
      const message = secretShownBefore('rotate it')
      return sentBefore({ visit, message, href: consoleAppPath(slug, 'webhooks'), name: 'See the webhooks' })
    },
  })
}

/**
 * Counts a form that makes this server send a request while it is answered. Each can keep a connection open for fifteen
 * seconds, and the host that is called may not be the developer's own.
 * @throws rate_limited
 */
export const takeOutgoingShare = ({ door, call, userId }: Visit): void => takeShare(door, call, 'authorize', userId)

/** The meaning of each kind of event. */
const kindWords = {
  'install.created': 'A user requested an install.',
  'install.approved': 'An install was approved and is active.',
  'install.rejected': 'An install was rejected.',
  'install.deactivated': 'An install has ended.',
  'grant.created': 'A user consented.',
  'grant.scopes_changed': 'The scopes of a grant changed.',
  'grant.revoked': 'A user’s access was revoked.',
  'grant.reuse_detected': 'A used code or token was presented again, and its grant has ended.',
  'version.submitted': 'A version was submitted for review.',
  'version.approved': 'A version was approved.',
  'version.rejected': 'A version was rejected.',
  'version.withdrawn': 'A version was withdrawn before its review.',
  'version.activated': 'A version went live.',
  'version.superseded': 'A version is no longer live because another one replaced it.',
  'version.rolled_back': 'A rollback made a version current again.',
  'credential.created': 'A client secret was created.',
  'credential.rotated': 'A client secret was rotated.',
  'credential.revoked': 'A client secret was revoked.',
  'app.suspended': 'An operator suspended the app.',
  'app.activated': 'An operator activated the app again.',
  'webhook.disabled': 'An endpoint was disabled.',
  'api_version.deprecated': 'A version of the API will be switched off.',
  ping: 'A test, which is sent even if you do not choose it.',
} as const satisfies Record<WebhookKind, string>
