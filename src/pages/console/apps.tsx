import { Elysia } from 'elysia'
import { soughtPart } from '../../domain/entered-name.ts'
import type { Door } from '../../http/door.ts'
import { listOwnApps, type OwnAppSummary } from '../../operations/apps/lists.ts'
import { pageInMemory } from '../../operations/page.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge } from '../design/badge.tsx'
import { EmptyState } from '../design/empty.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Layout } from '../design/shell.tsx'
import { page } from '../page.ts'
import { choiceParameter, keysOf, parameterOf, readList, sortOf, timeOrders } from '../query.ts'
import { requireVisit } from '../visit.ts'
import { offerWords } from '../words.ts'
import { consoleAppPath, consolePath, newAppPath } from './own-app.tsx'

const statuses = [
  ['active', 'Active'],
  ['suspended', 'Suspended'],
] as const
const notices = {
  left: 'You are no longer a member of that app.',
  deleted: 'The app is deleted. An operator can restore it for 7 days.',
} as const

const orders = [['name', 'Name'], ...timeOrders] as const

/** The list of a developer's own apps. It is short, so it is filtered and sorted in memory. */
export const ownAppsRoutes = (door: Door) =>
  new Elysia().get(consolePath, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const part = soughtPart(parameterOf(visit, 'q'))
    const status = choiceParameter(request, 'status', keysOf(statuses))
    const { order, sort } = sortOf(request, orders, 'name')
    const all = await listOwnApps(door.platform, visit.userId)
    const found = all
      .filter((app) => hasPart(app, part.toLowerCase()) && (status === null || app.status === status))
      .toSorted(comparisons[order])
    const query = { q: part, status: status ?? '', sort }
    const place = { list: `own-apps-${order}`, path: consolePath, query }
    const apps = await readList(visit, place, async (window) => pageInMemory(found, window, ({ slug }) => slug))
    return page(
      <Layout
        title="Your apps"
        belongsTo="Console"
        visit={visit}
        section="console"
        notices={notices}
        about={`${all.filter(({ isPublisher }) => isPublisher).length} of ${door.platform.quotas.apps} apps`}
        actions={
          <a href={newAppPath} class="button primary">
            Create an app
          </a>
        }
      >
        {all.length === 0 ? null : (
          <FilterBar
            path={consolePath}
            fields={[
              { kind: 'search', name: 'q', label: 'Name or slug', value: part },
              { kind: 'choice', name: 'status', label: 'Status', all: 'All', options: statuses, selected: status },
              { kind: 'choice', name: 'sort', label: 'Order', options: orders, selected: order, usual: 'name' },
            ]}
          />
        )}
        <RowList
          label="Your apps"
          rows={apps.rows}
          row={(app) => <OwnAppRow app={app} />}
          empty={noMatch(apps, all.length > 0, <NoApps />)}
        />
        <Pager {...apps} shown={apps.rows.length} total={found.length} />
      </Layout>,
    )
  })

const hasPart = ({ name, slug }: OwnAppSummary, part: string): boolean =>
  name.toLowerCase().includes(part) || slug.includes(part)

const comparisons = {
  name: (a: OwnAppSummary, b: OwnAppSummary) =>
    a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.slug < b.slug ? -1 : 1),
  newest: (a: OwnAppSummary, b: OwnAppSummary) => b.createdAt - a.createdAt || (a.slug < b.slug ? -1 : 1),
  oldest: (a: OwnAppSummary, b: OwnAppSummary) => a.createdAt - b.createdAt || (a.slug < b.slug ? -1 : 1),
} as const

const NoApps = () => (
  <EmptyState title="You have no apps yet">
    An app has its own client IDs and secrets, asks users for consent, and is released in versions. Registering an app
    and making its first call takes a minute.
  </EmptyState>
)

const OwnAppRow = ({ app }: { readonly app: OwnAppSummary }) => (
  <Row
    href={consoleAppPath(app.slug)}
    avatar={<Avatar id={app.id} name={app.name} />}
    title={<bdi>{app.name}</bdi>}
    badge={<AppStatusBadge status={app.status} />}
    facts={[
      <code>{app.slug}</code>,
      app.isPublisher ? null : `You are ${offerWords[app.role]}`,
      app.live === null ? 'Nothing live yet' : `Live: ${app.live}`,
      app.developmentHead === null ? null : `Development head: ${app.developmentHead}`,
    ]}
    time={['Created', app.createdAt]}
  />
)
