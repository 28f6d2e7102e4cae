import { bytesInWords } from '../../domain/text.ts'
import { versionStatuses } from '../../domain/version.ts'
import { artifactUse } from '../../operations/artifacts/artifacts.ts'
import {
  countVersions,
  listLiveChanges,
  listRollbacks,
  listVersionSummaries,
  type LiveChange,
} from '../../operations/versions/lists.ts'
import { type ParamsOf, routes } from '../change.tsx'
import { Badge, VersionStatusBadge, versionStatusWords } from '../design/badge.tsx'
import { EmptyState, FilterBar, isLong, noMatch, Pager, timeSort } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { appFor, AppPage, type AtApp } from './app-area.tsx'
import { draftRemoval } from './version.tsx'

const appVersions = list('versions', '/console/:slug/versions', {
  q: search('Version', { maxLength: 100 }),
  status: choice(
    'Status',
    versionStatuses.map((value) => [value, versionStatusWords[value][1]] as const),
  ),
  sort: order(timeOrders),
})

/** The versions of an app, its rollbacks, and from when to when each version was live in production. */
export const appVersionsRoutes = routes(() => [
  listRoutes(appVersions, { by: 'user', show: showVersions }),
  listRoutes(rollbackList, { by: 'user', show: showRollbacks }),
  listRoutes(liveVersions, { by: 'user', show: showLive }),
])

type AtSlug = ParamsOf<typeof appVersions.path>

const showVersions = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const { platform } = visit.door
  const at = await appFor(visit, slug)
  const { app } = at
  const asked = appVersions.read(visit, { slug })
  const { q: part, status, sort } = asked.values
  const question = { status, part, order: sort === 'newest' ? 'descending' : 'ascending' } as const
  const versions = await asked.rows((page) => listVersionSummaries(platform, app.id, question, page))
  const artifacts = await artifactUse(platform, app.id)
  const isEmpty = versions.rows.length === 0 && !versions.isFiltered
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="Versions"
      notices={draftRemoval.done}
      about={
        isEmpty
          ? undefined
          : `The artifacts use ${bytesInWords(artifacts.bytes)} of ${bytesInWords(artifacts.allowedBytes)}.`
      }
      actions={
        <>
          {isEmpty ? null : (
            <>
              <a class="button" href={at.path('rollbacks')}>
                Rollbacks
              </a>
              <a class="button" href={at.path('rollbacks', 'new')}>
                Roll back
              </a>
            </>
          )}
          <a class="button primary" href={at.path('versions', 'new')}>
            Upload a version
          </a>
        </>
      }
    >
      <FilterBar of={asked} isShown={isLong(versions)} />
      <Table
        label="Versions"
        rows={versions.rows}
        rowHeader="Version"
        sort={{ Created: timeSort(asked) }}
        columns={{
          Version: ({ version }) => <a href={at.path('versions', version)}>{version}</a>,
          Status: ({ id, status }) => (
            <>
              <VersionStatusBadge status={status} />{' '}
              {app.developmentVersionId === id ? <Badge>Development head</Badge> : null}
            </>
          ),
          Created: ({ createdAt }) => <Time at={createdAt} />,
          'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
        }}
        empty={noMatch(versions, <HowToUpload />)}
      />
      <Pager of={versions} total={await countVersions(platform, app.id, question)} />
    </AppPage>,
  )
}

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

const rollbackWords = {
  production: 'In production a rollback makes an earlier version live again.',
  development: 'In development a rollback moves the development head.',
} as const

const rollbackList = list('rollbacks', '/console/:slug/rollbacks', {})

/** Null for a draft that was removed. */
const VersionLink = ({ at, version }: AtApp & { readonly version: string | null }) =>
  version === null ? <span class="muted">a removed draft</span> : <a href={at.path('versions', version)}>{version}</a>

const showRollbacks = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const rollbacks = await rollbackList
    .read(visit, { slug })
    .rows((page) => listRollbacks(visit.door.platform, at.app.id, page, at.environment))
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="Rollbacks"
      switches
      notices={rollbackNotices}
      about={rollbackWords[at.environment]}
      actions={
        <>
          <a class="button" href={at.path('live')}>
            What was live
          </a>
          <a class="button primary" href={at.path('rollbacks', 'new')}>
            Roll back
          </a>
        </>
      }
    >
      <Table
        label="Rollbacks"
        rows={rollbacks.rows}
        columns={{
          Time: ({ createdAt }) => <Time at={createdAt} />,
          From: ({ from }) => <VersionLink at={at} version={from} />,
          To: ({ to }) => <VersionLink at={at} version={to} />,
          Reason: ({ reason }) => (reason === null ? null : <bdi>{reason}</bdi>),
        }}
        empty={noMatch(rollbacks, `No rollbacks in ${at.environment} yet.`)}
      />
      <Pager of={rollbacks} />
    </AppPage>,
  )
}

const liveVersions = list('live-versions', '/console/:slug/live', {})

const showLive = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { app } = at
  const changes = await liveVersions
    .read(visit, { slug })
    .rows((page) => listLiveChanges(visit.door.platform, app.id, page))
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="What was live"
      about="From when to when each version was live in production, and why it was rolled back."
    >
      <LiveVersions at={at} changes={changes.rows} />
      <Pager of={changes} />
    </AppPage>,
  )
}

/** What was live, newest first. A version that was rolled back has the reason that was given. */
export const LiveVersions = ({ at, changes }: AtApp & { readonly changes: readonly LiveChange[] }) => (
  <Table
    label="What was live"
    rows={changes}
    rowHeader="Version"
    columns={{
      Version: ({ version }) => <a href={at.path('versions', version)}>{version}</a>,
      From: ({ from }) => <Time at={from} />,
      Until: ({ until }) => <Time at={until} otherwise="It is live now" />,
      Then: ({ after, rollbackId }) =>
        after === null ? null : rollbackId === null ? `Replaced by ${after}` : `Rolled back to ${after}`,
      Reason: ({ reason }) => (reason === null ? null : <bdi>{reason}</bdi>),
    }}
    empty="No version has been live yet."
  />
)
