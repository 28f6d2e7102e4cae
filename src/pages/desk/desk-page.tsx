import type { ComponentChildren } from 'preact'
import { Layout } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { deskPaths } from './paths.ts'

const tabs = [
  { path: deskPaths.reviews, name: 'Reviews' },
  { path: deskPaths.installs, name: 'Installs' },
  { path: deskPaths.apps, name: 'Apps' },
  { path: deskPaths.users, name: 'Users' },
  { path: deskPaths.audit, name: 'Audit log' },
  { path: deskPaths.health, name: 'Health' },
] as const
type DeskTab = (typeof tabs)[number]['path']

type DeskPageProps = {
  readonly title: string
  readonly visit: Visit
  readonly tab: DeskTab
  /** What the page is about, for the title of the window. */
  readonly about?: string
  readonly notice?: string | null
  readonly children: ComponentChildren
}

/** The frame of the operators' pages, with the way from one to the other. */
export const DeskPage = ({ title, visit, tab, about = 'Desk', notice = null, children }: DeskPageProps) => (
  <Layout
    title={title}
    belongsTo={about}
    visit={visit}
    section="desk"
    notice={notice}
    above={
      <nav aria-label="Desk" class="tabs">
        <ul>
          {tabs.map(({ path, name }) => (
            <li key={path}>
              <a href={path} aria-current={path === tab ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    }
  >
    <div class="desk">{children}</div>
  </Layout>
)
