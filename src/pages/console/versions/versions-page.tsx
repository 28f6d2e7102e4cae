import { bytesInWords } from '../../../domain/text.ts'
import { type VersionStatus, versionStatuses } from '../../../domain/version.ts'
import type { VersionSummary } from '../../../operations/versions/lists.ts'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { VersionStatusBadge, versionStatusWords } from '../../components/badges.tsx'
import { AppPage } from '../components/app-page.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { HeadBadge } from './head-badge.tsx'

type VersionsPageProps = OwnApp & {
  readonly versions: readonly VersionSummary[]
  /** The status that the list is narrowed to; null for all. */
  readonly status: VersionStatus | null
  readonly older: string | null
  /** What the artifacts of all versions take, and may take. */
  readonly artifacts: { readonly bytes: number; readonly allowedBytes: number }
}

export const VersionsPage = ({ visit, app, versions, status, older, artifacts }: VersionsPageProps) => (
  <AppPage visit={visit} app={app} tab="versions" title="Versions">
    <p>
      Versions are uploaded with development credentials, by the API or the command line. The{' '}
      <a href={appPath(app.slug, 'rollbacks')}>ledger of rollbacks</a> tells when one took the place of another.
    </p>
    <p>
      The artifacts take {bytesInWords(artifacts.bytes)} of {bytesInWords(artifacts.allowedBytes)}.
    </p>
    <StatusFilter slug={app.slug} status={status} />
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
  </AppPage>
)

const VersionRow = ({ app, version }: Pick<OwnApp, 'app'> & { readonly version: VersionSummary }) => (
  <tr>
    <th scope="row">
      <a href={appPath(app.slug, 'versions', version.version)}>{version.version}</a>
    </th>
    <td>
      <VersionStatusBadge status={version.status} /> <HeadBadge isHead={app.developmentVersionId === version.id} />
    </td>
    <td>
      <Time at={version.createdAt} />
    </td>
    <td>
      <Time at={version.updatedAt} />
    </td>
  </tr>
)

type StatusFilterProps = { readonly slug: string; readonly status: VersionStatus | null }

const StatusFilter = ({ slug, status }: StatusFilterProps) => (
  <form method="get" action={appPath(slug, 'versions')} class="filter">
    <label for="status">Status</label>
    <select id="status" name="status">
      <option value="" selected={status === null}>
        All
      </option>
      {versionStatuses.map((value) => (
        <option key={value} value={value} selected={value === status}>
          {versionStatusWords[value][1]}
        </option>
      ))}
    </select>
    <button type="submit" class="outline">
      Show
    </button>
  </form>
)

const NoVersions = ({ status }: { readonly status: VersionStatus | null }) =>
  status === null ? (
    <p>
      No version was uploaded yet. <code>POST /api/app-platform/versions</code> with a token of your development
      credentials uploads one; it is a draft until you submit it here.
    </p>
  ) : (
    <p class="muted">No version has this status.</p>
  )
