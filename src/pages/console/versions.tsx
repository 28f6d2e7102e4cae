import { Elysia } from 'elysia'
import { bytesInWords } from '../../domain/text.ts'
import { type VersionStatus, versionStatuses } from '../../domain/version.ts'
import type { Door } from '../../http/door.ts'
import { artifactUse } from '../../operations/artifacts/store-artifact.ts'
import { listVersionSummaries, type VersionSummary } from '../../operations/versions/lists.ts'
import { Badge, VersionStatusBadge, versionStatusWords } from '../components/badges.tsx'
import { Filter } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The name in its cursors. */
const list = 'versions'

/** The versions of an app. */
export const appVersionsRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/versions', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const status = statusOf(request)
    const { data, nextCursor } = await listVersionSummaries(door.platform, app.id, status, listPart(visit, list))
    const older = olderPath(consoleAppPath(slug, 'versions'), list, nextCursor, status === null ? {} : { status })
    const artifacts = await artifactUse(door.platform, app.id)
    return page(
      <VersionsPage visit={visit} app={app} versions={data} status={status} older={older} artifacts={artifacts} />,
    )
  })

/** The status to show; null, for all, when the parameter is empty or unknown. */
const statusOf = (request: Request): VersionStatus | null => {
  const asked = new URL(request.url).searchParams.get('status')
  return versionStatuses.find((status) => status === asked) ?? null
}

type VersionsPageProps = OwnApp & {
  readonly versions: readonly VersionSummary[]
  readonly status: VersionStatus | null
  readonly older: string | null
  /** The size of all artifacts together, and its limit. */
  readonly artifacts: { readonly bytes: number; readonly allowedBytes: number }
}

const VersionsPage = ({ visit, app, versions, status, older, artifacts }: VersionsPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="versions" title="Versions">
    <p>
      Upload versions with development credentials, through the API or the command line. See also the{' '}
      <a href={consoleAppPath(app.slug, 'rollbacks')}>list of rollbacks</a>.
    </p>
    <p>
      The artifacts use {bytesInWords(artifacts.bytes)} of {bytesInWords(artifacts.allowedBytes)}.
    </p>
    <Filter
      path={consoleAppPath(app.slug, 'versions')}
      name="status"
      label="Status"
      all="All"
      options={versionStatuses.map((value) => [value, versionStatusWords[value][1]] as const)}
      selected={status}
    />
    {versions.length === 0 ? (
      <NoVersions status={status} />
    ) : (
      <Table label="Versions" columns={['Version', 'Status', 'Created', 'Last changed']}>
        {versions.map((version) => (
          <VersionRow key={version.id} app={app} version={version} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older versions" />
  </OwnAppPage>
)

const VersionRow = ({ app, version }: Pick<OwnApp, 'app'> & { readonly version: VersionSummary }) => (
  <tr>
    <th scope="row">
      <a href={consoleAppPath(app.slug, 'versions', version.version)}>{version.version}</a>
    </th>
    <td>
      <VersionStatusBadge status={version.status} />{' '}
      {app.developmentVersionId === version.id ? <Badge>Development head</Badge> : null}
    </td>
    <td>
      <Time at={version.createdAt} />
    </td>
    <td>
      <Time at={version.updatedAt} />
    </td>
  </tr>
)

const NoVersions = ({ status }: { readonly status: VersionStatus | null }) =>
  status === null ? (
    <p>
      No version has been uploaded yet. To upload one, call <code>POST /api/app-platform/versions</code> with a token of
      your development credentials. It stays a draft until you submit it here.
    </p>
  ) : (
    <p class="muted">No version has this status.</p>
  )
