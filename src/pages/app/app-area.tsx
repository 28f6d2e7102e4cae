import { Type } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { type Environment, environments } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { type AppRight, hasRight } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import type { Rule, AppStanding } from '../../operations/acting-as.ts'
import { ownedApp, type OwnedApp } from '../../operations/apps/app-record.ts'
import { isLive, listOtherApps, type OtherApp } from '../../operations/apps/lists.ts'
import type { Actor } from '../../operations/audit/event.ts'
import { type Area, pageFor, type ParamsOf, type Routes } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Icon } from '../design/icon.tsx'
import { environmentNames } from '../design/badge.tsx'
import { type AreaNavigation, type FrameProps, Layout, Tabs } from '../design/shell.tsx'
import { Copyable } from '../design/values.tsx'
import { deskArea, DeskPage, deskPaths } from '../desk/desk-page.tsx'
import { typedIn } from '../form.ts'
import { stepsOf } from '../step.tsx'
import type { Acting, Visit } from '../visit.ts'
import { environmentIn, environmentSaid } from '../chosen-environment.ts'

/**
 * The pages of one app are written once. Members reach them in the console and operators on the desk; an address says which of both
 * it is. A page asks `appFor` for the app and for what this person may do, and changes something with `acting`, whose rule is checked in
 * the transaction of the change. Some pages exist only for members, because the desk has lists of its own for all apps.
 */

/** The list of a developer's own apps. */
export const consolePath = '/console'
/** The form that registers an app. No app has this slug. */
export const newAppPath = '/console/new'

export const yourApps = { href: consolePath, name: 'Your apps' } as const

type Root = '/console/:slug' | '/desk/apps/:slug' | '/desk/apps/:slug/settings'

/** Where the pages of an app are. */
export type AppPlace = {
  readonly key: 'console' | 'desk'
  readonly as: AppStanding
  readonly by: 'user' | 'operator'
  readonly area: Area
  readonly root: '/console/:slug' | '/desk/apps/:slug'
  /** The pattern of a page. */
  readonly pattern: <const Below extends string>(below: Below) => `${Root}/${Below}`
  /** The address of a page. A version can contain `+`, so every part is escaped. */
  readonly path: (slug: string, ...rest: readonly string[]) => string
}

/** On the desk these are below its page of settings. */
const settings: ReadonlySet<string | undefined> = new Set([
  'name',
  'publisher',
  'rollback-rule',
  'scopes',
  'redirect-uris',
])

const pathIn =
  (root: string, isDesk: boolean) =>
  (slug: string, ...rest: readonly string[]): string =>
    [root, ...[slug, ...(isDesk && settings.has(rest[0]) ? ['settings'] : []), ...rest].map(encodeURIComponent)].join(
      '/',
    )

/** The address of a page of an app in the console. */
export const consoleAppPath = pathIn(consolePath, false)

export const inConsole: AppPlace = {
  key: 'console',
  as: 'member',
  by: 'user',
  area: { key: 'console', navigation: async (visit, slug) => memberNavigation(await appFor(visit, slug), '') },
  root: '/console/:slug',
  pattern: (below) => `/console/:slug/${below}`,
  path: consoleAppPath,
}

export const onDesk: AppPlace = {
  key: 'desk',
  as: 'operator',
  by: 'operator',
  area: deskArea,
  root: '/desk/apps/:slug',
  pattern: (below) => {
    const [first] = below.split('/')
    return settings.has(first) ? `/desk/apps/:slug/settings/${below}` : `/desk/apps/:slug/${below}`
  },
  path: pathIn(deskPaths.apps, true),
}

const places = { console: inConsole, desk: onDesk } as const

/** Something that exists in both places, made for each. */
export const inBoth = <Made,>(make: (place: AppPlace) => Made): Readonly<Record<AppPlace['key'], Made>> => ({
  console: make(inConsole),
  desk: make(onDesk),
})

const placeOf = ({ call }: Pick<Visit, 'call'>): AppPlace =>
  call.path.startsWith(`${deskPaths.apps}/`) ? onDesk : inConsole

/** An app, and who looks at it. */
export type AppVisit = {
  readonly visit: Visit
  readonly as: AppStanding
  readonly place: AppPlace
  readonly app: OwnedApp
  /** The other apps that a member can switch to. */
  readonly others: readonly OtherApp[]
  /** Whether a page shows what needs the right. The operation checks it, whatever a page shows. */
  readonly may: (right: AppRight) => boolean
  /** The address of a page of the app. */
  readonly path: (...rest: readonly string[]) => string
  /** The environment that this page shows. */
  readonly environment: Environment
}

/** The properties of a part of a page. */
export type AtApp = { readonly at: AppVisit }

type Slug = { readonly slug: string }

/** The app with this slug, as the person sees it at this address. @throws route_not_found if it does not exist for them */
export const appFor = async (visit: Visit, slug: string): Promise<AppVisit> => {
  const place = placeOf(visit)
  const { door, session, userId } = visit
  if (place.as === 'operator' && !session.user.isOperator) throw refuse('route_not_found')
  const app = await ownedApp(door.platform, userId, slug, place.as)
  const path = (...rest: readonly string[]) => place.path(slug, ...rest)
  const asked = askedEnvironment(visit)
  visit.call.environment = asked
  return {
    visit,
    as: place.as,
    place,
    app,
    others: place.as === 'member' ? await listOtherApps(door.platform, userId, slug) : [],
    may: (right) => hasRight(app.role, right),
    path,
    environment: asked ?? (await usualEnvironment(door, app)),
  }
}

/** What a form says that was sent or is shown again, or the address. */
const askedEnvironment = (visit: Visit): Environment | null =>
  visit.call.environment ?? environmentIn(typedIn(visit)) ?? environmentSaid(visit.call.request)

/** An app that has users is shown with them. */
const usualEnvironment = async ({ platform }: Door, { id }: OwnedApp): Promise<Environment> =>
  (await isLive(platform, id)) ? 'production' : 'development'

/** The same for a page about something that belongs to one environment, whatever the address says. */
export const inEnvironment = (at: AppVisit, environment: Environment): AppVisit => {
  at.visit.call.environment = environment
  return { ...at, environment }
}

/** Serves a page of an app that is neither a form nor a list. */
export const pageOfApp = <const Below extends string>(
  { pattern }: AppPlace,
  below: Below,
  show: (at: AppVisit, params: ParamsOf<`${Root}/${Below}`>) => Response | Promise<Response>,
): Routes => pageFor('user', pattern(below), async (visit, params) => show(await appFor(visit, params.slug), params))

/** Acts in an app as the person does at this address, if the rule holds for them. With a ticket the form acts only once. */
export const acting = (visit: Visit, may: Rule, ticket?: RowKey): Acting<Actor> =>
  placeOf(visit).as === 'operator' ? visit.asOperator({ may, ...(ticket && { ticket }) }) : visit.as(may, ticket)

/** A page of the app in this place. */
export const addressIn = (visit: Pick<Visit, 'call'>, slug: string, ...rest: readonly string[]): string =>
  placeOf(visit).path(slug, ...rest)

/** The steps about a whole app. In the console they lead back to its settings or another page, and on the desk to its overview. */
export const stepsOfApp = (
  where: readonly AppPlace['key'][],
  [page, name]: readonly [page: AppTab, name: string] = ['settings', 'Settings'],
) =>
  stepsOf(
    ...where
      .map((key) => places[key])
      .map(({ key, area, root, path }) => ({
        area,
        root,
        find: async (visit: Visit, { slug }: Slug) => await appFor(visit, slug),
        belongsTo: ({ app }: AppVisit) => app.name,
        back: ({ slug }: Slug) => (key === 'console' ? { href: path(slug, page), name } : { href: path(slug) }),
      })),
  )

/** The steps below a page of an app about something of it, which lead back to the page with this name. */
export const stepsBelow = <const Below extends string, Of extends AtApp>(
  below: Below,
  [page, name]: readonly [page: AppTab, name: string],
  find: (at: AppVisit, params: ParamsOf<`${Root}/${Below}`>) => Of | Promise<Of>,
  where: readonly AppPlace['key'][] = ['console', 'desk'],
) =>
  stepsOf(
    ...where
      .map((key) => places[key])
      .map(({ area, pattern, path }) => ({
        area,
        root: pattern(below),
        find: async (visit: Visit, params: ParamsOf<`${Root}/${Below}`>) =>
          await find(await appFor(visit, params.slug), params),
        belongsTo: ({ at }: Of) => at.app.name,
        back: ({ slug }: Slug) => ({ href: path(slug, page), name }),
      })),
  )

/** The environment that a form is about. */
export const environmentField = Type.Union(environments.map((environment) => Type.Literal(environment)))

/** The pages of an app in the order of its tabs: the part of the address, the name, the icon, and where there is one. */
const pagesOfApp = [
  ['', 'Overview', 'gauge', 'both'],
  ['first-call', 'First call', 'play', 'console'],
  ['credentials', 'Credentials', 'key', 'both'],
  ['redirect-uris', 'Redirect URIs', 'open', 'both'],
  ['scopes', 'Scopes', 'lock', 'both'],
  ['versions', 'Versions', 'tag', 'console'],
  ['installs', 'Installs', 'box', 'console'],
  ['webhooks', 'Webhooks', 'bolt', 'both'],
  ['members', 'Members', 'users', 'both'],
  ['trail', 'Audit log', 'list', 'console'],
  ['settings', 'Settings', 'sliders', 'both'],
] as const
type AppTab = (typeof pagesOfApp)[number][0]

const tabPath = ({ path }: AppPlace, slug: string, tab: AppTab): string => (tab === '' ? path(slug) : path(slug, tab))

const tabsIn = (place: AppPlace, slug: string) =>
  pagesOfApp
    .filter(([, , , where]) => where === 'both' || where === place.key)
    .map(([tab, name, icon]) => ({ path: tabPath(place, slug, tab), name, icon }))

type AppPageProps = Omit<FrameProps, 'visit'> &
  AtApp & {
    readonly tab: AppTab
    /** The page shows one environment, and leads to itself in the other one: to this address, if its form is sent to another one. */
    readonly switches?: true | string
  }

/** The frame of every page of one app. */
export const AppPage = ({ at, tab, switches, children, ...frame }: AppPageProps) =>
  at.as === 'operator' ? (
    <DeskAppPage {...frame} visit={at.visit} app={at.app} tab={tab}>
      {switches === undefined ? null : <Switch at={at} path={switches === true ? at.visit.call.path : switches} />}
      {children}
    </DeskAppPage>
  ) : (
    <Layout
      {...frame}
      visit={at.visit}
      belongsTo={at.app.name}
      section="console"
      nav={memberNavigation(at, tabPath(at.place, at.app.slug, tab))}
    >
      <div class="console">
        {at.app.status === 'suspended' ? (
          <p class="problem">
            An operator has suspended this app. Its secrets and tokens do not work, and nothing can be added to it until
            an operator activates it again. You can still view everything, revoke secrets and remove redirect URIs.
          </p>
        ) : null}
        {switches === undefined ? null : <Switch at={at} path={switches === true ? at.visit.call.path : switches} />}
        {children}
      </div>
    </Layout>
  )

/** Leads to the same page in the other environment. */
const Switch = ({ at, path }: AtApp & { readonly path: string }) => {
  const pathOf = (environment: Environment) => `${path}?environment=${environment}`
  return (
    <Tabs
      look="tabs switch"
      label="Environment"
      links={environments.map((name) => ({ path: pathOf(name), name: environmentNames[name] }))}
      current={pathOf(at.environment)}
    />
  )
}

type DeskAppPageProps = FrameProps & {
  readonly app: Pick<OwnedApp, 'id' | 'slug' | 'name' | 'deletedAt'>
  readonly tab: AppTab
}

/** The frame on the desk. A deleted app has only its overview. */
export const DeskAppPage = ({ app, tab, children, ...frame }: DeskAppPageProps) => (
  <DeskPage
    {...frame}
    belongsTo={app.name}
    tab={deskPaths.apps}
    crumbs={[{ href: onDesk.path(app.slug), name: app.name, avatarId: app.id }, ...(frame.crumbs ?? [])]}
  >
    {app.deletedAt === null ? (
      <Tabs
        label="App"
        links={tabsIn(onDesk, app.slug).map(({ path, name }) => ({ path, name }))}
        current={tabPath(onDesk, app.slug, tab)}
      />
    ) : null}
    {children}
  </DeskPage>
)

/** The pages of an app in the console. */
const memberNavigation = (at: AppVisit, current: string): AreaNavigation => ({
  head: <AppSwitcher at={at} />,
  label: 'App',
  links: tabsIn(inConsole, at.app.slug),
  current,
  above: [yourApps, { href: at.path(), name: at.app.name, avatarId: at.app.id }],
})

/** The current app, and the way to the developer's other ones. */
const AppSwitcher = ({ at: { app, others } }: AtApp) => (
  <details class="switcher">
    <summary>
      <Avatar id={app.id} name={app.name} small />
      <bdi>{app.name}</bdi>
    </summary>
    <ul>
      {others.map(({ id, slug, name }) => (
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

/** Why this person cannot do what needs the right; null if they can. Members add nothing to a suspended app. */
export const whyNot = ({ as, app, may }: AppVisit, right: AppRight, adds = false): string | null => {
  if (!may(right))
    return `Only ${hasRight('admin', right) ? 'admins and owners' : 'owners'} of the app can change this.`
  return adds && as === 'member' && app.status === 'suspended' ? 'An operator has suspended this app.' : null
}

type AllowedProps = AtApp & { readonly right: AppRight; readonly children: ComponentChildren }

/** What only some roles may do. Others read who may. */
export const Allowed = ({ at, right, children }: AllowedProps) =>
  at.may(right) ? <>{children}</> : <p class="muted">{whyNot(at, right)}</p>

export const ClientId = ({ at: { app }, environment }: AtApp & { readonly environment: Environment }) => (
  <Copyable id={`client-${environment}`} value={app.clientIds[environment]} what={`the ${environment} client ID`} />
)
