import { mayInApp } from '../../operations/acting-as.ts'
import { exportAppInstalls } from '../../operations/exports.ts'
import { type AppInstall, countAppInstalls, listAppInstalls } from '../../operations/installs/lists.ts'
import { type ParamsOf, routes } from '../change.tsx'
import { InstallStatusBadge } from '../design/badge.tsx'
import { ExportForm, FilterBar, isLong, noMatch, Pager, Segments, timeSort } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import {
  countOfSegment,
  installSegments,
  installTabs,
  resourceKindOptions,
  segmentStatus,
} from '../install-segments.ts'
import { choice, list, listRoutes, order, tabs, timeOrders, type ListValues } from '../list.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { resourceKindWords } from '../words.ts'
import { appFor, AppPage, type AppVisit } from './app-area.tsx'

const appInstalls = list('app-installs', '/console/:slug/installs', {
  status: tabs('Status', installTabs),
  kind: choice('Installed on', resourceKindOptions),
  sort: order(timeOrders),
})

const filterOf = ({ status, kind }: ListValues<typeof appInstalls.fields>, { environment }: AppVisit) => ({
  status: segmentStatus(status),
  kind,
  environment,
})

const mayView = ({ slug }: AtSlug) => mayInApp(slug, 'view')

type AtSlug = ParamsOf<typeof appInstalls.path>

/** The installs of an app. Those of a suspended one can be exported too. */
export const appInstallRoutes = routes(() => [
  listRoutes(appInstalls, {
    by: 'user',
    show,
    csv: {
      name: ({ slug }) => `${slug}-installs`,
      may: mayView,
      rows: async (visit, values, at) => {
        const found = await appFor(visit, at.slug)
        const input = { app: found.app, filter: filterOf(values, found), order: values.sort }
        return await visit.as(mayView(at)).do(exportAppInstalls, input)
      },
      columns,
    },
  }),
])

const columns = {
  id: ({ id }: AppInstall) => id,
  kind: ({ kind }: AppInstall) => kind,
  environment: ({ environment }: AppInstall) => environment,
  approval: ({ approval }: AppInstall) => approval,
  state: ({ state }: AppInstall) => state,
  requested: ({ createdAt }: AppInstall) => new Date(createdAt).toISOString(),
  changed: ({ updatedAt }: AppInstall) => new Date(updatedAt).toISOString(),
} as const

const show = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const { platform } = visit.door
  const at = await appFor(visit, slug)
  const { app } = at
  const asked = appInstalls.read(visit, { slug })
  const { status, sort } = asked.values
  const filter = filterOf(asked.values, at)
  const installs = await asked.rows((part) => listAppInstalls(platform, app.id, filter, part, sort))
  const counts = await countAppInstalls(platform, app.id, filter)
  return page(
    <AppPage at={at} tab="installs" title="Installs" switches>
      <p>
        Where your app is installed. While an install is active, your app can list the websites and stores that it
        covers. It learns who a user is only when that user consents.
      </p>
      {at.environment === 'production' || app.developmentVersionId === null || app.status !== 'active' ? null : (
        <p>
          To try an unpublished version, <a href={`/apps/${app.slug}/test`}>install your development head</a> on a
          website or store of your own.
        </p>
      )}
      <Segments label="Status" links={installSegments(counts, asked)} />
      <FilterBar of={asked} isShown={isLong(installs)} />
      <Table
        label="Installs"
        rows={installs.rows}
        rowHeader="Install"
        sort={{ Requested: timeSort(asked) }}
        columns={{
          Install: ({ id }) => <code class="small">{id}</code>,
          'Installed on': ({ kind }) => resourceKindWords[kind],
          Status: (install) => <InstallStatusBadge install={install} />,
          Requested: ({ createdAt }) => <Time at={createdAt} />,
          'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
        }}
        empty={noMatch(installs, `No installs in ${at.environment} yet.`)}
      />
      <Pager of={installs} total={countOfSegment(counts, status)} />
      <ExportForm visit={visit} of={asked} part={installs} what="installs" />
    </AppPage>,
  )
}
