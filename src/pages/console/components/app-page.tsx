import type { ComponentChildren } from 'preact'
import { Layout } from '../../layout.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath, consolePath } from '../paths.ts'

/** The pages of an app, in the order of its tabs. */
const tabs = [
  ['overview', 'Overview', []],
  ['first-call', 'First call', ['first-call']],
  ['credentials', 'Credentials', ['credentials']],
  ['redirect-uris', 'Redirect URIs', ['redirect-uris']],
  ['scopes', 'Scopes', ['scopes']],
  ['versions', 'Versions', ['versions']],
  ['installs', 'Installs', ['installs']],
  ['webhooks', 'Webhooks', ['webhooks']],
  ['trail', 'Audit trail', ['trail']],
] as const
type AppTab = (typeof tabs)[number][0]

type AppPageProps = OwnApp & {
  readonly tab: AppTab
  readonly title: string
  readonly notice?: string | null
  readonly children: ComponentChildren
}

/** The frame of every page of one app: which app it is, its other pages, and whether it is suspended. */
export const AppPage = ({ visit, app, tab, title, notice = null, children }: AppPageProps) => (
  <Layout
    title={title}
    belongsTo={app.name}
    visit={visit}
    section="console"
    notice={notice}
    above={<AppNavigation app={app} tab={tab} />}
  >
    <div class="console">
      {app.status === 'suspended' ? <Suspended /> : null}
      {children}
    </div>
  </Layout>
)

const AppNavigation = ({ app, tab }: { readonly app: OwnApp['app']; readonly tab: AppTab }) => (
  <div class="app-head">
    <p class="crumbs">
      <a href={consolePath}>Your apps</a> <span aria-hidden="true">/</span> <bdi class="clipped">{app.name}</bdi>
    </p>
    <nav aria-label="App" class="tabs">
      <ul>
        {tabs.map(([key, name, rest]) => (
          <li key={key}>
            <a href={appPath(app.slug, ...rest)} aria-current={key === tab ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  </div>
)

const Suspended = () => (
  <p class="problem">
    The operator has suspended this app: none of its secrets and tokens works, and until it is activated again nothing
    can be added to it. You can still look at everything, revoke secrets and remove redirect URIs.
  </p>
)
