import type { DescribedEvent } from '../../../operations/audit/lists.ts'
import { Badge } from '../../components/badges.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { appPath, auditPath, userPath } from '../paths.ts'

export const EventTable = ({ events }: { readonly events: readonly DescribedEvent[] }) => (
  <Table label="Events" class="events" columns={['Time', 'Action', 'Who', 'App', 'About']}>
    {events.map((event) => (
      <EventRow key={event.id} event={event} />
    ))}
  </Table>
)

const EventRow = ({ event }: { readonly event: DescribedEvent }) => (
  <tr>
    <td>
      <Time at={event.at} />
      <br />
      <a href={auditPath({ request: event.requestId })} title={`Everything in request ${event.requestId}`}>
        <small>Request …{event.requestId.slice(-6)}</small>
      </a>
    </td>
    <td>
      <code>{event.action}</code>
      {event.outcome === 'done' ? null : (
        <>
          <br />
          <Badge tone="bad">{`Refused: ${event.reason ?? 'no reason'}`}</Badge>
        </>
      )}
    </td>
    <td>
      {event.actorKind} <Actor event={event} />
      <br />
      <small>{event.address}</small>
    </td>
    <td>
      {event.app === null ? null : (
        <a href={appPath(event.app)}>
          <bdi>{event.app}</bdi>
        </a>
      )}
      {event.environment === null ? null : (
        <>
          <br />
          <small>{event.environment}</small>
        </>
      )}
    </td>
    <td>
      {event.target === null ? null : <code>{event.target}</code>}
      {event.detail === null ? null : (
        <>
          <br />
          <code>{event.detail}</code>
        </>
      )}
    </td>
  </tr>
)

const Actor = ({ event: { actorId, actorEmail } }: { readonly event: DescribedEvent }) => {
  if (actorId === null) return null
  return actorEmail === null ? (
    <a href={auditPath({ actor: actorId })}>
      <code>{actorId}</code>
    </a>
  ) : (
    <a href={userPath(actorId)}>
      <bdi>{actorEmail}</bdi>
    </a>
  )
}
