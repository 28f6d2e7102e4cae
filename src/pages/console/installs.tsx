import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { countAppInstalls, listAppInstalls } from '../../operations/installs/lists.ts'
import { EnvironmentBadge, InstallStatusBadge } from '../design/badge.tsx'
import { ExportForm, FilterBar, noMatch, Pager, Segments } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { countOfSegment, installSegments, segmentNames, segmentStatus } from '../install-segments.ts'
import { page } from '../page.ts'
import { choiceParameter, keysOf, listPath, readList, sortOf, timeOrders } from '../query.ts'
import { resourceKindWords } from '../words.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'

const kinds = [
  ['site', 'Websites'],
  ['store', 'Stores'],
] as const

/** The search that the fields of an export describe. */
export const readAppInstallFilter = (fields: InstallFields) => ({
  kind: keysOf(kinds).find((kind) => kind === fields.kind) ?? null,
  status: segmentStatus(fields.status),
})

type InstallFields = Readonly<Partial<Record<'kind' | 'status', string | undefined>>>

/** The installs of an app. */
export const appInstallRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/installs', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const path = consoleAppPath(slug, 'installs')
    const kind = choiceParameter(request, 'kind', keysOf(kinds))
    const segment = choiceParameter(request, 'status', segmentNames) ?? 'all'
    const { order, sort } = sortOf(request, timeOrders, 'newest')
    const query = { status: segment === 'all' ? '' : segment, kind: kind ?? '', sort }
    const question = { status: segmentStatus(segment), kind }
    const installs = await readList(visit, { list: `app-installs-${order}`, path, query }, (part) =>
      listAppInstalls(door.platform, app.id, question, part, order),
    )
    const counts = await countAppInstalls(door.platform, app.id, kind)
    return page(
      <OwnAppPage visit={visit} app={app} tab="installs" title="Installs">
        <p>
          Where your app is installed. While an install is active, your app can list the websites and stores that it
          covers. It learns who a user is only when that user consents.
        </p>
        {app.developmentVersionId === null || app.status !== 'active' ? null : (
          <p>
            To try an unpublished version, <a href={`/apps/${app.slug}/test`}>install your development head</a> on a
            website or store of your own.
          </p>
        )}
        <Segments label="Status" links={installSegments(counts, segment, path, query)} />
        <FilterBar
          path={path}
          kept={{ status: query.status }}
          fields={[
            {
              kind: 'choice',
              name: 'kind',
              label: 'Installed on',
              all: 'All',
              options: kinds,
              selected: kind,
            },
            { kind: 'choice', name: 'sort', label: 'Order', options: timeOrders, selected: order, usual: 'newest' },
          ]}
        />
        <Table
          label="Installs"
          rows={installs.rows}
          rowHeader="Install"
          sort={{
            Requested: {
              href: listPath(path, { ...query, sort: order === 'newest' ? 'oldest' : '' }),
              direction: order === 'newest' ? 'descending' : 'ascending',
            },
          }}
          columns={{
            Install: ({ id }) => <code class="small">{id}</code>,
            'Installed on': ({ kind: place, environment }) => (
              <>
                {resourceKindWords[place]}{' '}
                {environment === 'development' ? <EnvironmentBadge environment={environment} /> : null}
              </>
            ),
            Status: (install) => <InstallStatusBadge install={install} />,
            Requested: ({ createdAt }) => <Time at={createdAt} />,
            'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
          }}
          empty={noMatch(installs, segment !== 'all' || kind !== null, 'No installs yet.')}
        />
        <Pager {...installs} shown={installs.rows.length} total={countOfSegment(counts, segment)} />
        <ExportForm
          visit={visit}
          action={`${path}/export`}
          fields={query}
          what="installs"
          shown={installs.rows.length}
        />
      </OwnAppPage>,
    )
  })
