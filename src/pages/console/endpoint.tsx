import { Elysia } from 'elysia'
import type { RowKey } from '../../domain/identifier.ts'
import type { Door } from '../../http/door.ts'
import { listAttempts, pingEndpoint } from '../../operations/webhooks/deliveries.ts'
import {
  type EndpointDetail,
  ownsEndpoint,
  readEndpoint,
  removeEndpoint,
  setEndpointStatus,
} from '../../operations/webhooks/endpoints.ts'
import { type ResendChoice, resendEvents } from '../../operations/webhooks/resend-events.ts'
import { rotateWebhookSecret } from '../../operations/webhooks/secrets.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { Older } from '../design/table.tsx'
import { Facts, Time } from '../design/values.tsx'
import { answerForm, asUser, emptyForm, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { noticeFor, readList } from '../query.ts'
import type { Visit } from '../visit.ts'
import { readMoment } from '../words.ts'
import { hoursFrom } from './credentials.tsx'
import { AttemptTable, EndForms, type RefusedChange, ResendForms, RotateForm, Step } from './endpoint-parts.tsx'
import { takeOutgoingShare } from './new-endpoint.tsx'
import {
  consoleAppPath,
  type OwnApp,
  ownAppOf,
  OwnAppPage,
  requireOwnApp,
  secretShownBefore,
  sentBefore,
} from './own-app.tsx'
import { EndpointSecretPage, EndpointStatus } from './webhooks.tsx'

const notices = {
  taken: 'The endpoint accepted the ping.',
  resent: 'The events are being sent again, with the same IDs.',
  'none-resent': 'There was nothing to send again.',
  enabled: 'The endpoint is enabled, and waiting events are being sent to it.',
  disabled: 'The endpoint is disabled. Nothing is sent to it.',
} as const

const problems = { 'not-taken': 'The endpoint did not accept the ping. The first attempt below shows why.' } as const

const resendForm = formOf({ event: text })
const resendSinceForm = formOf({ since: text })
const rotateForm = formOf({ graceHours: text })

type At = { readonly slug: string; readonly id: string }
const pathOf = ({ slug, id }: At): string => consoleAppPath(slug, 'webhooks', id)

const pattern = '/console/:slug/webhooks/:id'

/** One endpoint. Only the form that rotates the secret acts once; sending another form again just repeats it. */
export const webhookEndpointRoutes = (door: Door) =>
  new Elysia()
    .get(
      pattern,
      async ({ request, params }) => await show(await requireOwnApp(door, request, params.slug), params, null),
    )
    .post(`${pattern}/ping`, async ({ request, params }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm)
      takeOutgoingShare(visit)
      const { delivered } = await pingEndpoint(...asEndpointOwner(visit, params), params.id)
      return seeOther(`${pathOf(params)}?done=${delivered ? 'taken' : 'not-taken'}`)
    })
    .post(`${pattern}/enable`, async ({ request, params }) => await setStatus(door, request, params, 'enabled'))
    .post(`${pattern}/disable`, async ({ request, params }) => await setStatus(door, request, params, 'disabled'))
    .post(`${pattern}/resend`, async ({ request, params }) => {
      const { visit, fields } = await receiveFromUser(door, request, resendForm)
      return await resend(visit, params, { kind: 'one', eventId: fields.event })
    })
    .post(`${pattern}/resend-failed`, async ({ request, params }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm)
      return await resend(visit, params, { kind: 'failed' })
    })
    .post(`${pattern}/resend-since`, async ({ request, params }) => {
      const { visit, fields } = await receiveFromUser(door, request, resendSinceForm)
      const { since } = fields
      return await resend(visit, params, { kind: 'since', at: readMoment(since.trim()) ?? 0 }, since)
    })
    .post(`${pattern}/rotate`, async ({ request, params }) => await rotate(door, request, params))
    .post(`${pattern}/remove`, async ({ request, params }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm)
      await removeEndpoint(...asEndpointOwner(visit, params), params.id)
      return seeOther(`${consoleAppPath(params.slug, 'webhooks')}?done=removed`)
    })

const asEndpointOwner = (visit: Visit, { slug, id }: At, ticket?: RowKey) =>
  asUser(visit, ownsEndpoint(visit.userId, slug, id), ticket)

const setStatus = async (door: Door, request: Request, at: At, status: 'enabled' | 'disabled'): Promise<Response> => {
  const { visit } = await receiveFromUser(door, request, emptyForm)
  await setEndpointStatus(...asEndpointOwner(visit, at), { id: at.id, status })
  return seeOther(`${pathOf(at)}?done=${status}`)
}

/** `typed` is shown again when the time is refused. */
const resend = async (visit: Visit, at: At, choice: ResendChoice, typed = ''): Promise<Response> => {
  return await answerForm(resendEvents(...asEndpointOwner(visit, at), { id: at.id, choice }), {
    done: ({ resent }) => seeOther(`${pathOf(at)}?done=${resent > 0 ? 'resent' : 'none-resent'}`),
    refused: async (error) => await show(await ownAppOf(visit, at.slug), at, { form: 'since', value: typed, error }),
  })
}

const rotate = async (door: Door, request: Request, at: At): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromUser(door, request, rotateForm)
  const { graceHours } = fields
  const own = await ownAppOf(visit, at.slug)
  const input = { id: at.id, graceHours: hoursFrom(graceHours) }
  return await answerForm(rotateWebhookSecret(...asEndpointOwner(visit, at, ticket), input), {
    done: (created) => page(<EndpointSecretPage {...own} created={created} />),
    refused: async (error) => await show(own, at, { form: 'rotate', value: graceHours, error }),
    sentBefore: () =>
      sentBefore({ visit, message: secretShownBefore('rotate it again'), href: pathOf(at), name: 'See the endpoint' }),
  })
}

const show = async ({ visit, app }: OwnApp, at: At, refused: RefusedChange | null): Promise<Response> => {
  const { platform } = visit.door
  const endpoint = await readEndpoint(platform, app.id, at.id)
  const place = { list: 'webhook-attempts', path: pathOf(at) }
  const attempts = await readList(visit, place, (part) => listAttempts(platform, at.id, part))
  const problem = noticeFor(visit, problems)
  const error = refused?.error ?? null
  return page(
    <OwnAppPage visit={visit} app={app} tab="webhooks" title="Webhook endpoint" notices={notices}>
      <Problem error={error} />
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <EndpointFacts endpoint={endpoint} />
      <h2>Test it</h2>
      <Step visit={visit} app={app} endpoint={endpoint} step="ping" button="Send a ping">
        The ping is sent once, now. The answer appears below.
      </Step>
      <h2>Attempts</h2>
      <AttemptTable visit={visit} app={app} endpoint={endpoint} attempts={attempts.rows} />
      <Older href={attempts.olderHref} name="Older attempts" />
      <h2>Send again</h2>
      <ResendForms visit={visit} app={app} endpoint={endpoint} refused={refused} />
      <h2>Secret</h2>
      <RotateForm visit={visit} app={app} endpoint={endpoint} refused={refused} />
      <h2>{endpoint.status === 'enabled' ? 'Disable or remove it' : 'Enable or remove it'}</h2>
      <EndForms visit={visit} app={app} endpoint={endpoint} />
    </OwnAppPage>,
    { refusal: error },
  )
}

const EndpointFacts = ({ endpoint }: { readonly endpoint: EndpointDetail }) => (
  <Facts
    of={{
      URL: (
        <>
          <code>{endpoint.url}</code> <EnvironmentBadge environment={endpoint.environment} />
        </>
      ),
      Status: (
        <>
          <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />{' '}
          {endpoint.failingSince === null ? null : (
            <>
              since <Time at={endpoint.failingSince} />
            </>
          )}
        </>
      ),
      Events: endpoint.kinds.join(', '),
      'Last thirty days': deliveriesInWords(endpoint.deliveries),
      ID: <code>{endpoint.id}</code>,
      Added: <Time at={endpoint.createdAt} />,
    }}
  />
)

const deliveriesInWords = ({ delivered, pending, failed }: EndpointDetail['deliveries']): string =>
  `${delivered} delivered, ${pending} waiting, ${failed} failed`
