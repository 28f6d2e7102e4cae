import type { AppInstall } from '../../../operations/installs/lists.ts'
import { InstallStatusBadge } from '../../components/badges.tsx'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { resourceKindWords } from '../../words.ts'
import { AppPage } from '../components/app-page.tsx'
import type { OwnApp } from '../owner.ts'

type InstallsPageProps = OwnApp & { readonly installs: readonly AppInstall[]; readonly older: string | null }

export const InstallsPage = ({ visit, app, installs, older }: InstallsPageProps) => (
  <AppPage visit={visit} app={app} tab="installs" title="Installs">
    <p>
      Where your app is installed. Its users’ websites and stores can be listed while an install is active. Who
      installed it is told to your app by the users who consent, and by nobody else.
    </p>
    <p>
      To try what you have not published, <a href={`/apps/${app.slug}/test`}>install your development head</a> on a
      website or store of your own.
    </p>
    {installs.length === 0 ? (
      <p class="muted">Nobody has installed this app yet.</p>
    ) : (
      <Table label="Installs" columns={['Install', 'Installed on', 'Status', 'Asked for', 'Last changed']}>
        {installs.map((install) => (
          <InstallRow key={install.id} install={install} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older installs" />
  </AppPage>
)

const InstallRow = ({ install }: { readonly install: AppInstall }) => (
  <tr>
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
)
