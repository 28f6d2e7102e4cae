import type { PlatformError } from '../../../domain/errors.ts'
import type { OfferedApp, OwnInstall } from '../../../operations/installs/lists.ts'
import { AccountPage } from '../account-page.tsx'
import { Older } from '../../components/older.tsx'
import { Problem } from '../../components/problem.tsx'
import type { Visit } from '../../visit.ts'
import { InstallCard } from './install-card.tsx'
import { installsPath, livePath } from './paths.ts'
import { ScopeList } from './scope-list.tsx'

type List<T> = { readonly data: readonly T[]; readonly moreHref: string | null }
type InstallsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
  readonly installs: List<OwnInstall>
  readonly apps: List<OfferedApp>
}

/** What is installed, and what can be. */
export const InstallsPage = ({ visit, notice, error, installs, apps }: InstallsPageProps) => (
  <AccountPage title="Installs" visit={visit} path={installsPath} notice={notice}>
    <Problem error={error} />
    <h2>Your installs</h2>
    {installs.data.length === 0 ? (
      <p class="muted">You have installed nothing. Choose an app below.</p>
    ) : (
      <>
        <p>Ending an install works at once: from the next call on the app gets nothing through it any more.</p>
        <div class="cards">
          {installs.data.map((install) => (
            <InstallCard key={install.id} visit={visit} install={install} />
          ))}
        </div>
      </>
    )}
    <Older href={installs.moreHref} name="Older installs" />
    <h2>Apps you can install</h2>
    {apps.data.length === 0 ? (
      <p class="muted">There is no app to install yet. One appears here when its first version goes live.</p>
    ) : (
      <div class="cards">
        {apps.data.map((app) => (
          <AppCard key={app.slug} app={app} />
        ))}
      </div>
    )}
    <Older href={apps.moreHref} name="More apps" />
  </AccountPage>
)

const AppCard = ({ app }: { readonly app: OfferedApp }) => (
  <article>
    <h3>
      <bdi>{app.name}</bdi>
    </h3>
    <p class="muted">
      Published by <bdi>{app.publisher}</bdi>
    </p>
    <p>It may:</p>
    <ScopeList scopes={app.scopes} />
    <a class="button small outline" href={livePath(app.slug)}>
      Install
      <span class="unseen">
        {': '}
        <bdi>{app.name}</bdi>
      </span>
    </a>
  </article>
)
