import { Elysia } from 'elysia'
import { isEveryKind } from '../../domain/webhook-event.ts'
import { hasRight } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { listAttempts, pingEndpoint, type ResendChoice, resendEvents } from '../../operations/webhooks/deliveries.ts'
import {
  type EndpointDetail,
  ownsEndpoint,
  readEndpoint,
  setEndpointStatus,
} from '../../operations/webhooks/endpoints.ts'
import { timeOf } from '../audit-period.ts'
import { changed } from '../change.tsx'
import { EnvironmentBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Facts, Time } from '../design/values.tsx'
import { emptyForm, formOf, optionalText, text } from '../form.ts'
import { listRoutes } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { takeShown } from '../shown-once.ts'
import { backTo, noticeFor } from '../query.ts'
import type { Visit } from '../visit.ts'
import { AttemptTable, EndpointSteps, ResendForms, Step } from './endpoint-parts.tsx'
import { attemptQuestion, endpointAttempts } from './attempts.tsx'
import { takeOutgoingShare } from './new-endpoint.tsx'
import { Allowed, consoleAppPath, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'
import { EndpointSecretPage, EndpointStatus } from './webhooks.tsx'

const notices = {
  changed: 'The endpoint is saved.',
  taken: 'The endpoint accepted the ping.',
  resent: 'The events are being sent again, with the same IDs.',
  'none-resent': 'There was nothing to send again.',
  enabled: 'The endpoint is enabled, and waiting events are being sent to it.',
  disabled: 'The endpoint is disabled. Nothing is sent to it.',
} as const

const problems = { 'not-taken': 'The endpoint did not accept the ping. The first attempt below shows why.' } as const

const resendForm = formOf({ event: text, back: optionalText })
const resendSinceForm = formOf({ since: text })

type At = { readonly slug: string; readonly id: string }
export const endpointPath = ({ slug, id }: At): string => consoleAppPath(slug, 'webhooks', id)
/** Where a new signing secret of the endpoint is shown once. */
export const endpointSecretPath = ({ slug, id }: At): string => consoleAppPath(slug, 'webhooks', id, 'secret')

const { path: pattern } = endpointAttempts

/** What the forms of the page have in common. */
const step = {
  by: 'user',
  proof: 'none',
  form: emptyForm,
  show: async (visit: Visit, at: At) => await show(visit, at),
} as const

/** One endpoint. Sending one of its forms again just repeats it. */
export const webhookEndpointRoutes = (door: Door) =>
  new Elysia()
    .use(listRoutes(door, endpointAttempts, { by: 'user', show }))
    .use(
      changed(door, `${pattern}/ping`, {
        ...step,
        act: async ({ visit }, at) => {
          takeOutgoingShare(visit)
          const { delivered } = await visit.as(ownsEndpoint(at, 'resendEvents')).do(pingEndpoint, at.id)
          return seeOther(`${endpointPath(at)}?done=${delivered ? 'taken' : 'not-taken'}`)
        },
      }),
    )
    .get(`${pattern}/secret`, async ({ request, params }) => {
      const own = await requireOwnApp(door, request, params.slug)
      const endpoint = await readEndpoint(door.platform, own.app.id, params.id)
      const { value, cookies } = takeShown(own.visit)
      return page(<EndpointSecretPage {...own} endpoint={endpoint} secret={value} />, { cookies })
    })
    .use(
      changed(door, `${pattern}/enable`, {
        ...step,
        proof: 'asked',
        act: async ({ visit }, at) => {
          await visit.as(ownsEndpoint(at, 'webhooks')).do(setEndpointStatus, { id: at.id, status: 'enabled' })
          return seeOther(`${endpointPath(at)}?done=enabled`)
        },
      }),
    )
    .use(
      changed(door, `${pattern}/resend`, {
        ...step,
        form: resendForm,
        act: async ({ visit, fields }, at) =>
          await resend(visit, at, { kind: 'one', eventId: fields.event }, fields.back),
      }),
    )
    .use(
      changed(door, `${pattern}/resend-failed`, {
        ...step,
        act: async ({ visit }, at) => await resend(visit, at, { kind: 'failed' }),
      }),
    )
    .use(
      changed(door, `${pattern}/resend-since`, {
        ...step,
        form: resendSinceForm,
        act: async ({ visit, fields: { since } }, at) =>
          await resend(visit, at, { kind: 'since', at: timeOf(since.trim(), 'since') }),
      }),
    )

/** Sends again what is chosen. `back` is the list of attempts that the form is in. */
const resend = async (visit: Visit, at: At, choice: ResendChoice, back?: string): Promise<Response> => {
  const { resent } = await visit.as(ownsEndpoint(at, 'resendEvents')).do(resendEvents, { id: at.id, choice })
  return seeOther(backTo(endpointPath(at), back, resent > 0 ? 'resent' : 'none-resent'))
}

const show = async (visit: Visit, at: At): Promise<Response> => {
  const { app } = await ownAppOf(visit, at.slug)
  const { platform } = visit.door
  const endpoint = await readEndpoint(platform, app.id, at.id)
  const asked = endpointAttempts.read(visit, at)
  const attempts = await asked.found(async (part) => listAttempts(platform, at.id, part, attemptQuestion(asked.values)))
  const problem = noticeFor(visit, problems)
  return page(
    <OwnAppPage
      visit={visit}
      app={app}
      tab="webhooks"
      title="Webhook endpoint"
      badges={
        <>
          <EnvironmentBadge environment={endpoint.environment} />
          <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />
        </>
      }
      notices={notices}
      actions={
        hasRight(app.role, 'webhooks') ? (
          <a class="button" href={consoleAppPath(app.slug, 'webhooks', endpoint.id, 'edit')}>
            Edit
          </a>
        ) : undefined
      }
    >
      <Problem error={attempts.refusal} />
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <EndpointFacts endpoint={endpoint} />
      <h2>Test</h2>
      <Step visit={visit} app={app} endpoint={endpoint} step="ping" button="Send a ping">
        The ping is sent once, now. The answer appears below.
      </Step>
      <h2>Attempts</h2>
      <FilterBar of={asked} />
      <AttemptTable
        visit={visit}
        app={app}
        endpoint={endpoint}
        attempts={attempts.rows}
        empty={noMatch(attempts, 'No deliveries in the last 30 days.')}
      />
      <Pager of={attempts} />
      <h2>Send again</h2>
      <ResendForms visit={visit} app={app} endpoint={endpoint} />
      <h2>Change</h2>
      <Allowed app={app} right="webhooks">
        <EndpointSteps visit={visit} app={app} endpoint={endpoint} />
      </Allowed>
    </OwnAppPage>,
    { refusal: attempts.refusal },
  )
}

const EndpointFacts = ({ endpoint }: { readonly endpoint: EndpointDetail }) => (
  <Facts
    of={{
      URL: <code>{endpoint.url}</code>,
      'Failing since': endpoint.failingSince && <Time at={endpoint.failingSince} />,
      Events: isEveryKind(endpoint.kinds) ? 'All, including those of later releases' : endpoint.kinds.join(', '),
      'Last 30 days': deliveriesInWords(endpoint.deliveries),
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

const deliveriesInWords = ({ delivered, pending, failed }: EndpointDetail['deliveries']): string =>
  `${delivered} delivered, ${pending} waiting, ${failed} failed`
