import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import {
  type AppEvent,
  listAppEvents,
  type AppEventSearch,
  countEventsOfApp,
} from '../../operations/audit/read-audit.ts'
import { type Named, namesOf } from '../../operations/audit/names.ts'
import { AuditEvents, groupsWith } from '../audit-events.tsx'
import { periodOf } from '../audit-period.ts'
import { Problem } from '../design/field.tsx'
import { ExportForm, FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { outcomeOf } from '../form.ts'
import { page } from '../page.ts'
import {
  choiceParameter,
  emptyPart,
  keysOf,
  type ListPart,
  parameterOf,
  readList,
  sortOf,
  timeOrders,
} from '../query.ts'
import type { Visit } from '../visit.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

const outcomes = [
  ['done', 'Done'],
  ['refused', 'Refused'],
] as const

/** The filters of the trail as they were typed. */
const fieldsOf = (visit: Visit): TrailFields => ({
  action: parameterOf(visit, 'action'),
  outcome: choiceParameter(visit.call.request, 'outcome', keysOf(outcomes)) ?? '',
  since: parameterOf(visit, 'since'),
  until: parameterOf(visit, 'until'),
  sort: sortOf(visit.call.request, timeOrders, 'newest').sort,
})

type TrailFields = Readonly<Record<'action' | 'outcome' | 'since' | 'until' | 'sort', string>>

/** The search that the filters describe. @throws invalid_request, naming the filter */
export const readTrailSearch = ({ action, outcome, sort, ...period }: TrailFields): AppEventSearch => ({
  ...periodOf(period),
  order: sort === 'oldest' ? 'oldest' : 'newest',
  action: action === '' ? null : action,
  outcome: keysOf(outcomes).find((value) => value === outcome) ?? null,
})

/** The audit log of an app. */
export const appTrailRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/trail', async ({ request, params: { slug } }) => {
    const own = await requireOwnApp(door, request, slug)
    const { visit, app } = own
    const fields = fieldsOf(visit)
    const path = consoleAppPath(slug, 'trail')
    const outcome = await outcomeOf(search(own, path, fields))
    const error = outcome.kind === 'done' ? null : outcome.error
    const events = outcome.kind === 'done' ? outcome.value : emptyPart
    const total = error === null ? await countEventsOfApp(door.platform, app.id, readTrailSearch(fields)) : null
    const { id, name, email } = visit.session.user
    const others = await namesOf(door.platform, events.rows, 'members')
    const names = new Map([...others, [id, { kind: 'user', id, name, email }] as const])
    const isFiltered = Object.values({ ...fields, sort: '' }).some((value) => value !== '')
    return page(
      <OwnAppPage visit={visit} app={app} tab="trail" title="Audit log">
        <Problem error={error} />
        <p>
          Every change to this app, and every secret, code or token that was refused. Successful token requests are not
          listed, but each secret shows when it was last used. Events are never changed.
        </p>
        <FilterBar
          path={path}
          fields={[
            {
              kind: 'choice',
              name: 'action',
              label: 'Event',
              all: 'All',
              options: groupsWith(fields.action, 'members'),
              selected: fields.action,
            },
            {
              kind: 'choice',
              name: 'outcome',
              label: 'Outcome',
              all: 'Any',
              options: outcomes,
              selected: fields.outcome,
            },
            { kind: 'date', name: 'since', label: 'From (UTC)', value: fields.since },
            { kind: 'date', name: 'until', label: 'Before (UTC)', value: fields.until },
            {
              kind: 'choice',
              name: 'sort',
              label: 'Order',
              options: timeOrders,
              selected: fields.sort === '' ? 'newest' : fields.sort,
              usual: 'newest',
            },
          ]}
        />
        <AuditEvents
          events={events.rows}
          names={names}
          hrefOf={hrefIn(slug)}
          now={door.platform.clock.now()}
          empty={error === null ? noMatch(events, isFiltered, 'No events yet.') : null}
        />
        <Pager {...events} shown={events.rows.length} total={total} />
        <ExportForm visit={visit} action={`${path}/export`} fields={fields} what="events" shown={events.rows.length} />
      </OwnAppPage>,
      { refusal: error },
    )
  })

const search = async ({ visit, app }: OwnApp, path: string, fields: TrailFields): Promise<ListPart<AppEvent>> =>
  await readList(visit, { list: `app-trail-${fields.sort}`, path, query: fields }, (part) =>
    listAppEvents(visit.door.platform, { app, userId: visit.userId }, readTrailSearch(fields), part),
  )

/** The page of the console about something. */
const hrefIn =
  (slug: string) =>
  (named: Named): string | null => {
    if (named.kind === 'version') return consoleAppPath(slug, 'versions', named.name)
    return named.kind === 'endpoint' ? consoleAppPath(slug, 'webhooks', named.id) : null
  }
