import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listRollbacks } from '../../operations/versions/lists.ts'
import { EnvironmentBadge } from '../components/badges.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { readList } from '../query.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'

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
