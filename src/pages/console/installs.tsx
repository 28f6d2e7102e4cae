import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type AppInstall, listAppInstalls } from '../../operations/installs/lists.ts'
import { InstallStatusBadge } from '../components/badges.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { resourceKindWords } from '../words.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The name in its cursors. */
const list = 'app-installs'

/** The installs of an app. */
export const appInstallRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/installs', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const { data, nextCursor } = await listAppInstalls(door.platform, app.id, listPart(visit, list))
    const older = olderPath(consoleAppPath(slug, 'installs'), list, nextCursor)
    return page(<AppInstallsPage visit={visit} app={app} installs={data} older={older} />)
  })

type AppInstallsPageProps = OwnApp & { readonly installs: readonly AppInstall[]; readonly older: string | null }

const AppInstallsPage = ({ visit, app, installs, older }: AppInstallsPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="installs" title="Installs">
    <p>
      Where your app is installed. Your app can list its users’ websites and stores while an install is active. It
      learns who a user is only when that user consents.
    </p>
    <p>
      To try what you have not published, <a href={`/apps/${app.slug}/test`}>install your development head</a> on a
      website or store of your own.
    </p>
    {installs.length === 0 ? (
      <p class="muted">No installs yet.</p>
    ) : (
      <Table label="Installs" columns={['Install', 'Installed on', 'Status', 'Requested', 'Last changed']}>
        {installs.map((install) => (
          <tr key={install.id}>
            <th scope="row">
              <code class="small">{install.id}</code>
            </th>
            <td>{resourceKindWords[install.kind]}</td>
            <td>
              <InstallStatusBadge install={install} />
            </td>
            <td>
              <Time at={install.createdAt} />
            </td>
            <td>
              <Time at={install.updatedAt} />
            </td>
          </tr>
        ))}
      </Table>
    )}
    <Older href={older} name="Older installs" />
  </OwnAppPage>
)
