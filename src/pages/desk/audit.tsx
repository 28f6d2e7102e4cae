import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { type DescribedEvent, describeEvents } from '../../operations/audit/lists.ts'
import { searchEvents } from '../../operations/audit/search-events.ts'
import { Badge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { Pager } from '../design/list-tools.tsx'
import { type Columns, Table } from '../design/table.tsx'
import { Lines, Time } from '../design/values.tsx'
import { outcomeOf } from '../form.ts'
import { page } from '../page.ts'
import { emptyPart, type ListPart, readList } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { type AuditFields, auditFieldsOf, AuditFilterForm, readSearch } from './audit-filter.tsx'
import { AppLink, auditPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'

/** The audit log with its filters. */
export const auditRoutes = (door: Door) =>
  new Elysia().get(deskPaths.audit, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const fields = auditFieldsOf(visit)
    const outcome = await outcomeOf(search(visit, fields))
    const error = outcome.kind === 'done' ? null : outcome.error
    const events = outcome.kind === 'done' ? outcome.value : emptyPart
    const { rows, olderHref } = events
    return page(
      <DeskPage title="Audit log" visit={visit} tab={deskPaths.audit}>
        <Problem error={error} />
        <AuditFilterForm fields={fields} error={error} />
        <p class="muted">
          {fields.request === ''
            ? 'Newest first. The log includes issued tokens.'
            : 'All events of this request, in order.'}
        </p>
        <Table label="Events" class="events" rows={rows} columns={columns} empty={emptyWords(error, olderHref)} />
        <Pager {...events} shown={rows.length} />
      </DeskPage>,
      { refusal: error },
    )
  })

const search = async (visit: Visit, fields: AuditFields): Promise<ListPart<DescribedEvent>> => {
  const { platform } = visit.door
  const place = { list: 'desk-audit', path: deskPaths.audit, query: fields }
  return await readList(visit, place, async (part) => {
    const found = await searchEvents(platform, readSearch(fields), part)
    return { ...found, data: await describeEvents(platform, found.data) }
  })
}

/** A search reads a limited number of rows at a time, so it can find nothing in a part of the log. */
const emptyWords = (error: PlatformError | null, moreHref: string | null): string => {
  if (error !== null) return 'Check the filter.'
  return moreHref === null ? 'No event matches.' : 'No match so far.'
}

const columns: Columns<DescribedEvent> = {
  Time: ({ at, requestId }) => <Lines of={[<Time at={at} />, <RequestLink id={requestId} />]} />,
  Action: ({ action, outcome, reason }) => (
    <Lines
      of={[
        <code>{action}</code>,
        outcome === 'done' ? null : <Badge tone="bad">{`Refused: ${reason ?? 'no reason'}`}</Badge>,
      ]}
    />
  ),
  Actor: (event) => <Lines of={[<Actor event={event} />, <small>{event.address}</small>]} />,
  App: ({ app, environment }) => (
    <Lines of={[app && <AppLink slug={app} />, environment && <small>{environment}</small>]} />
  ),
  Target: ({ target, detail }) => <Lines of={[target && <code>{target}</code>, detail && <code>{detail}</code>]} />,
}

const RequestLink = ({ id }: { readonly id: string }) => (
  <a href={auditPath({ request: id })} title={`All events of request ${id}`}>
    <small>Request …{id.slice(-6)}</small>
  </a>
)

const Actor = ({ event: { actorKind, actorId, actorEmail } }: { readonly event: DescribedEvent }) => (
  <>
    {actorKind}{' '}
    {actorId === null ? null : actorEmail === null ? (
      <a href={auditPath({ actor: actorId })}>
        <code>{actorId}</code>
      </a>
    ) : (
      <a href={userPath(actorId)}>
        <bdi>{actorEmail}</bdi>
      </a>
    )}
  </>
)
