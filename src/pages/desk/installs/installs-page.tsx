import type { PlatformError } from '../../../domain/errors.ts'
import type { DescribedInstall } from '../../../operations/installs/lists.ts'
import { InstallStatusBadge } from '../../components/badges.tsx'
import { Problem } from '../../components/form.tsx'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { resourceKindWords } from '../../words.ts'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { appPath, deskPaths } from '../paths.ts'
import { InstallCard } from './install-card.tsx'
import { StepForms } from './install-steps.tsx'

type List = { readonly installs: readonly DescribedInstall[]; readonly moreHref: string | null }
type InstallsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
  /** The app whose decided installs are shown; empty for all. */
  readonly app: string
  readonly pending: List
  readonly decided: List
}

export const InstallsPage = ({ visit, notice, error, app, pending, decided }: InstallsPageProps) => (
  <DeskPage title="Installs" visit={visit} tab={deskPaths.installs} notice={notice}>
    <Problem error={error} />
    <h2>Waiting for your decision</h2>
    {pending.installs.length === 0 ? (
      <p class="muted">Nothing waits for you. An install appears here when an app is added to a website or store.</p>
    ) : (
      <>
        <p>
          Approving lets the app work for this user at once. Rejecting is final for this install; the app can be
          installed anew.
        </p>
        <div class="cards">
          {pending.installs.map((install) => (
            <InstallCard key={install.id} visit={visit} install={install} />
          ))}
        </div>
      </>
    )}
    <Older href={pending.moreHref} name="More that wait" />
    <h2>Decided</h2>
    <AppFilter app={app} />
    {decided.installs.length === 0 ? (
      <p class="muted">
        {app === '' ? 'No install has been decided yet.' : 'No install of this app has been decided.'}
      </p>
    ) : (
      <>
        <p>
          Deactivating ends an install for good: from the next call on the app sees nothing of this user's any more.
        </p>
        <InstallTable visit={visit} installs={decided.installs} />
      </>
    )}
    <Older href={decided.moreHref} name="Older installs" />
  </DeskPage>
)

const AppFilter = ({ app }: { readonly app: string }) => (
  <search>
    <form method="get" action={deskPaths.installs} class="beside search">
      <label for="app" class="unseen">
        Slug of an app
      </label>
      <input type="search" id="app" name="app" value={app} placeholder="Slug of an app" maxLength={63} />
      <button type="submit" class="secondary">
        Show its installs
      </button>
      {app === '' ? null : <a href={deskPaths.installs}>Show all</a>}
    </form>
  </search>
)

type InstallTableProps = { readonly visit: Visit; readonly installs: readonly DescribedInstall[] }

const InstallTable = ({ visit, installs }: InstallTableProps) => (
  <Table label="Decided installs" columns={['App', 'Status', 'User', 'Installed on', 'Last changed', 'Action']}>
    {installs.map((install) => (
      <InstallRow key={install.id} visit={visit} install={install} />
    ))}
  </Table>
)

type InstallRowProps = { readonly visit: Visit; readonly install: DescribedInstall }

const InstallRow = ({ visit, install }: InstallRowProps) => (
  <tr>
    <td>
      <a href={appPath(install.app)}>
        <code>{install.app}</code>
      </a>
      <br />
      <small>
        <bdi>{install.appName}</bdi>
      </small>
    </td>
    <td>
      <InstallStatusBadge install={install} />
    </td>
    <td>
      <bdi>{install.user}</bdi>
    </td>
    <td>
      {resourceKindWords[install.kind]} <code>{install.resource}</code>
    </td>
    <td>
      <Time at={install.updatedAt} />
    </td>
    <td>
      <StepForms visit={visit} install={install} />
    </td>
  </tr>
)
