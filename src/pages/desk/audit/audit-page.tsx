import type { PlatformError } from '../../../domain/errors.ts'
import type { DescribedEvent } from '../../../operations/audit/lists.ts'
import { Problem } from '../../components/form.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { Older } from '../../components/table.tsx'
import { deskPaths } from '../paths.ts'
import { AuditFilter } from './audit-filter.tsx'
import { EventTable } from './event-table.tsx'
import type { AuditFields } from './read-search.ts'

type AuditPageProps = {
  readonly visit: Visit
  readonly fields: AuditFields
  readonly error: PlatformError | null
  readonly events: readonly DescribedEvent[]
  readonly moreHref: string | null
}

export const AuditPage = ({ visit, fields, error, events, moreHref }: AuditPageProps) => (
  <DeskPage title="Audit log" visit={visit} tab={deskPaths.audit}>
    <Problem error={error} />
    <AuditFilter fields={fields} error={error} />
    <p class="muted">{fields.request === '' ? newestFirst : oneRequest}</p>
    {events.length === 0 ? <p>{emptyWords(error, moreHref)}</p> : <EventTable events={events} />}
    <Older href={moreHref} name={moreName(fields, events)} />
  </DeskPage>
)

const newestFirst = 'Newest first. Issued tokens are among the events.'
const oneRequest = 'What happened in this request, in order.'

const emptyWords = (error: PlatformError | null, moreHref: string | null): string => {
  if (error !== null) return 'Mend the filter to see events.'
  return moreHref === null ? 'No event matches.' : 'No event matches in the part that was searched.'
}

const moreName = ({ request }: AuditFields, events: readonly DescribedEvent[]): string => {
  if (events.length === 0) return 'Search on'
  return request === '' ? 'Older events' : 'Later events'
}
