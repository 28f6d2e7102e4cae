import type { ConnectedApp } from '../../operations/grants/connected-apps.ts'
import { Form } from '../components/form.tsx'
import type { Visit } from '../visit.ts'
import { AccountPage } from './account-page.tsx'
import { AppBadges, AppFacts, ScopeWords } from './app-parts.tsx'
import { accountPaths, appPath, revokeAppPath } from './paths.ts'

type AppsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly apps: readonly ConnectedApp[]
}

export const AppsPage = ({ visit, notice, apps }: AppsPageProps) => (
  <AccountPage title="Connected apps" visit={visit} path={accountPaths.apps} notice={notice}>
    {apps.length === 0 ? <NoApps /> : <Apps visit={visit} apps={apps} />}
  </AccountPage>
)

const NoApps = () => (
  <p>
    No app can act for you. When an app asks to, you are shown exactly what it wants, and once you have allowed it, you
    can take that back here.
  </p>
)

const Apps = ({ visit, apps }: { readonly visit: Visit; readonly apps: readonly ConnectedApp[] }) => (
  <>
    <p>
      These apps can act for you, within what is listed and no more. Revoking works at once, on every device; the app
      can then do nothing unless you allow it again.
    </p>
    <div class="cards">
      {apps.map((app) => (
        <AppCard key={app.clientId} visit={visit} app={app} />
      ))}
    </div>
    {apps.length > 1 ? <RevokeAll visit={visit} /> : null}
  </>
)

const AppCard = ({ visit, app }: { readonly visit: Visit; readonly app: ConnectedApp }) => (
  <article>
    <h2>
      <a href={appPath(app.clientId)}>
        <bdi>{app.name}</bdi>
      </a>
    </h2>
    <AppBadges app={app} />
    <p>It may:</p>
    <ScopeWords scopes={app.scopes} />
    <AppFacts app={app} />
    <Form action={revokeAppPath(app.clientId)} visit={visit}>
      <button type="submit" class="danger small">
        Revoke access
        <span class="unseen">
          {' of '}
          <bdi>{app.name}</bdi>, {app.environment}
        </span>
      </button>
    </Form>
  </article>
)

const RevokeAll = ({ visit }: { readonly visit: Visit }) => (
  <section aria-labelledby="revoke-all">
    <h2 id="revoke-all">Revoke all</h2>
    <p>
      Every app in this list loses its access at once, on every device. You stay signed in here, and your own apps in
      the console are not touched.
    </p>
    <Form action={accountPaths.revokeAll} visit={visit}>
      <button type="submit" class="danger small">
        Revoke access of every app
      </button>
    </Form>
  </section>
)
