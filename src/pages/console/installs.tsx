import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listAppInstalls } from '../../operations/installs/lists.ts'
import { InstallStatusBadge } from '../design/badge.tsx'
import { Older, Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { readList } from '../query.ts'
import { resourceKindWords } from '../words.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The installs of an app. */
export const appInstallRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/installs', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const place = { list: 'app-installs', path: consoleAppPath(slug, 'installs') }
    const installs = await readList(visit, place, (part) => listAppInstalls(door.platform, app.id, part))
    return page(
      <OwnAppPage visit={visit} app={app} tab="installs" title="Installs">
        <p>
          Where your app is installed. Your app can list its users’ websites and stores while an install is active. It
          learns who a user is only when that user consents.
        </p>
        <p>
          To try what you have not published, <a href={`/apps/${app.slug}/test`}>install your development head</a> on a
          website or store of your own.
        </p>
        <Table
          label="Installs"
          rows={installs.rows}
          rowHeader="Install"
          columns={{
            Install: ({ id }) => <code class="small">{id}</code>,
            'Installed on': ({ kind }) => resourceKindWords[kind],
            Status: (install) => <InstallStatusBadge install={install} />,
            Requested: ({ createdAt }) => <Time at={createdAt} />,
            'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
          }}
          empty="No installs yet."
        />
        <Older href={installs.olderHref} name="Older installs" />
      </OwnAppPage>,
    )
  })
