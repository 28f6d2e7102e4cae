import { turn } from '../domain/awaitable.ts'
import type { AuditEvent } from '../../db/database.ts'
import type { AuditAction } from '../domain/audit-action.ts'
import type { Actor } from './audit/event.ts'
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
import { type InstallSearch, listAppInstalls, searchInstalls } from './installs/lists.ts'
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
export const exportEvents = async (platform: Platform, trace: Trace, actor: Actor, search: AuditSearch) => {
  const read = async (page: PageRequest) => await searchEvents(platform, search, page)
  const about = { action: 'audit.exported', search } as const
  return withNames(platform, await exported(platform, trace, actor, read, about), 'operators')
}

/** The events of one app that match, as its members see them. */
export const exportAppEvents = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { app, search }: { readonly app: ExportedApp; readonly search: AppEventSearch },
) => {
  const reader = { app, userId: 'id' in actor ? actor.id : '' }
  const read = async (page: PageRequest) => await listAppEvents(platform, reader, search, page)
  const about = { action: 'audit.exported', search, app } as const
  return withNames(platform, await exported(platform, trace, actor, read, about), 'members')
}

/** The installs that match. @throws invalid_request as `searchInstalls`, before anything is given */
export const exportInstalls = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  search: InstallSearch,
  order: TimeOrder,
) => {
  const read = async (page: PageRequest) => await searchInstalls(platform, search, order, page)
  return await exported(platform, trace, actor, read, { action: 'installs.exported', search })
}

/** The installs of one app that match, as its members see them. */
export const exportAppInstalls = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { app, filter, order }: { readonly app: ExportedApp; readonly filter: AppInstallFilter; readonly order: TimeOrder },
) => {
  const read = async (page: PageRequest) => await listAppInstalls(platform, app.id, filter, page, order)
  return await exported(platform, trace, actor, read, { action: 'installs.exported', search: filter, app })
}

type ExportedApp = { readonly id: string; readonly ownerId: string }

type About = { readonly action: AuditAction; readonly search: object; readonly app?: ExportedApp }

/** The pages of a list, the first of which is read before the export is recorded. */
const exported = async <Row>(
  platform: Platform,
  trace: Trace,
  actor: Actor,
  read: (page: PageRequest) => Promise<ListPage<Row>>,
  { action, search, app }: About,
): Promise<Exported<Row>> => {
  const first = await read({ limit: rowsAtOnce, cursor: null })
  const filters = Object.keys(search).filter(
    (name) => name !== 'order' && ![null, ''].includes(Reflect.get(search, name)),
  )
  const of = app === undefined ? {} : { appId: app.id, target: app.id }
  await decide(platform, trace, { actor }, async ({ record }) => await record({ action, ...of, detail: { filters } }))
  return everyPage(read, first)
}

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
