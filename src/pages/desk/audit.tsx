import { Elysia } from 'elysia'
import type { AuditLine } from '../audit-words.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { type Named, namesOf } from '../../operations/audit/names.ts'
import { searchEvents } from '../../operations/audit/read-audit.ts'
import { AuditEvents } from '../audit-events.tsx'
import { Problem } from '../design/field.tsx'
import { ExportForm, Pager } from '../design/list-tools.tsx'
import { outcomeOf } from '../form.ts'
import { page } from '../page.ts'
import { emptyPart, type ListPart, readList } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { type AuditFields, auditFieldsOf, AuditFilterForm, orderOf, readSearch } from './audit-filter.tsx'
import { auditPath, deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'

/** The audit log with its filters. */
export const auditRoutes = (door: Door) =>
  new Elysia().get(deskPaths.audit, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const fields = auditFieldsOf(visit)
    const outcome = await outcomeOf(search(visit, fields))
    const error = outcome.kind === 'done' ? null : outcome.error
    const events = outcome.kind === 'done' ? outcome.value : emptyPart
    const names = await namesOf(door.platform, events.rows, 'operators')
    return page(
      <DeskPage title="Audit log" visit={visit} tab={deskPaths.audit}>
        <Problem error={error} />
        <AuditFilterForm fields={fields} error={error} />
        <p class="muted">{fields.request === '' ? 'The log includes issued tokens.' : 'All events of this request.'}</p>
        <AuditEvents
          events={events.rows}
          names={names}
          hrefOf={deskHref}
          requestHref={(request) => auditPath({ request })}
          now={door.platform.clock.now()}
          empty={emptyWords(error, events.olderHref)}
        />
        <Pager {...events} shown={events.rows.length} />
        <ExportForm
          visit={visit}
          action={`${deskPaths.audit}/export`}
          fields={fields}
          what="events"
          shown={events.rows.length}
        />
      </DeskPage>,
      { refusal: error },
    )
  })

const search = async (visit: Visit, fields: AuditFields): Promise<ListPart<AuditLine>> =>
  await readList(visit, { list: `desk-audit-${orderOf(fields)}`, path: deskPaths.audit, query: fields }, (part) =>
    searchEvents(visit.door.platform, readSearch(fields), part),
  )

/** A search reads a limited number of rows at a time, so it can find nothing in a part of the log. */
const emptyWords = (error: PlatformError | null, moreHref: string | null): string => {
  if (error !== null) return 'Correct the filter above to search.'
  return moreHref === null ? 'No event matches.' : 'No match so far.'
}

/** The page of the desk about something. */
const deskHref = (named: Named): string | null => {
  if (named.kind === 'user') return userPath(named.id)
  return named.kind === 'app' ? deskAppPath(named.slug) : null
}
