import type { AppInstall } from '../../../operations/installs/list-app-installs.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Scroll } from '../../components/scroll.tsx'
import { Time } from '../../components/time.tsx'
import { AppPage } from '../components/app-page.tsx'
import { Older } from '../components/older.tsx'
import type { OwnApp } from '../owner.ts'

type InstallsPageProps = OwnApp & { readonly installs: readonly AppInstall[]; readonly older: string | null }

export const InstallsPage = ({ visit, app, installs, older }: InstallsPageProps) => (
  <AppPage visit={visit} app={app} tab="installs" title="Installs">
    <p>
      Where your app is installed. Its users’ websites and stores can be listed while an install is approved and active.
      Who installed it is told to your app by the users who consent, and by nobody else.
    </p>
    {installs.length === 0 ? (
      <p class="muted">Nobody has installed this app yet.</p>
    ) : (
      <Scroll label="Installs">
        <table>
          <thead>
            <tr>
              <th scope="col">Install</th>
              <th scope="col">On a</th>
              <th scope="col">Approval</th>
              <th scope="col">State</th>
              <th scope="col">Since</th>
              <th scope="col">Last changed</th>
            </tr>
          </thead>
          <tbody>
            {installs.map((install) => (
              <InstallRow key={install.id} install={install} />
            ))}
          </tbody>
        </table>
      </Scroll>
    )}
    <Older href={older} />
  </AppPage>
)

const InstallRow = ({ install }: { readonly install: AppInstall }) => (
  <tr>
    <th scope="row">
      <code class="small">{install.id}</code>
    </th>
    <td>{kinds[install.kind]}</td>
    <td>
      <Badge tone={approvals[install.approval][0]}>{approvals[install.approval][1]}</Badge>
    </td>
    <td>
      <Badge tone={install.state === 'active' ? 'good' : 'plain'}>
        {install.state === 'active' ? 'Active' : 'Inactive'}
      </Badge>
    </td>
    <td>
      <Time at={install.createdAt} />
    </td>
    <td>
      <Time at={install.updatedAt} />
    </td>
  </tr>
)

const kinds = { site: 'Website', store: 'Store' } as const satisfies Record<AppInstall['kind'], string>
const approvals = {
  pending: ['waiting', 'Waiting'],
  approved: ['good', 'Approved'],
  rejected: ['bad', 'Rejected'],
  withdrawn: ['plain', 'Withdrawn'],
} as const satisfies Record<AppInstall['approval'], readonly [Tone, string]>
