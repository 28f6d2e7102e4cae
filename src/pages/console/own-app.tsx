import { Type } from '@sinclair/typebox'
import type { Environment } from '../../domain/app.ts'
import type { Door } from '../../http/door.ts'
import { ownedApp, type OwnedApp } from '../../operations/apps/app-record.ts'
import { Copyable } from '../design/values.tsx'
import { type AreaNavigation, Crumbs, type FrameProps, Layout } from '../design/shell.tsx'
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

/** A signed-in developer and one of their apps. */
export type OwnApp = { readonly visit: Visit; readonly app: OwnedApp }

/** The app with this slug, if the signed-in person owns it. @throws route_not_found for any other app */
export const ownAppOf = async (visit: Visit, slug: string): Promise<OwnApp> => ({
  visit,
  app: await ownedApp(visit.door.platform, visit.userId, slug),
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
  ['trail', 'Audit log', 'list'],
] as const
type AppTab = (typeof tabs)[number][0]

const tabPath = (slug: string, tab: AppTab): string => (tab === '' ? consoleAppPath(slug) : consoleAppPath(slug, tab))

type OwnAppPageProps = OwnApp & FrameProps & { readonly tab: AppTab }

/** The frame of every page of one app. */
export const OwnAppPage = ({ app, tab, children, ...frame }: OwnAppPageProps) => (
  <Layout
    {...frame}
    belongsTo={app.name}
    section="console"
    above={<Crumbs links={[yourApps, { href: consoleAppPath(app.slug), name: app.name, avatarId: app.id }]} />}
    nav={appNavigation(app, tab)}
  >
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

const yourApps = { href: consolePath, name: 'Your apps' } as const

/** The pages of an app. */
const appNavigation = ({ slug }: OwnedApp, tab: AppTab): AreaNavigation => ({
  label: 'App',
  links: tabs.map(([key, name, icon]) => ({ path: tabPath(slug, key), name, icon })),
  current: tabPath(slug, tab),
})

type ClientIdProps = Pick<OwnApp, 'app'> & { readonly environment: Environment }

export const ClientId = ({ app, environment }: ClientIdProps) => (
  <Copyable id={`client-${environment}`} value={app.clientIds[environment]} what={`the ${environment} client ID`} />
)
