import { turn } from '../domain/awaitable.ts'
import type { AuditEvent } from '../../db/database.ts'
import type { Actor, AuditFacts } from './audit/event.ts'
import {
  type AppEvent,
  listAppEvents,
  type AppEventSearch,
  type AuditSearch,
  searchEvents,
} from './audit/read-audit.ts'
import { type Names, namesOf } from './audit/names.ts'
import { decide } from './decide.ts'
import type { AppInstallFilter } from '../../db/database.ts'
import {
  type AppInstall,
  type DescribedInstall,
  type InstallSearch,
  listAppInstalls,
  searchInstalls,
} from './installs/lists.ts'
import type { ListPage, PageRequest, TimeOrder } from './page.ts'
import type { Platform, Trace } from './platform.ts'

/** Rows that are in memory at once. */
const rowsAtOnce = 500

/** What an export gives, page by page, so that its size does not matter. */
type Exported<Row> = AsyncGenerator<readonly Row[]>
type ExportedEvents<Event> = AsyncGenerator<{ readonly events: readonly Event[]; readonly names: Names }>

/**
 * The audit events that match. The export leaves an audit event, in which only the names of the filters are told.
 * @throws invalid_request as `searchEvents`, before anything is given
 */
export const exportEvents = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  search: AuditSearch,
): Promise<ExportedEvents<AuditEvent>> => {
  const read = async (page: PageRequest) => await searchEvents(platform, search, page)
  const pages = everyPage(read, await read(firstPage))
  await recordExport(platform, trace, actor, { action: 'audit.exported', detail: { filters: filtersIn(search) } })
  return withNames(platform, pages, 'operators')
}

/** The events of one app that match, as its members see them. */
export const exportAppEvents = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { app, search }: { readonly app: ExportedApp; readonly search: AppEventSearch },
): Promise<ExportedEvents<AppEvent>> => {
  const reader = { app, userId: 'id' in actor ? actor.id : '' }
  const read = async (page: PageRequest) => await listAppEvents(platform, reader, search, page)
  const pages = everyPage(read, await read(firstPage))
  const detail = { filters: filtersIn(search) }
  await recordExport(platform, trace, actor, { action: 'audit.exported', appId: app.id, target: app.id, detail })
  return withNames(platform, pages, 'members')
}

/** The installs that match. @throws invalid_request as `searchInstalls`, before anything is given */
export const exportInstalls = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  search: InstallSearch,
  order: TimeOrder,
): Promise<Exported<DescribedInstall>> => {
  const read = async (page: PageRequest) => await searchInstalls(platform, search, order, page)
  const pages = everyPage(read, await read(firstPage))
  await recordExport(platform, trace, actor, { action: 'installs.exported', detail: { filters: filtersIn(search) } })
  return pages
}

/** The installs of one app that match, as its members see them. */
export const exportAppInstalls = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { app, filter, order }: { readonly app: ExportedApp; readonly filter: AppInstallFilter; readonly order: TimeOrder },
): Promise<Exported<AppInstall>> => {
  const read = async (page: PageRequest) => await listAppInstalls(platform, app.id, filter, page, order)
  const pages = everyPage(read, await read(firstPage))
  const detail = { filters: filtersIn(filter) }
  await recordExport(platform, trace, actor, { action: 'installs.exported', appId: app.id, target: app.id, detail })
  return pages
}

type ExportedApp = { readonly id: string; readonly ownerId: string }

const firstPage = { limit: rowsAtOnce, cursor: null } as const

async function* everyPage<Row>(
  read: (page: PageRequest) => Promise<ListPage<Row>>,
  first: ListPage<Row>,
): Exported<Row> {
  let page = first
  yield page.data
  while (page.nextCursor !== null) {
    await turn()
    page = await read({ limit: rowsAtOnce, cursor: page.nextCursor })
    yield page.data
  }
}

async function* withNames<Event extends AuditEvent | AppEvent>(
  platform: Platform,
  pages: Exported<Event>,
  reader: 'operators' | 'members',
): ExportedEvents<Event> {
  for await (const events of pages) yield { events, names: await namesOf(platform, events, reader) }
}

const filtersIn = (search: object): readonly string[] =>
  Object.entries(search).flatMap(([name, value]) => (value === null || value === '' || name === 'order' ? [] : [name]))

const recordExport = async (platform: Platform, trace: Trace, actor: Actor, facts: Omit<AuditFacts, 'actor'>) =>
  await decide(platform, trace, { actor }, async ({ record }) => await record(facts))
