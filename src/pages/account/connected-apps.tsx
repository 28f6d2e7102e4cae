import { soughtPart } from '../../domain/entered-name.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import {
  type ConnectedApp,
  type ConnectedGrant,
  listAuthorizations,
  listConnectedApps,
} from '../../operations/connected-apps.ts'
import { listOpenInstalls } from '../../operations/installs/lists.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { EmptyState, FilterBar, isLong } from '../design/list-tools.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Facts, LastUsed, Time, TimeFact } from '../design/values.tsx'
import { list, listRoutes, order, search, timeOrders } from '../list.ts'
import { page } from '../page.ts'
import { noticesOf, StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { accountPaths, AppsPage, connectedAppPath } from './account-page.tsx'
import { authorizationEnd, findConnectedApp, isOf, revocation, revocationOfAll } from './steps.tsx'
import { refuse } from '../../domain/errors.ts'
import { type ParamsOf, routes } from '../change.tsx'

/** The apps that can act for this person, each authorization of one of them, and the end of their access. */
export const connectedAppRoutes = routes(() => [
  listRoutes(connectedApps, { by: 'user', show }),
  listRoutes(authorizationList, { by: 'user', show: showApp }),
])

const connectedApps = list('connected-apps', accountPaths.apps, {
  q: search('Name of the app or its publisher'),
  sort: order([['used', 'Last used'], ['name', 'Name'], ...timeOrders]),
})

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = connectedApps.read(visit)
  const part = soughtPart(asked.values.q)
  const apps = await listConnectedApps(platform, visit.session)
  const installs = await listOpenInstalls(platform, visit.userId)
  const catalogue = await readCatalogue(platform)
  const data = apps
    .filter(({ name, publisher }) => `${name}\n${publisher}`.toLowerCase().includes(part.toLowerCase()))
    .toSorted(comparisons[asked.values.sort])
  const found = await asked.rows(async () => ({ data, nextCursor: null }))
  return page(
    <AppsPage
      title="Connected apps"
      about="These apps can act for you, within the permissions listed and no more."
      actions={apps.length > 1 ? <StepButton visit={visit} step={revocationOfAll} of={apps} params={{}} /> : null}
      visit={visit}
      tab={accountPaths.apps}
      notices={noticesOf(revocation, revocationOfAll)}
    >
      <FilterBar of={asked} isShown={isLong({ rows: apps })} />
      <ListRows
        of={found}
        row={(app) => (
          <ConnectedAppRow visit={visit} catalogue={catalogue} app={app} isInstalled={installs.some(isOf(app))} />
        )}
        empty={
          <EmptyState title="No app can act for you">
            When an app asks for access, you see exactly what it wants. If you allow it, the app appears here, and you
            can revoke its access.
          </EmptyState>
        }
      />
      {apps.length === 0 ? null : (
        <p class="muted">
          Revoking access works at once on every device. The app can then do nothing until you allow it again.
        </p>
      )}
    </AppsPage>,
  )
}

/** The list is never long, so it is sorted in memory. It comes sorted by the last use. */
const comparisons = {
  used: () => 0,
  name: (a: ConnectedApp, b: ConnectedApp) => a.name.localeCompare(b.name, 'en', { numeric: true }),
  newest: (a: ConnectedApp, b: ConnectedApp) => b.since - a.since,
  oldest: (a: ConnectedApp, b: ConnectedApp) => a.since - b.since,
} as const

type ConnectedAppRowProps = {
  readonly visit: Visit
  readonly catalogue: ScopeCatalogue
  readonly app: ConnectedApp
  readonly isInstalled: boolean
}

const ConnectedAppRow = ({ visit, catalogue, app, isInstalled }: ConnectedAppRowProps) => (
  <Row
    href={connectedAppPath(app.clientId)}
    avatar={<Avatar id={app.appId} name={app.name} icon={app.icon} />}
    title={<bdi>{app.name}</bdi>}
    badge={<ConnectedAppBadges app={app} />}
    facts={[
      <>
        Published by <bdi>{app.publisher}</bdi>
      </>,
      <LastUsed at={app.lastFetchedAt} />,
      devicesInWords(app),
      isInstalled ? <a href={accountPaths.installs}>Installed by you</a> : null,
    ]}
    actions={
      <StepButton visit={visit} step={revocation} of={app} params={{ clientId: app.clientId }} look="small">
        {' of '}
        <bdi>{app.name}</bdi>, {app.environment}
      </StepButton>
    }
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={app.scopes} />
  </Row>
)

const devicesInWords = ({ authorizations }: ConnectedApp): string =>
  authorizations === 1 ? 'One device or browser' : `${authorizations} devices or browsers`

/** Marks an app that is still in development, or suspended. */
const ConnectedAppBadges = ({ app }: { readonly app: ConnectedApp }) => (
  <>
    {app.environment === 'development' ? <Badge tone="waiting">Development</Badge> : null}{' '}
    {app.status === 'suspended' ? <Badge tone="bad">Suspended</Badge> : null}
  </>
)

const ConnectedAppFacts = ({ app }: { readonly app: ConnectedApp }) => (
  <Facts
    of={{
      Publisher: <bdi>{app.publisher}</bdi>,
      'Allowed since': <Time at={app.since} />,
      'Last used': <Time at={app.lastFetchedAt} otherwise="Never" />,
      'Allowed on': devicesInWords(app),
    }}
  />
)

const authorizationList = list('authorizations', connectedAppPath(':clientId'), {})

const showApp = async (visit: Visit, { clientId }: ParamsOf<typeof authorizationList.path>): Promise<Response> => {
  const app = await findConnectedApp(visit, clientId)
  if (app === null) throw refuse('route_not_found')
  const catalogue = await readCatalogue(visit.door.platform)
  const authorizations = await authorizationList
    .read(visit, { clientId })
    .rows((part) => listAuthorizations(visit.door.platform, visit.session, clientId, part))
  return page(
    <AppsPage
      title={app.name}
      avatarId={app.appId}
      icon={app.icon}
      about={
        app.status === 'suspended'
          ? 'This app can do nothing until an operator activates it again.'
          : 'This app can act for you until you revoke its access.'
      }
      badges={<ConnectedAppBadges app={app} />}
      actions={<StepButton visit={visit} step={revocation} of={app} params={{ clientId }} />}
      visit={visit}
      tab={accountPaths.apps}
      notices={authorizationEnd.done}
    >
      <ConnectedAppFacts app={app} />
      <h2>Permissions</h2>
      <ScopeList catalogue={catalogue} scopes={app.scopes} />
      <h2>Authorizations</h2>
      <p class="muted">Each time that you allow the app adds one, usually for another device or browser.</p>
      <ListRows
        of={authorizations}
        row={(one) => <AuthorizationRow visit={visit} catalogue={catalogue} app={app} authorization={one} />}
      />
      <p class="muted">A token lets an app act for you for up to an hour. Then the app has to fetch a new one.</p>
    </AppsPage>,
  )
}

type AuthorizationRowProps = {
  readonly visit: Visit
  readonly catalogue: ScopeCatalogue
  readonly app: ConnectedApp
  readonly authorization: ConnectedGrant
}

const AuthorizationRow = ({ visit, catalogue, app, authorization }: AuthorizationRowProps) => (
  <Row
    title={<TimeFact words="Allowed" at={authorization.since} />}
    facts={[
      <LastUsed at={authorization.lastFetchedAt} />,
      <>
        Ends <Time at={authorization.expiresAt} /> if unused
      </>,
    ]}
    actions={
      <StepButton
        visit={visit}
        step={authorizationEnd}
        of={app}
        params={{ clientId: app.clientId, grantId: authorization.grantId }}
        look="small"
      >
        , allowed <Time at={authorization.since} />
      </StepButton>
    }
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={authorization.scopes} />
  </Row>
)
