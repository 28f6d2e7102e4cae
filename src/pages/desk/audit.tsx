import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { type DescribedEvent, describeEvents } from '../../operations/audit/lists.ts'
import { searchEvents } from '../../operations/audit/search-events.ts'
import { Badge } from '../components/badges.tsx'
import { Problem } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { outcomeOf } from '../form.ts'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { type AuditFields, auditFields, auditFieldsOf, AuditFilterForm, readSearch } from './audit-filter.tsx'
import { auditPath, deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'

/** The name in its cursors. */
const list = 'desk-audit'

/** The audit log with its filters. */
export const auditRoutes = (door: Door) =>
  new Elysia().get(deskPaths.audit, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const fields = auditFieldsOf(visit)
    const outcome = await outcomeOf(search(visit, fields))
    const error = outcome.kind === 'done' ? null : outcome.error
    const { data, nextCursor } = outcome.kind === 'done' ? outcome.value : { data: [], nextCursor: null }
    const events = await describeEvents(door.platform, data)
    const moreHref = olderPath(deskPaths.audit, list, nextCursor, filled(fields))
    return page(<AuditPage visit={visit} fields={fields} error={error} events={events} moreHref={moreHref} />, {
      refusal: error,
    })
  })

const search = async (visit: Visit, fields: AuditFields) =>
  await searchEvents(visit.door.platform, readSearch(fields), listPart(visit, list))

/** The filters that are set, for the address of the next part. */
const filled = (fields: AuditFields): Record<string, string> =>
  Object.fromEntries(auditFields.filter((name) => fields[name] !== '').map((name) => [name, fields[name]]))

type AuditPageProps = {
  readonly visit: Visit
  readonly fields: AuditFields
  readonly error: PlatformError | null
  readonly events: readonly DescribedEvent[]
  readonly moreHref: string | null
}

const AuditPage = ({ visit, fields, error, events, moreHref }: AuditPageProps) => (
  <DeskPage title="Audit log" visit={visit} tab={deskPaths.audit}>
    <Problem error={error} />
    <AuditFilterForm fields={fields} error={error} />
    <p class="muted">
      {fields.request === ''
        ? 'Newest first. The log includes issued tokens.'
        : 'All events of this request, in order.'}
    </p>
    {events.length === 0 ? <p>{emptyWords(error, moreHref)}</p> : <EventTable events={events} />}
    <Older href={moreHref} name={moreName(fields, events)} />
  </DeskPage>
)

/** A search reads a limited number of rows at a time, so it can find nothing in a part of the log. */
const emptyWords = (error: PlatformError | null, moreHref: string | null): string => {
  if (error !== null) return 'Check the filter.'
  return moreHref === null ? 'No event matches.' : 'No match so far.'
}

const moreName = ({ request }: AuditFields, events: readonly DescribedEvent[]): string => {
  if (events.length === 0) return 'Continue the search'
  return request === '' ? 'Older events' : 'Later events'
}

const EventTable = ({ events }: { readonly events: readonly DescribedEvent[] }) => (
  <Table label="Events" class="events" columns={['Time', 'Action', 'Actor', 'App', 'Target']}>
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
      <a href={auditPath({ request: event.requestId })} title={`All events of request ${event.requestId}`}>
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
        <a href={deskAppPath(event.app)}>
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
