import { Elysia } from 'elysia'
import { bytesInWords } from '../../domain/text.ts'
import { versionStatuses } from '../../domain/version.ts'
import type { Door } from '../../http/door.ts'
import { artifactUse } from '../../operations/artifacts/store-artifact.ts'
import { listRollbacks, listVersionSummaries } from '../../operations/versions/lists.ts'
import { Badge, EnvironmentBadge, VersionStatusBadge, versionStatusWords } from '../design/badge.tsx'
import { Filter } from '../design/list-tools.tsx'
import { Older, Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { choiceParameter, readList } from '../query.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The versions of an app. */
export const appVersionsRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/versions', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const status = choiceParameter(request, 'status', versionStatuses)
    const place = { list: 'versions', path: consoleAppPath(slug, 'versions'), query: { status: status ?? '' } }
    const versions = await readList(visit, place, (part) => listVersionSummaries(door.platform, app.id, status, part))
    const artifacts = await artifactUse(door.platform, app.id)
    return page(
      <OwnAppPage visit={visit} app={app} tab="versions" title="Versions">
        <p>
          Upload versions with development credentials, through the API or the command line. See also the{' '}
          <a href={consoleAppPath(app.slug, 'rollbacks')}>list of rollbacks</a>.
        </p>
        <p>
          The artifacts use {bytesInWords(artifacts.bytes)} of {bytesInWords(artifacts.allowedBytes)}.
        </p>
        <Filter
          path={place.path}
          name="status"
          label="Status"
          all="All"
          options={versionStatuses.map((value) => [value, versionStatusWords[value][1]] as const)}
          selected={status}
        />
        <Table
          label="Versions"
          rows={versions.rows}
          rowHeader="Version"
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
          empty={status === null ? <HowToUpload /> : 'No version has this status.'}
        />
        <Older href={versions.olderHref} name="Older versions" />
      </OwnAppPage>,
    )
  })

const HowToUpload = () => (
  <>
    No version has been uploaded yet. To upload one, call <code>POST /api/app-platform/versions</code> with a token of
    your development credentials. It stays a draft until you submit it here.
  </>
)

/** Every rollback of an app. */
export const rollbackRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/rollbacks', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const place = { list: 'rollbacks', path: consoleAppPath(slug, 'rollbacks') }
    const rollbacks = await readList(visit, place, (part) => listRollbacks(door.platform, app.id, part))
    return page(
      <OwnAppPage visit={visit} app={app} tab="versions" title="Rollbacks">
        <p>
          Every rollback of this app. Rows are added and never changed. In development a rollback moves the development
          head. In production it makes a version live again. To roll back, call{' '}
          <code>POST /api/app-platform/versions/rollback</code>.
        </p>
        <p>
          <a href={consoleAppPath(app.slug, 'versions')}>Back to the versions</a>
        </p>
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
          empty="No rollbacks yet."
        />
        <Older href={rollbacks.olderHref} name="Older rollbacks" />
      </OwnAppPage>,
    )
  })
