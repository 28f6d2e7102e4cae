import { Type } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import type { Environment } from '../../domain/app.ts'
import { type AppRight, hasRight } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { listOtherApps, type OtherApp } from '../../operations/apps/lists.ts'
import { ownedApp, type OwnedApp } from '../../operations/apps/app-record.ts'
import type { Area } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Icon } from '../design/icon.tsx'
import { Copyable } from '../design/values.tsx'
import { type AreaNavigation, type FrameProps, Layout } from '../design/shell.tsx'
import { requireVisit, type Visit } from '../visit.ts'

/** The list of a developer's own apps. */
export const consolePath = '/console'
/** The form that registers an app. No app has this slug. */
export const newAppPath = '/console/new'

/** A page of an app. A version can contain `+`, so every part is escaped. */
export const consoleAppPath = (slug: string, ...rest: readonly string[]): string =>
  [consolePath, ...[slug, ...rest].map(encodeURIComponent)].join('/')

/** The environment that a form is about. */
export const environmentField = Type.Union([Type.Literal('development'), Type.Literal('production')])

/** A signed-in person and an app of which they are a member. */
export type OwnApp = {
  readonly visit: Visit
  readonly app: OwnedApp & { readonly others: readonly OtherApp[] }
}

/** The app with this slug, if the signed-in person is a member of it. @throws route_not_found for any other app */
export const ownAppOf = async (visit: Visit, slug: string): Promise<OwnApp> => ({
  visit,
  app: {
    ...(await ownedApp(visit.door.platform, visit.userId, slug)),
    others: await listOtherApps(visit.door.platform, visit.userId, slug),
  },
})

/** The same for a page. @throws login_required, route_not_found */
export const requireOwnApp = async (door: Door, request: Request, slug: string): Promise<OwnApp> =>
  await ownAppOf(await requireVisit(door, request), slug)

/** The pages of an app, in the order of its tabs. The part after the slug, the name and the icon. */
const tabs = [
  ['', 'Overview', 'gauge'],
  ['first-call', 'First call', 'play'],
  ['credentials', 'Credentials', 'key'],
  ['redirect-uris', 'Redirect URIs', 'open'],
  ['scopes', 'Scopes', 'sliders'],
  ['versions', 'Versions', 'tag'],
  ['installs', 'Installs', 'box'],
  ['webhooks', 'Webhooks', 'bolt'],
  ['members', 'Members', 'users'],
  ['trail', 'Audit log', 'list'],
] as const
type AppTab = (typeof tabs)[number][0]

const tabPath = (slug: string, tab: AppTab): string => (tab === '' ? consoleAppPath(slug) : consoleAppPath(slug, tab))

type OwnAppPageProps = OwnApp & FrameProps & { readonly tab: AppTab }

/** The frame of every page of one app. */
export const OwnAppPage = ({ app, tab, children, ...frame }: OwnAppPageProps) => (
  <Layout {...frame} belongsTo={app.name} section="console" nav={appNavigation(app, tabPath(app.slug, tab))}>
    <div class="console">
      {app.status === 'suspended' ? (
        <p class="problem">
          An operator has suspended this app. Its secrets and tokens do not work, and nothing can be added to it until
          an operator activates it again. You can still view everything, revoke secrets and remove redirect URIs.
        </p>
      ) : null}
      {children}
    </div>
  </Layout>
)

export const yourApps = { href: consolePath, name: 'Your apps' } as const

/** The pages of an app. */
const appNavigation = (app: OwnApp['app'], current: string): AreaNavigation => ({
  head: <AppSwitcher app={app} />,
  label: 'App',
  links: tabs.map(([key, name, icon]) => ({ path: tabPath(app.slug, key), name, icon })),
  current,
  above: [yourApps, { href: consoleAppPath(app.slug), name: app.name, avatarId: app.id }],
})

export const consoleArea: Area = {
  key: 'console',
  navigation: async (visit, slug) => appNavigation((await ownAppOf(visit, slug)).app, ''),
}

/** The current app, and the way to the developer's other ones. */
const AppSwitcher = ({ app }: Pick<OwnApp, 'app'>) => (
  <details class="switcher">
    <summary>
      <Avatar id={app.id} name={app.name} small />
      <bdi>{app.name}</bdi>
    </summary>
    <ul>
      {app.others.map(({ id, slug, name }) => (
        <li key={id}>
          <a href={consoleAppPath(slug)}>
            <Avatar id={id} name={name} small />
            <bdi>{name}</bdi>
          </a>
        </li>
      ))}
      <li>
        <a href={consolePath}>
          <Icon name="apps" />
          All your apps
        </a>
      </li>
    </ul>
  </details>
)

type AllowedProps = Pick<OwnApp, 'app'> & { readonly right: AppRight; readonly children: ComponentChildren }

/** What only some roles may do. Others read who may. The operation checks it, whatever a page shows. */
export const Allowed = ({ app, right, children }: AllowedProps) =>
  hasRight(app.role, right) ? (
    <>{children}</>
  ) : (
    <p class="muted">Only {hasRight('admin', right) ? 'admins and owners' : 'owners'} of the app can change this.</p>
  )

type ClientIdProps = Pick<OwnApp, 'app'> & { readonly environment: Environment }

export const ClientId = ({ app, environment }: ClientIdProps) => (
  <Copyable id={`client-${environment}`} value={app.clientIds[environment]} what={`the ${environment} client ID`} />
)
