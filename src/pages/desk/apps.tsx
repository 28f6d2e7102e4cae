import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { countApps, type FoundApp, searchApps } from '../../operations/apps/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge } from '../design/badge.tsx'
import { EmptyState } from '../design/empty.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { page } from '../page.ts'
import { choiceParameter, keysOf, parameterOf, readList, sortOf, timeOrders } from '../query.ts'
import { requireOperator } from '../visit.ts'
import { deskAppPath, DeskPage, deskPaths } from './desk-page.tsx'

const statuses = [
  ['active', 'Active'],
  ['suspended', 'Suspended'],
  ['deleted', 'Deleted'],
] as const
const orders = [['slug', 'Slug'], ...timeOrders] as const

/** Every app, with a search. */
export const deskAppsRoutes = (door: Door) =>
  new Elysia().get(deskPaths.apps, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const path = deskPaths.apps
    const question = { part: parameterOf(visit, 'q'), status: choiceParameter(request, 'status', keysOf(statuses)) }
    const { order, sort } = sortOf(request, orders, 'slug')
    const query = { q: question.part, status: question.status ?? '', sort }
    const apps = await readList(visit, { list: `desk-apps-${order}`, path, query }, (window) =>
      searchApps(door.platform, question, order, window),
    )
    const total = await countApps(door.platform, question)
    const isFiltered = query.q !== '' || query.status !== ''
    return page(
      <DeskPage
        title="Apps"
        visit={visit}
        tab={path}
        actions={
          <a class="button" href={deskPaths.newApp}>
            Create an app
          </a>
        }
      >
        <FilterBar
          isShown={isFiltered || apps.rows.length > 0}
          path={path}
          fields={[
            { kind: 'search', name: 'q', label: 'Name or slug', value: question.part },
            { kind: 'choice', name: 'status', label: 'Status', all: 'All', options: statuses, selected: query.status },
            { kind: 'choice', name: 'sort', label: 'Order', options: orders, selected: order, usual: 'slug' },
          ]}
        />
        <RowList
          label="Apps"
          rows={apps.rows}
          row={(app) => <AppRow app={app} />}
          empty={noMatch(
            apps,
            isFiltered,
            <EmptyState title="No apps yet">
              Developers create apps in the console. You can create one for them.
            </EmptyState>,
          )}
        />
        <Pager {...apps} shown={apps.rows.length} total={total} />
      </DeskPage>,
    )
  })

const AppRow = ({ app }: { readonly app: FoundApp }) => (
  <Row
    href={deskAppPath(app.slug)}
    avatar={<Avatar id={app.id} name={app.name} />}
    title={<bdi>{app.name}</bdi>}
    facts={[<code>{app.slug}</code>, <bdi>{app.ownerEmail}</bdi>]}
    badge={<AppStatusBadge status={app.status} deletedAt={app.deletedAt} />}
    time={['Created', app.createdAt]}
  />
)
