import { isDelivered } from '../../../domain/webhook-delivery.ts'
import type { AttemptRecord } from '../../../operations/webhooks/deliveries.ts'
import { Badge } from '../../components/badges.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type AttemptTableProps = OwnApp & { readonly endpointId: string; readonly attempts: readonly AttemptRecord[] }

/** The latest calls of an endpoint, each with what came of it and a way to send its event again. */
export const AttemptTable = ({ visit, app, endpointId, attempts }: AttemptTableProps) =>
  attempts.length === 0 ? (
    <p class="muted">It has not been called in the last thirty days.</p>
  ) : (
    <Table label="Attempts" columns={['When', 'Event', 'Outcome', 'Took', 'Answer', 'Again']}>
      {attempts.map((attempt) => (
        <AttemptRow key={attempt.id} visit={visit} app={app} endpointId={endpointId} attempt={attempt} />
      ))}
    </Table>
  )

type AttemptRowProps = OwnApp & { readonly endpointId: string; readonly attempt: AttemptRecord }

const AttemptRow = ({ visit, app, endpointId, attempt }: AttemptRowProps) => (
  <tr>
    <td>
      <Time at={attempt.at} />
    </td>
    <td>
      {attempt.kind}
      <br />
      <code class="small">{attempt.eventId}</code>
    </td>
    <td>
      <Outcome attempt={attempt} />
    </td>
    <td>{attempt.durationMs} ms</td>
    <td>{attempt.answer === '' ? '–' : <bdi class="small">{attempt.answer}</bdi>}</td>
    <td>
      <Form action={appPath(app.slug, 'webhooks', endpointId, 'resend')} visit={visit} class="inline">
        <input type="hidden" name="event" value={attempt.eventId} />
        <button type="submit" class="secondary small" aria-label={`Send again: ${attempt.eventId}`}>
          Send again
        </button>
      </Form>
    </td>
  </tr>
)

const errorWords = {
  no_secret: 'Not sent: there is no secret to sign with. Rotate it.',
  address_refused: 'The host has an address that is not called',
  not_resolved: 'The host has no address',
  not_connected: 'No connection',
  certificate_refused: 'The certificate is not valid for the host',
  timed_out: 'No answer within 15 seconds',
} as const satisfies Record<NonNullable<AttemptRecord['error']>, string>

const Outcome = ({ attempt: { status, error } }: { readonly attempt: AttemptRecord }) =>
  isDelivered(status) ? (
    <Badge tone="good">Taken ({status})</Badge>
  ) : (
    <Badge tone="bad">{error === null ? `Answered ${status ?? 'nothing'}` : errorWords[error]}</Badge>
  )
