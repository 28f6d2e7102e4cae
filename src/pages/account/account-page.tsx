import type { ComponentChildren } from 'preact'
import { Layout } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { installsPath } from './installs/paths.ts'
import { accountPaths } from './paths.ts'

type AccountPageProps = {
  readonly title: string
  readonly visit: Visit
  /** Which of the area's own links leads here. */
  readonly path: string
  readonly notice?: string | null
  readonly children: ComponentChildren
}

const links = [
  { path: accountPaths.overview, name: 'Overview' },
  { path: accountPaths.password, name: 'Password' },
  { path: accountPaths.sessions, name: 'Sessions' },
  { path: accountPaths.apps, name: 'Connected apps' },
  { path: installsPath, name: 'Installs' },
] as const

/** The frame of the account's pages, with the way from one to the other. */
export const AccountPage = ({ title, visit, path, notice = null, children }: AccountPageProps) => (
  <Layout
    title={title}
    belongsTo="Account"
    visit={visit}
    section="account"
    notice={notice}
    above={<AccountNavigation path={path} />}
  >
    {children}
  </Layout>
)

const AccountNavigation = ({ path }: { readonly path: string }) => (
  <nav aria-label="Account" class="tabs">
    <ul>
      {links.map((link) => (
        <li key={link.path}>
          <a href={link.path} aria-current={link.path === path ? 'page' : undefined}>
            {link.name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)
