import type { ComponentChildren } from 'preact'
import { maximumEndpoints, webhookKinds } from '../../domain/webhook-event.ts'
import {
  type EndpointDetail,
  type EndpointRecord,
  listEndpoints,
  ownsEndpoint,
  readEndpoint,
} from '../../operations/webhooks/endpoints.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { ListRows } from '../design/row-list.tsx'
import { CodeBlock, Facts, Lines, Time } from '../design/values.tsx'
import { choice, date, list, listRoutes, type ListValues, search, timeOf } from '../list.ts'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import {
  acting,
  addressIn,
  Allowed,
  appFor,
  AppPage,
  type AppPlace,
  type AppVisit,
  type AtApp,
  inBoth,
  inEnvironment,
  pageOfApp,
} from './app-area.tsx'
import {
  buttonNotices,
  endpointButtonRoutes,
  EndpointFacts,
  EndpointRow,
  EndpointStatus,
  endpointStepsOf,
  hostOf,
  OutcomeBadge,
  PingProblem,
  SigningSecret,
} from '../endpoints.tsx'
import {
  type AttemptDetail,
  listAttempts,
  readAttempt,
  type ResendChoice,
  resendEvents,
} from '../../operations/webhooks/deliveries.ts'
import { changed, routes } from '../change.tsx'
import { Fields, line, Problem } from '../design/field.tsx'
import { formOf, optionalText, text } from '../form.ts'
import { secretPage } from '../secret-page.tsx'
import { addressOf, backTo } from '../query.ts'
import { noticesOf, StepLinks } from '../step.tsx'
import { ButtonForm, Form, LinkButton, MainLink } from '../design/form.tsx'
import { actionColumn, Table } from '../design/table.tsx'
import { proveFirst } from '../proof.ts'
import { millisecondsInWords, readMoment } from '../words.ts'
import { attemptOutcomes } from '../../domain/webhook-delivery.ts'
import { visibleText } from '../../domain/text.ts'
import { badInput } from '../../operations/decide.ts'

const notices = { removed: 'The endpoint is removed. Nothing more is sent to it.' } as const

const endpointList = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'endpoints' : 'desk-endpoints', pattern('webhooks'), {
    q: search('Search URLs'),
  }),
)

/** There are few, so they are searched in memory and have no pages. */
const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const at = await appFor(visit, slug)
  const asked = endpointList[at.place.key].read(visit, { slug })
  const { q } = asked.values
  const { environment } = at
  const endpoints = (await listEndpoints(visit.door.platform, slug)).filter((one) => one.environment === environment)
  const data = endpoints.filter(({ url }) => url.includes(q))
  const found = await asked.rows(async () => ({ data, nextCursor: null }))
  return page(
    <AppPage
      at={at}
      tab="webhooks"
      title="Webhooks"
      switches
      notices={notices}
      actions={at.may('webhooks') ? <MainLink href={at.path('webhooks', 'new')}>Add an endpoint</MainLink> : undefined}
    >
      <p>
        Webhooks notify the backend of the app of events. Each event is signed and sent over HTTPS to every endpoint
        that subscribes to its kind. If an endpoint does not accept it, the delivery is retried for three days. An
        environment has at most {maximumEndpoints} endpoints.
      </p>
      <FilterBar of={asked} isShown={isLong({ rows: endpoints })} />
      <ListRows
        label={`Endpoints in ${environment}`}
        of={found}
        row={(one) => <EndpointRow key={one.id} href={at.path('webhooks', one.id)} endpoint={one} />}
        empty={`No endpoints in ${environment} yet.`}
      />
      <Allowed at={at} right="webhooks">
        {null}
      </Allowed>
    </AppPage>,
  )
}

/** The way back to an endpoint. The host of its URL is its name. */
export const endpointCrumb = ({ path }: AppVisit, { id, url }: Pick<EndpointRecord, 'id' | 'url'>) => ({
  href: path('webhooks', id),
  name: new URL(url).host,
})

type EndpointSecretPageProps = AtApp & {
  readonly endpoint: EndpointRecord
  /** Null when it was shown before. */
  readonly secret: string | null
}

/** The only page that shows the secret that signs deliveries to an endpoint. */
const EndpointSecretPage = ({ at, endpoint, secret }: EndpointSecretPageProps) => (
  <AppPage
    at={at}
    tab="webhooks"
    title="Signing secret of the endpoint"
    badges={<EnvironmentBadge environment={endpoint.environment} />}
    crumbs={[endpointCrumb(at, endpoint)]}
  >
    <p>
      <code>{endpoint.url}</code>
    </p>
    <SigningSecret value={secret} href={at.path('webhooks', endpoint.id)} backend="The backend of the app" />
    {secret !== null && at.may('resendEvents') ? (
      <EndpointButton at={at} endpoint={endpoint} step="ping" button="Send a ping">
        Once your backend has the secret: a ping is sent once, now.
      </EndpointButton>
    ) : null}
  </AppPage>
)

type AtEndpoint = { readonly slug: string; readonly id: string }

/** The steps of an endpoint of an app. */
export const endpointSteps = endpointStepsOf(
  {
    acting: (visit, { app, id }, ticket) => acting(visit, ownsEndpoint({ slug: app ?? '', id }, 'webhooks'), ticket),
    path: (visit, { app }, ...below) => addressIn(visit, app ?? '', 'webhooks', ...below),
  },
  ...Object.values(
    inBoth(({ area, pattern }) => ({
      area,
      root: pattern('webhooks/:id'),
      find: async (visit: Visit, { slug, id }: AtEndpoint) => {
        const at = await appFor(visit, slug)
        const endpoint = await readEndpoint(visit.door.platform, at.app.id, id)
        inEnvironment(at, endpoint.environment)
        return endpoint
      },
      belongsTo: hostOf,
    })),
  ),
)

const endpointNotices = {
  changed: 'The endpoint is saved.',
  ...buttonNotices,
  ...noticesOf(...endpointSteps),
} as const

const resendForm = formOf({ event: text, back: optionalText })
const resendSinceForm = formOf({
  since: line('Send all events again since', {
    hint: 'A day such as 2026-08-01, or a day and a time such as 2026-08-01 14:30, in UTC. At most 30 days ago.',
  }),
})

/** The webhook endpoints of an app, and one of them. Sending one of its forms again just repeats it. */
export const webhookRoutes = (place: AppPlace) => {
  const { by, pattern } = place
  const repeating = { by, effect: 'repeats something', show: showEndpoint } as const
  return routes(() => [
    listRoutes(endpointList[place.key], { by, show }),
    listRoutes(endpointAttempts[place.key], { by, show: showEndpoint }),
    pageOfApp(place, 'webhooks/:id/secret', async (found, { id }) => {
      const endpoint = await readEndpoint(found.visit.door.platform, found.app.id, id)
      const at = inEnvironment(found, endpoint.environment)
      return secretPage(at.visit, (secret) => <EndpointSecretPage at={at} endpoint={endpoint} secret={secret} />)
    }),
    attemptPage(place),
    endpointButtonRoutes(pattern('webhooks/:id'), {
      by,
      show: showEndpoint,
      find: (visit, at) => ({
        id: at.id,
        acting: (right) => acting(visit, ownsEndpoint(at, right)),
        page: endpointPath(visit, at),
      }),
    }),
    changed(pattern('webhooks/:id/resend'), {
      ...repeating,
      form: resendForm,
      act: async ({ visit, fields }, at) =>
        await resend(visit, at, { kind: 'one', eventId: fields.event }, fields.back),
    }),
    changed(pattern('webhooks/:id/resend-since'), {
      ...repeating,
      form: resendSinceForm,
      act: async ({ visit, fields: { since } }, at) =>
        await resend(visit, at, { kind: 'since', at: timeOf(since, 'since') }),
    }),
  ])
}

const endpointPath = (visit: Visit, { slug, id }: AtEndpoint): string => addressIn(visit, slug, 'webhooks', id)

/** Sends again what is chosen. `back` is the list of attempts that the form is in. */
const resend = async (visit: Visit, at: AtEndpoint, choice: ResendChoice, back?: string): Promise<Response> => {
  const { resent } = await acting(visit, ownsEndpoint(at, 'resendEvents')).do(resendEvents, { id: at.id, choice })
  return seeOther(backTo(endpointPath(visit, at), back, { done: resent > 0 ? 'resent' : 'none-resent' }))
}

const showEndpoint = async (visit: Visit, { slug, id }: AtEndpoint): Promise<Response> => {
  const { platform } = visit.door
  const found = await appFor(visit, slug)
  const endpoint = await readEndpoint(platform, found.app.id, id)
  const at = inEnvironment(found, endpoint.environment)
  const asked = endpointAttempts[at.place.key].read(visit, { slug, id })
  const attempts = await asked.found(async (part) => listAttempts(platform, id, part, attemptQuestion(asked.values)))
  return page(
    <AppPage
      at={at}
      tab="webhooks"
      title="Webhook endpoint"
      badges={
        <>
          <EnvironmentBadge environment={endpoint.environment} />
          <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />
        </>
      }
      notices={endpointNotices}
      actions={
        at.may('webhooks') ? <LinkButton href={at.path('webhooks', endpoint.id, 'edit')}>Edit</LinkButton> : undefined
      }
    >
      <Problem error={attempts.refusal} />
      <PingProblem visit={visit} />
      <EndpointFacts endpoint={endpoint} />
      <h2>Test</h2>
      <EndpointButton at={at} endpoint={endpoint} step="ping" button="Send a ping">
        The ping is sent once, now. The answer appears below.
      </EndpointButton>
      <h2>Attempts</h2>
      <FilterBar of={asked} isShown={isLong(attempts)} />
      <Table
        label="Attempts"
        rows={attempts.rows}
        columns={{
          Time: ({ id: attempt, at: time }) => (
            <a href={at.path('webhooks', id, 'attempts', attempt)}>
              <Time at={time} />
            </a>
          ),
          Event: ({ kind, eventId }) => <Lines of={[kind, <code class="small">{eventId}</code>]} />,
          Outcome: (attempt) => <OutcomeBadge attempt={attempt} />,
          Duration: ({ durationMs }) => millisecondsInWords(durationMs),
          [actionColumn]: ({ eventId }) => (
            <Form
              action={at.path('webhooks', id, 'resend')}
              visit={visit}
              hidden={{ event: eventId, back: addressOf(visit) }}
              class="inline"
            >
              <button type="submit" class="small" aria-label={`Send again: ${eventId}`}>
                Send again
              </button>
            </Form>
          ),
        }}
        empty={noMatch(attempts, 'No deliveries in the last 30 days.')}
      />
      <Pager of={attempts} />
      <h2>Send again</h2>
      <ResendForms at={at} endpoint={endpoint} />
      <h2>Change</h2>
      <Allowed at={at} right="webhooks">
        {endpoint.status === 'enabled' ? null : (
          <EndpointButton at={at} endpoint={endpoint} step="enable" button="Enable">
            The waiting events are sent, the oldest first.
          </EndpointButton>
        )}
        <StepLinks visit={visit} steps={endpointSteps} of={endpoint} params={{ slug, id }} />
      </Allowed>
    </AppPage>,
    { refusal: attempts.refusal },
  )
}

type EndpointProps = AtApp & { readonly endpoint: EndpointDetail }

type EndpointButtonProps = AtApp & {
  readonly endpoint: Pick<EndpointDetail, 'id'>
  readonly step: 'ping' | 'resend-failed' | 'enable'
  readonly button: string
  /** What the step does. */
  readonly children: ComponentChildren
}

/** A button that does something with the endpoint. Screen readers read what it does with it. */
const EndpointButton = ({ at, endpoint, step, button, children }: EndpointButtonProps) => (
  <>
    <p class="muted" id={`about-${step}`}>
      {children}
    </p>
    <ButtonForm
      action={at.path('webhooks', endpoint.id, step)}
      visit={at.visit}
      about={`about-${step}`}
      asks={step === 'enable' ? proveFirst(at.visit) : null}
    >
      {button}
    </ButtonForm>
  </>
)

const ResendForms = (own: EndpointProps) => (
  <>
    <EndpointButton {...own} step="resend-failed" button="Send all failed events again">
      The events that failed ten times are sent again with the same IDs. Pings are not included.
    </EndpointButton>
    <Form action={own.at.path('webhooks', own.endpoint.id, 'resend-since')} visit={own.at.visit}>
      <Fields of={resendSinceForm} />
      <button type="submit">Send them again</button>
    </Form>
  </>
)

const outcomeWords = {
  delivered: 'Delivered',
  refused: 'Other status',
  unanswered: 'No answer',
} as const

/** The page of an endpoint, with the attempts to deliver to it. */
export const endpointAttempts = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'webhook-attempts' : 'desk-webhook-attempts', pattern('webhooks/:id'), {
    outcome: choice(
      'Outcome',
      attemptOutcomes.map((value) => [value, outcomeWords[value]] as const),
    ),
    kind: choice(
      'Event',
      webhookKinds.map((value) => [value, value] as const),
    ),
    from: date('From (UTC)'),
    to: date('To (UTC)'),
  }),
)

const dayMs = 86_400_000

/** What the fields ask for. Both days are included. @throws invalid_request, naming the field */
const attemptQuestion = ({ outcome, kind, from, to }: ListValues<typeof endpointAttempts.console.fields>) => {
  const since = dayOf(from, 'from')
  const last = dayOf(to, 'to')
  if (since !== null && last !== null && since > last) throw badInput('from', 'The first day is after the last day.')
  return { outcome, kind, since, until: last === null ? null : last + dayMs }
}

const dayOf = (text: string, param: string): number | null => {
  if (text === '') return null
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? readMoment(text) : null
  if (moment === null) throw badInput(param, 'Write a day such as 2026-08-01.')
  return moment
}

/** One attempt: what was sent, and what came back. */
const attemptPage = (place: AppPlace) =>
  pageOfApp(place, 'webhooks/:id/attempts/:attempt', async (found, params) => {
    const { platform } = found.visit.door
    const endpoint = await readEndpoint(platform, found.app.id, params.id)
    const at = inEnvironment(found, endpoint.environment)
    const attempt = await readAttempt(platform, endpoint.id, params.attempt)
    return page(
      <AppPage
        at={at}
        tab="webhooks"
        title="Webhook attempt"
        crumbs={[endpointCrumb(at, endpoint)]}
        badges={<OutcomeBadge attempt={attempt} />}
      >
        <Facts
          of={{
            Event: attempt.kind,
            'Event ID': <code>{attempt.eventId}</code>,
            Time: <Time at={attempt.at} />,
            Duration: millisecondsInWords(attempt.durationMs),
            ID: <code>{attempt.id}</code>,
          }}
        />
        <h2>Request</h2>
        <Sent attempt={attempt} />
        <h2>Response</h2>
        <Answered attempt={attempt} />
      </AppPage>,
    )
  })

/** No request is made without a secret to sign with, or if the host cannot be called. */
const notSent: ReadonlySet<AttemptDetail['error']> = new Set(['no_secret', 'address_refused', 'not_resolved'])

const Sent = ({ attempt: { url, sentHeaders, body, error } }: { readonly attempt: AttemptDetail }) => {
  if (url === null) return <p class="muted">An earlier release made this attempt and stored no request.</p>
  return (
    <>
      {notSent.has(error) ? <p class="muted">Nothing was sent.</p> : null}
      <CodeBlock id="request-head" label="Headers of the request" code={headText(`POST ${url}`, sentHeaders ?? {})} />
      {body === null ? (
        <p class="muted">The body is no longer stored.</p>
      ) : (
        <CodeBlock id="request-body" label="Body of the request" code={inLines(body)} />
      )}
    </>
  )
}

/** The receiver wrote the answer: invisible characters are shown as escapes. */
const Answered = ({ attempt: { status, answerHeaders, answer } }: { readonly attempt: AttemptDetail }) => {
  if (status === null) return <p class="muted">There was no answer.</p>
  const head = visibleText(headText(`Status ${status}`, answerHeaders ?? {}))
  return (
    <>
      <CodeBlock id="answer-head" label="Headers of the response" code={head} />
      {answer === '' ? (
        <p class="muted">The body was empty.</p>
      ) : (
        <CodeBlock id="answer-body" label="Body of the response" code={visibleText(inLines(answer))} />
      )}
      <p class="muted">
        JSON is shown in lines, whatever its spaces were. Only the first kilobyte of the body and the headers without
        cookies are stored. Long headers are shortened.
      </p>
    </>
  )
}

/** JSON with line breaks; any other text as it is. */
const inLines = (text: string): string => {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // cut off, or no JSON
  }
}

const headText = (first: string, headers: Readonly<Record<string, string>>): string =>
  [first, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')
