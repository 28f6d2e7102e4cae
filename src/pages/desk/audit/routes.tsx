import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { describeEvents } from '../../../operations/audit/lists.ts'
import { searchEvents } from '../../../operations/audit/search-events.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { outcomeOf } from '../../outcome.ts'
import { page } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { deskPaths } from '../paths.ts'
import { AuditPage } from './audit-page.tsx'
import { type AuditFields, auditFields, auditFieldsOf, readSearch } from './read-search.ts'

const listed = 'desk-audit'

/** What happened, by whatever one knows of it. */
export const auditRoutes = (door: Door) =>
  new Elysia().use(operatorOnly(door)).get(deskPaths.audit, async ({ request }) => {
    const fields = auditFieldsOf(request)
    const outcome = await outcomeOf(find(door, request, fields))
    const error = outcome.kind === 'done' ? null : outcome.error
    const { data, nextCursor } = outcome.kind === 'done' ? outcome.value : { data: [], nextCursor: null }
    const events = await describeEvents(door.platform, data)
    const moreHref = olderPath(deskPaths.audit, listed, nextCursor, filled(fields))
    return page(
      <AuditPage visit={visitOf(request)} fields={fields} error={error} events={events} moreHref={moreHref} />,
      { refusal: error },
    )
  })

const find = async (door: Door, request: Request, fields: AuditFields) =>
  await searchEvents(door.platform, readSearch(fields), listingOf(listed, request))

/** The filters that are set, for the address of the next part. */
const filled = (fields: AuditFields): Record<string, string> =>
  Object.fromEntries(auditFields.filter((name) => fields[name] !== '').map((name) => [name, fields[name]]))
