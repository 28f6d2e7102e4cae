import { mayInApp } from '../../operations/acting-as.ts'
import { type AppEventSearch, countEventsOfApp, listAppEvents } from '../../operations/audit/read-audit.ts'
import { type Named, namesOf } from '../../operations/audit/names.ts'
import { exportAppEvents } from '../../operations/exports.ts'
import { AuditEvents, groupsWith, outcomes } from '../audit-events.tsx'
import { choice, list, listRoutes, type ListValues, order, periodFields, periodOf, timeOrders } from '../list.ts'
import { type ParamsOf, routes } from '../change.tsx'
import { eventColumns, eventRows } from '../csv-download.ts'
import { Problem } from '../design/field.tsx'
import { ExportForm, FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { appFor, AppPage, consoleAppPath } from './app-area.tsx'

const appTrail = list('app-trail', '/console/:slug/trail', {
  action: choice('Event', (action) => groupsWith(action, 'members')),
  outcome: choice('Outcome', outcomes, 'Any'),
  ...periodFields,
  sort: order(timeOrders),
})

/** The search that the fields describe. @throws invalid_request, naming the field */
const searchOf = ({ action, outcome, sort, ...period }: ListValues<typeof appTrail.fields>): AppEventSearch => ({
  ...periodOf(period),
  order: sort,
  action,
  outcome,
})

const mayView = ({ slug }: AtSlug) => mayInApp(slug, 'view')

type AtSlug = ParamsOf<typeof appTrail.path>

/** The audit log of an app. One that is suspended can be exported too. */
export const appTrailRoutes = routes(() => [
  listRoutes(appTrail, {
    by: 'user',
    show,
    csv: {
      name: ({ slug }) => `${slug}-audit`,
      may: mayView,
      rows: async (visit, values, at) => {
        const { app } = await appFor(visit, at.slug)
        const input = { app, search: searchOf(values) }
        return eventRows(await visit.as(mayView(at)).do(exportAppEvents, input))
      },
      columns: eventColumns,
    },
  }),
])

const show = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const { platform } = visit.door
  const at = await appFor(visit, slug)
  const { app } = at
  const asked = appTrail.read(visit, { slug })
  const events = await asked.found(async (part) =>
    listAppEvents(platform, { app, userId: visit.userId }, searchOf(asked.values), part),
  )
  const { refusal } = events
  const total = refusal === null ? await countEventsOfApp(platform, app.id, searchOf(asked.values)) : null
  const { id, name, email } = visit.session.user
  const others = await namesOf(platform, events.rows, 'members')
  const names = new Map([...others, [id, { kind: 'user', id, name, email }] as const])
  return page(
    <AppPage at={at} tab="trail" title="Audit log">
      <Problem error={refusal} />
      <p>
        Every change to this app, and every secret, code or token that was refused. Successful token requests are not
        listed, but each secret shows when it was last used. Events are never changed.
      </p>
      <FilterBar of={asked} />
      <AuditEvents
        byDay
        events={events.rows}
        names={names}
        hrefOf={hrefIn(slug)}
        pageOfApp={app.id}
        now={platform.clock.now()}
        empty={noMatch(events, 'No events yet.')}
      />
      <Pager of={events} total={total} />
      <ExportForm visit={visit} of={asked} part={events} what="events" />
    </AppPage>,
    { refusal },
  )
}

/** The page of the console about something. */
const hrefIn =
  (slug: string) =>
  (named: Named): string | null => {
    if (named.kind === 'version') return consoleAppPath(slug, 'versions', named.name)
    return named.kind === 'endpoint' ? consoleAppPath(slug, 'webhooks', named.id) : null
  }
