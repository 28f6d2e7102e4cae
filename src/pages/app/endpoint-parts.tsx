import type { ComponentChildren } from 'preact'
import type { AttemptRecord } from '../../operations/webhooks/deliveries.ts'
import { type EndpointDetail, ownsEndpoint, readEndpoint } from '../../operations/webhooks/endpoints.ts'
import { Field } from '../design/field.tsx'
import { ButtonForm, Form } from '../design/form.tsx'
import { actionColumn, Table } from '../design/table.tsx'
import { Lines, Time } from '../design/values.tsx'
import { proveFirst } from '../proof.ts'
import { millisecondsInWords } from '../words.ts'
import { addressOf } from '../query.ts'
import { endpointStepsOf, hostOf } from '../endpoint-steps.tsx'
import { OutcomeBadge } from '../endpoint-words.tsx'
import type { Visit } from '../visit.ts'
import { acting, addressIn, appFor, type AtApp, inBoth, inEnvironment } from './app-area.tsx'

type At = { readonly slug: string; readonly id: string }

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
      find: async (visit: Visit, { slug, id }: At) => {
        const at = await appFor(visit, slug)
        const endpoint = await readEndpoint(visit.door.platform, at.app.id, id)
        inEnvironment(at, endpoint.environment)
        return endpoint
      },
      belongsTo: hostOf,
    })),
  ),
)

type EndpointProps = AtApp & { readonly endpoint: EndpointDetail }

type EndpointButtonProps = AtApp & {
  readonly endpoint: Pick<EndpointDetail, 'id'>
  readonly step: 'ping' | 'resend-failed' | 'enable'
  readonly button: string
  /** The class of the button. */
  readonly look?: string
  /** What the step does. */
  readonly children: ComponentChildren
}

/** A button that does something with the endpoint. Screen readers read what it does with it. */
export const EndpointButton = ({ at, endpoint, step, button, look, children }: EndpointButtonProps) => (
  <>
    <p class="muted" id={`about-${step}`}>
      {children}
    </p>
    <ButtonForm
      action={at.path('webhooks', endpoint.id, step)}
      visit={at.visit}
      {...(look === undefined ? {} : { look })}
      about={`about-${step}`}
      asks={step === 'enable' ? proveFirst(at.visit) : null}
    >
      {button}
    </ButtonForm>
  </>
)

export const ResendForms = (own: EndpointProps) => (
  <>
    <EndpointButton {...own} step="resend-failed" button="Send all failed events again">
      The events that failed ten times are sent again with the same IDs. Pings are not included.
    </EndpointButton>
    <Form action={own.at.path('webhooks', own.endpoint.id, 'resend-since')} visit={own.at.visit}>
      <Field
        label="Send all events again since"
        name="since"
        hint="A day such as 2026-08-01, or a day and a time such as 2026-08-01 14:30, in UTC. At most 30 days ago."
        input={{ required: true, autocomplete: 'off' }}
      />
      <button type="submit">Send them again</button>
    </Form>
  </>
)

type AttemptTableProps = EndpointProps & {
  readonly attempts: readonly AttemptRecord[]
  readonly empty: ComponentChildren
}

/** The latest deliveries to an endpoint, with their outcomes. */
export const AttemptTable = ({ at, endpoint, attempts, empty }: AttemptTableProps) => (
  <Table
    label="Attempts"
    rows={attempts}
    columns={{
      Time: ({ id, at: time }) => (
        <a href={at.path('webhooks', endpoint.id, 'attempts', id)}>
          <Time at={time} />
        </a>
      ),
      Event: ({ kind, eventId }) => <Lines of={[kind, <code class="small">{eventId}</code>]} />,
      Outcome: (attempt) => <OutcomeBadge attempt={attempt} />,
      Duration: ({ durationMs }) => millisecondsInWords(durationMs),
      [actionColumn]: ({ eventId }) => (
        <Form
          action={at.path('webhooks', endpoint.id, 'resend')}
          visit={at.visit}
          hidden={{ event: eventId, back: addressOf(at.visit) }}
          class="inline"
        >
          <button type="submit" class="small" aria-label={`Send again: ${eventId}`}>
            Send again
          </button>
        </Form>
      ),
    }}
    empty={empty}
  />
)
