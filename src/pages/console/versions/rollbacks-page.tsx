import type { LedgerRow } from '../../../operations/versions/lists.ts'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type RollbacksPageProps = OwnApp & { readonly rollbacks: readonly LedgerRow[]; readonly older: string | null }

export const RollbacksPage = ({ visit, app, rollbacks, older }: RollbacksPageProps) => (
  <AppPage visit={visit} app={app} tab="versions" title="Rollbacks">
    <p>
      Every rollback that happened; rows are added here and never changed. In development a rollback moves the
      development head, in production it brings back a version that was live before.{' '}
      <code>POST /api/app-platform/versions/rollback</code> does it.
    </p>
    <p>
      <a href={appPath(app.slug, 'versions')}>Back to the versions</a>
    </p>
    {rollbacks.length === 0 ? (
      <p class="muted">There was no rollback.</p>
    ) : (
      <Table label="Rollbacks" columns={['When', 'Environment', 'From', 'To', 'Reason']}>
        {rollbacks.map((row) => (
          <RollbackRow key={row.id} slug={app.slug} row={row} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older rollbacks" />
  </AppPage>
)

const RollbackRow = ({ slug, row }: { readonly slug: string; readonly row: LedgerRow }) => (
  <tr>
    <td>
      <Time at={row.createdAt} />
    </td>
    <td>
      <EnvironmentBadge environment={row.environment} />
    </td>
    <td>
      <a href={appPath(slug, 'versions', row.from)}>{row.from}</a>
    </td>
    <td>
      <a href={appPath(slug, 'versions', row.to)}>{row.to}</a>
    </td>
    <td>
      <bdi>{row.reason ?? ''}</bdi>
    </td>
  </tr>
)
