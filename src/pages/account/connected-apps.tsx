import { soughtPart } from '../../domain/entered-name.ts'
import type { Door } from '../../http/door.ts'
import { type ConnectedApp, listConnectedApps } from '../../operations/connected-apps.ts'
import { listOpenInstalls } from '../../operations/installs/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { EmptyState } from '../design/empty.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Facts, Time } from '../design/values.tsx'
import { FilterBar, isLong, noMatch } from '../design/list-tools.tsx'
import { list, listRoutes, order, search, timeOrders } from '../list.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths, connectedAppPath, revokeAppPath } from './account-page.tsx'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

const notices = {
  revoked: 'Access revoked. All tokens of this app have stopped working.',
  'revoked-uninstalled': 'Access revoked, and the app is uninstalled.',
  'revoked-all': 'Access revoked for every app. All their tokens have stopped working.',
} as const

/** The apps that can act for this person, and the end of their access. */
export const connectedAppsRoutes = (door: Door) => listRoutes(door, connectedApps, { by: 'user', show })

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
    <AccountPage
      title="Connected apps"
      about="These apps can act for you, within the permissions listed and no more."
      actions={
        apps.length > 1 ? (
          <a class="button" href={accountPaths.revokeAll}>
            Revoke access of every app
          </a>
        ) : null
      }
      visit={visit}
      tab={accountPaths.apps}
      notices={notices}
    >
      <FilterBar of={asked} isShown={isLong({ rows: apps })} />
      <RowList
        rows={found.rows}
        row={(app) => <ConnectedAppRow catalogue={catalogue} app={app} isInstalled={installs.some(isOf(app))} />}
        empty={noMatch(
          found,
          <EmptyState title="No app can act for you">
            When an app asks for access, you see exactly what it wants. If you allow it, the app appears here, and you
            can revoke its access.
          </EmptyState>,
        )}
      />
      {apps.length === 0 ? null : (
        <p class="muted">
          Revoking access works at once on every device. The app can then do nothing until you allow it again.
        </p>
      )}
    </AccountPage>,
  )
}

/** Whether an install is of the same app, in the same environment. */
export const isOf =
  (one: Pick<ConnectedApp, 'appId' | 'environment'>) =>
  (other: typeof one): boolean =>
    one.appId === other.appId && one.environment === other.environment

/** The list is never long, so it is sorted in memory. It comes sorted by the last use. */
const comparisons = {
  used: () => 0,
  name: (a: ConnectedApp, b: ConnectedApp) => a.name.localeCompare(b.name, 'en', { numeric: true }),
  newest: (a: ConnectedApp, b: ConnectedApp) => b.since - a.since,
  oldest: (a: ConnectedApp, b: ConnectedApp) => a.since - b.since,
} as const

type ConnectedAppRowProps = {
  readonly catalogue: ScopeCatalogue
  readonly app: ConnectedApp
  readonly isInstalled: boolean
}

const ConnectedAppRow = ({ catalogue, app, isInstalled }: ConnectedAppRowProps) => (
  <Row
    href={connectedAppPath(app.clientId)}
    avatar={<Avatar id={app.appId} name={app.name} />}
    title={<bdi>{app.name}</bdi>}
    badge={<ConnectedAppBadges app={app} />}
    facts={[
      <>
        Published by <bdi>{app.publisher}</bdi>
      </>,
      lastFetched(app.lastFetchedAt),
      devicesInWords(app),
      isInstalled ? <a href={accountPaths.installs}>Installed by you</a> : null,
    ]}
    actions={
      <a class="button small" href={revokeAppPath(app.clientId)}>
        Revoke access
        <span class="unseen">
          {' of '}
          <bdi>{app.name}</bdi>, {app.environment}
        </span>
      </a>
    }
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={app.scopes} />
  </Row>
)

export const findConnectedApp = async ({ door, session }: Visit, clientId: string): Promise<ConnectedApp | null> =>
  (await listConnectedApps(door.platform, session)).find((app) => app.clientId === clientId) ?? null

export const lastFetched = (at: number | null) =>
  at === null ? (
    'Never fetched a token'
  ) : (
    <>
      Last fetched a token <Time at={at} />
    </>
  )

const devicesInWords = ({ authorizations }: ConnectedApp): string =>
  authorizations === 1 ? 'One device or browser' : `${authorizations} devices or browsers`

/** Marks an app that is still in development, or suspended. */
export const ConnectedAppBadges = ({ app }: { readonly app: ConnectedApp }) => (
  <>
    {app.environment === 'development' ? <Badge tone="waiting">Development</Badge> : null}{' '}
    {app.status === 'suspended' ? <Badge tone="bad">Suspended</Badge> : null}
  </>
)

export const ConnectedAppFacts = ({ app }: { readonly app: ConnectedApp }) => (
  <Facts
    of={{
      Publisher: <bdi>{app.publisher}</bdi>,
      'Allowed since': <Time at={app.since} />,
      'Last fetched a token': <Time at={app.lastFetchedAt} otherwise="Never" />,
      'Allowed on': devicesInWords(app),
    }}
  />
)
