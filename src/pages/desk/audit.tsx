import { isOperator } from '../../operations/acting-as.ts'
import { type Named, namesOf } from '../../operations/audit/names.ts'
import { type AuditSearch, searchEvents } from '../../operations/audit/read-audit.ts'
import { badInput } from '../../operations/decide.ts'
import { exportEvents } from '../../operations/exports.ts'
import { AuditEvents, groupsWith, outcomes } from '../audit-events.tsx'
import { choice, entry, list, listRoutes, type ListValues, order, periodFields, periodOf, timeOrders } from '../list.ts'
import { eventColumns, eventRows } from '../csv-download.ts'
import { Problem } from '../design/field.tsx'
import { ExportForm, FilterForm, noMatch, Pager } from '../design/list-tools.tsx'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { routes } from '../change.tsx'

/** The audit log. The events of one request are read as they happened. */
export const deskAudit = list(
  'desk-audit',
  deskPaths.audit,
  {
    app: entry('App', { placeholder: 'Slug', maxLength: 63 }),
    actor: entry('Actor', { placeholder: 'Email or ID' }),
    kind: choice(
      'Kind of actor',
      [
        ['user', 'User'],
        ['operator', 'Operator'],
        ['app', 'App'],
        ['system', 'Platform or builder'],
        ['anonymous', 'Unknown'],
      ],
      'Any',
    ),
    action: choice('Event', (action) => groupsWith(action, 'operators'), 'Any'),
    target: entry('About', { placeholder: 'ID', maxLength: 100 }),
    outcome: choice('Outcome', outcomes, 'Any'),
    request: entry('Request ID', { placeholder: 'req_…', maxLength: 100 }),
    ...periodFields,
    sort: order(timeOrders),
  },
  { usual: ({ request }) => ({ sort: request === '' ? 'newest' : 'oldest' }) },
)

type AuditFields = ListValues<typeof deskAudit.fields>

/** The search that the fields describe. Times are in UTC. @throws invalid_request, naming the field */
const searchOf = ({
  app,
  actor,
  kind,
  action,
  target,
  outcome,
  request,
  sort,
  ...period
}: AuditFields): AuditSearch => ({
  ...periodOf(period),
  order: sort,
  app: given(app),
  actorKind: kind,
  actor: given(actor),
  action,
  target: given(target),
  outcome,
  requestId: requestIdOf(request),
})

const given = (text: string): string | null => (text === '' ? null : text)

const requestIdOf = (text: string): string | null => {
  if (text === '') return null
  if (!/^req_[0-9a-f]{32}$/.test(text)) {
    throw badInput('request', 'A request ID is req_ followed by 32 of the characters 0-9 and a-f.')
  }
  return text
}

/** The audit log with its filters. */
export const auditRoutes = routes(() => [
  listRoutes(deskAudit, {
    by: 'operator',
    show,
    csv: {
      name: () => 'audit',
      may: () => isOperator,
      rows: async (visit, values) => eventRows(await visit.asOperator().do(exportEvents, searchOf(values))),
      columns: eventColumns,
    },
  }),
])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskAudit.read(visit)
  const events = await asked.found(async (part) => searchEvents(platform, searchOf(asked.values), part))
  const { refusal } = events
  const names = await namesOf(platform, events.rows, 'operators')
  return page(
    <DeskPage title="Audit log" visit={visit} tab={deskPaths.audit}>
      <Problem error={refusal} />
      <FilterForm of={asked} error={refusal} label="Events" />
      <p class="muted">
        {asked.values.request === '' ? 'The log includes issued tokens.' : 'All events of this request.'}
      </p>
      <AuditEvents
        byDay
        events={events.rows}
        names={names}
        hrefOf={deskHref}
        requestHref={(request) => deskAudit.to({ request })}
        now={platform.clock.now()}
        empty={noMatch(events)}
      />
      <Pager of={events} />
      <ExportForm visit={visit} of={asked} part={events} what="events" />
    </DeskPage>,
    { refusal },
  )
}

/** The page of the desk about something. */
const deskHref = (named: Named): string | null => {
  if (named.kind === 'user') return userPath(named.id)
  return named.kind === 'app' ? deskAppPath(named.slug) : null
}
