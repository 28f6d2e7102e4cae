import { Elysia } from 'elysia'
import { environments } from '../../domain/app.ts'
import { bytesInWords } from '../../domain/text.ts'
import { versionStatuses } from '../../domain/version.ts'
import type { Door } from '../../http/door.ts'
import { artifactUse } from '../../operations/artifacts/artifacts.ts'
import {
  countVersions,
  listLiveChanges,
  listRollbacks,
  listVersionSummaries,
  type LiveChange,
} from '../../operations/versions/lists.ts'
import { Badge, EnvironmentBadge, environmentNames, VersionStatusBadge, versionStatusWords } from '../design/badge.tsx'
import { EmptyState } from '../design/empty.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { choiceParameter, listPath, parameterOf, readList } from '../query.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The versions of an app. */
export const appVersionsRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/versions', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const status = choiceParameter(request, 'status', versionStatuses)
    const isOldestFirst = choiceParameter(request, 'sort', ['oldest']) !== null
    const part = parameterOf(visit, 'q')
    const question = { status, part, order: isOldestFirst ? 'ascending' : 'descending' } as const
    const path = consoleAppPath(slug, 'versions')
    const query = { q: part, status: status ?? '', sort: isOldestFirst ? 'oldest' : '' }
    const place = { list: isOldestFirst ? 'versions-oldest' : 'versions', path, query }
    const versions = await readList(visit, place, (page) => listVersionSummaries(door.platform, app.id, question, page))
    const total = await countVersions(door.platform, app.id, question)
    const artifacts = await artifactUse(door.platform, app.id)
    const isEmpty = versions.rows.length === 0 && status === null && part === ''
    return page(
      <OwnAppPage
        visit={visit}
        app={app}
        tab="versions"
        title="Versions"
        about={
          isEmpty
            ? undefined
            : `The artifacts use ${bytesInWords(artifacts.bytes)} of ${bytesInWords(artifacts.allowedBytes)}.`
        }
        actions={
          <>
            {isEmpty ? null : (
              <a class="button" href={consoleAppPath(app.slug, 'rollbacks')}>
                Rollbacks
              </a>
            )}
            <a class="button primary" href={consoleAppPath(app.slug, 'versions', 'new')}>
              Upload a version
            </a>
          </>
        }
      >
        <FilterBar
          isShown={!isEmpty}
          path={path}
          fields={[
            { kind: 'search', name: 'q', label: 'Version', value: part, maxLength: 100 },
            {
              kind: 'choice',
              name: 'status',
              label: 'Status',
              all: 'All',
              options: versionStatuses.map((value) => [value, versionStatusWords[value][1]] as const),
              selected: status,
            },
            {
              kind: 'choice',
              name: 'sort',
              label: 'Order',
              all: 'Newest first',
              options: [['oldest', 'Oldest first']],
              selected: query.sort,
            },
          ]}
        />
        <Table
          label="Versions"
          rows={versions.rows}
          rowHeader="Version"
          sort={{
            Created: {
              href: listPath(path, { ...query, sort: isOldestFirst ? '' : 'oldest' }),
              direction: isOldestFirst ? 'ascending' : 'descending',
            },
          }}
          columns={{
            Version: ({ version }) => <a href={consoleAppPath(app.slug, 'versions', version)}>{version}</a>,
            Status: ({ id, status }) => (
              <>
                <VersionStatusBadge status={status} />{' '}
                {app.developmentVersionId === id ? <Badge>Development head</Badge> : null}
              </>
            ),
            Created: ({ createdAt }) => <Time at={createdAt} />,
            'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
          }}
          empty={noMatch(versions, !isEmpty, <HowToUpload />)}
        />
        <Pager {...versions} shown={versions.rows.length} total={total} />
      </OwnAppPage>,
    )
  })

const HowToUpload = () => (
  <EmptyState title="No versions yet">
    Upload one here, or with the command line: <code>app-platform versions create</code>. It stays a draft until you
    submit it for review.
  </EmptyState>
)

const rollbackNotices = {
  production: 'Production is rolled back. Users get the other version now.',
  development: 'The development head has moved.',
} as const

/** Every rollback of an app. */
export const rollbackRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/rollbacks', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const environment = choiceParameter(request, 'environment', environments)
    const path = consoleAppPath(slug, 'rollbacks')
    const rollbacks = await readList(
      visit,
      { list: 'rollbacks', path, query: { environment: environment ?? '' } },
      (page) => listRollbacks(door.platform, app.id, page, environment),
    )
    return page(
      <OwnAppPage
        visit={visit}
        app={app}
        tab="versions"
        title="Rollbacks"
        notices={rollbackNotices}
        about="In development a rollback moves the development head. In production it makes a version live again."
        actions={
          <>
            <a class="button" href={livePath(app)}>
              What was live
            </a>
            <a class="button primary" href={consoleAppPath(app.slug, 'rollbacks', 'new')}>
              Roll back
            </a>
          </>
        }
      >
        <FilterBar
          path={path}
          fields={[
            {
              kind: 'choice',
              name: 'environment',
              label: 'Environment',
              all: 'Both',
              options: environments.map((value) => [value, environmentNames[value]] as const),
              selected: environment,
            },
          ]}
        />
        <Table
          label="Rollbacks"
          rows={rollbacks.rows}
          columns={{
            Time: ({ createdAt }) => <Time at={createdAt} />,
            Environment: ({ environment }) => <EnvironmentBadge environment={environment} />,
            From: ({ from }) => <a href={consoleAppPath(app.slug, 'versions', from)}>{from}</a>,
            To: ({ to }) => <a href={consoleAppPath(app.slug, 'versions', to)}>{to}</a>,
            Reason: ({ reason }) => <bdi>{reason ?? ''}</bdi>,
          }}
          empty={noMatch(rollbacks, environment !== null, 'No rollbacks yet.')}
        />
        <Pager {...rollbacks} shown={rollbacks.rows.length} />
      </OwnAppPage>,
    )
  })

/** The list of everything that was live. */
export const livePath = ({ slug }: Pick<OwnApp['app'], 'slug'>): string => consoleAppPath(slug, 'live')

/** From when to when each version was live in production. */
export const liveVersionsRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/live', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const place = { list: 'live-versions', path: livePath(app) }
    const changes = await readList(visit, place, (page) => listLiveChanges(door.platform, app.id, page))
    return page(
      <OwnAppPage
        visit={visit}
        app={app}
        tab="versions"
        title="What was live"
        about="From when to when each version was live in production, and why it was rolled back."
      >
        <LiveVersions app={app} changes={changes.rows} />
        <Pager {...changes} shown={changes.rows.length} />
      </OwnAppPage>,
    )
  })

/** What was live, newest first. A version that was rolled back has the reason that was given. */
export const LiveVersions = ({ app, changes }: Pick<OwnApp, 'app'> & { readonly changes: readonly LiveChange[] }) => (
  <Table
    label="What was live"
    rows={changes}
    rowHeader="Version"
    columns={{
      Version: ({ version }) => <a href={consoleAppPath(app.slug, 'versions', version)}>{version}</a>,
      From: ({ from }) => <Time at={from} />,
      Until: ({ until }) => <Time at={until} otherwise="It is live now" />,
      Then: ({ after, rollbackId }) =>
        after === null ? null : rollbackId === null ? `Replaced by ${after}` : `Rolled back to ${after}`,
      Reason: ({ reason }) => <bdi>{reason ?? ''}</bdi>,
    }}
    empty="No version has been live yet."
  />
)
