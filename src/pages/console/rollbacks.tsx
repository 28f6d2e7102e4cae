import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type LedgerRow, listRollbacks } from '../../operations/versions/lists.ts'
import { EnvironmentBadge } from '../components/badges.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The name in its cursors. */
const list = 'rollbacks'

/** Every rollback of an app. */
export const rollbackRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/rollbacks', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const { data, nextCursor } = await listRollbacks(door.platform, app.id, listPart(visit, list))
    const older = olderPath(consoleAppPath(slug, 'rollbacks'), list, nextCursor)
    return page(<RollbacksPage visit={visit} app={app} rollbacks={data} older={older} />)
  })

type RollbacksPageProps = OwnApp & { readonly rollbacks: readonly LedgerRow[]; readonly older: string | null }

const RollbacksPage = ({ visit, app, rollbacks, older }: RollbacksPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="versions" title="Rollbacks">
    <p>
      Every rollback of this app. Rows are added and never changed. In development a rollback moves the development
      head. In production it makes a version live again. To roll back, call{' '}
      <code>POST /api/app-platform/versions/rollback</code>.
    </p>
    <p>
      <a href={consoleAppPath(app.slug, 'versions')}>Back to the versions</a>
    </p>
    {rollbacks.length === 0 ? (
      <p class="muted">No rollbacks yet.</p>
    ) : (
      <Table label="Rollbacks" columns={['Time', 'Environment', 'From', 'To', 'Reason']}>
        {rollbacks.map((row) => (
          <RollbackRow key={row.id} slug={app.slug} row={row} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older rollbacks" />
  </OwnAppPage>
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
      <a href={consoleAppPath(slug, 'versions', row.from)}>{row.from}</a>
    </td>
    <td>
      <a href={consoleAppPath(slug, 'versions', row.to)}>{row.to}</a>
    </td>
    <td>
      <bdi>{row.reason ?? ''}</bdi>
    </td>
  </tr>
)
