import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type ConnectedApp, listConnectedApps } from '../../operations/connected-apps.ts'
import { Badge } from '../design/badge.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Cards } from '../design/table.tsx'
import { Facts, Time } from '../design/values.tsx'
import { FilterBar } from '../design/list-tools.tsx'
import { page } from '../page.ts'
import { parameterOf } from '../query.ts'
import { requireVisit } from '../visit.ts'
import { AccountPage, accountPaths, connectedAppPath, revokeAppPath } from './account-page.tsx'

const notices = {
  revoked: 'Access revoked. All tokens of this app have stopped working.',
  'revoked-all': 'Access revoked for every app. All their tokens have stopped working.',
} as const

/** The apps that can act for this person, and the end of their access. */
export const connectedAppsRoutes = (door: Door) =>
  new Elysia().get(accountPaths.apps, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const apps = await listConnectedApps(door.platform, visit.session)
    const part = parameterOf(visit, 'q').toLowerCase()
    return page(
      <AccountPage title="Connected apps" visit={visit} tab={accountPaths.apps} notices={notices}>
        {apps.length === 0 ? (
          <p>
            No app can act for you. When an app asks for access, you see exactly what it wants. If you allow it, the app
            appears here, and you can revoke its access.
          </p>
        ) : (
          <p>
            These apps can act for you, within the permissions listed and no more. Revoking access works at once on
            every device. The app can then do nothing until you allow it again.
          </p>
        )}
        {apps.length < manyApps ? null : (
          <FilterBar
            path={accountPaths.apps}
            button="Search"
            fields={[{ kind: 'search', name: 'q', label: 'Name of the app or its publisher', value: part }]}
          />
        )}
        <Cards
          rows={apps.filter(({ name, publisher }) => `${name}\n${publisher}`.toLowerCase().includes(part))}
          card={(app) => <ConnectedAppCard app={app} />}
          empty={part === '' ? null : 'No connected app has this in its name or publisher.'}
        />
        {apps.length > 1 ? <RevokeAll /> : null}
      </AccountPage>,
    )
  })

/** So many apps that looking for one takes a search. */
const manyApps = 6

const ConnectedAppCard = ({ app }: { readonly app: ConnectedApp }) => (
  <article>
    <h2>
      <a href={connectedAppPath(app.clientId)}>
        <bdi>{app.name}</bdi>
      </a>
    </h2>
    <ConnectedAppBadges app={app} />
    <p>It may:</p>
    <ScopeList scopes={app.scopes} />
    <ConnectedAppFacts app={app} />
    <a class="button small outline" href={revokeAppPath(app.clientId)}>
      Revoke access
      <span class="unseen">
        {' of '}
        <bdi>{app.name}</bdi>, {app.environment}
      </span>
    </a>
  </article>
)

const RevokeAll = () => (
  <section aria-labelledby="revoke-all">
    <h2 id="revoke-all">Revoke all</h2>
    <p>
      Every app in this list loses its access at once, on every device. You stay signed in, and your own apps in the
      console do not change.
    </p>
    <a class="button small outline" href={accountPaths.revokeAll}>
      Revoke access of every app
    </a>
  </section>
)

/** Marks an app that is still in development, or suspended. */
export const ConnectedAppBadges = ({ app }: { readonly app: ConnectedApp }) =>
  app.environment === 'production' && app.status === 'active' ? null : (
    <p>
      {app.environment === 'development' ? <Badge tone="waiting">Development</Badge> : null}{' '}
      {app.status === 'suspended' ? (
        <>
          <Badge tone="bad">Suspended</Badge> It can do nothing until an operator activates it again.
        </>
      ) : null}
    </p>
  )

export const ConnectedAppFacts = ({ app }: { readonly app: ConnectedApp }) => (
  <Facts
    of={{
      Publisher: <bdi>{app.publisher}</bdi>,
      'Allowed since': <Time at={app.since} />,
      'Last fetched a token': <Time at={app.lastFetchedAt} otherwise="Never" />,
      'Allowed on': app.authorizations === 1 ? 'One device or browser' : `${app.authorizations} devices or browsers`,
    }}
  />
)
