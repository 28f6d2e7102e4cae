import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import {
  type ConnectedApp,
  type ConnectedGrant,
  listAuthorizations,
  listConnectedApps,
} from '../../operations/connected-apps.ts'
import { ScopeList } from '../design/scopes.tsx'
import { Pager } from '../design/list-tools.tsx'
import { Cards } from '../design/table.tsx'
import { Facts, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { readList } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, connectedAppPath, revokeAppPath, revokeAuthorizationPath } from './account-page.tsx'
import { ConnectedAppBadges, ConnectedAppFacts } from './connected-apps.tsx'

const notices = { 'revoked-one': 'This authorization is revoked. All its tokens have stopped working.' } as const

/** One connected app, and each authorization of it. */
export const connectedAppRoutes = (door: Door) =>
  new Elysia().get(connectedAppPath(':clientId'), async ({ request, params: { clientId } }) => {
    const visit = await requireVisit(door, request)
    const app = await findConnectedApp(visit, clientId)
    if (app === null) throw refuse('route_not_found')
    const place = { list: 'authorizations', path: connectedAppPath(clientId) }
    const authorizations = await readList(visit, place, (part) =>
      listAuthorizations(door.platform, visit.session, clientId, part),
    )
    return page(
      <AccountPage title={app.name} visit={visit} tab={accountPaths.apps} notices={notices}>
        <ConnectedAppBadges app={app} />
        <p>In total, it may:</p>
        <ScopeList scopes={app.scopes} />
        <ConnectedAppFacts app={app} />
        <p class="muted">With each token an app can act for you for up to an hour. Then it has to fetch a new one.</p>
        <p>
          <a class="button small outline" href={revokeAppPath(app.clientId)}>
            Revoke all its access
          </a>
        </p>
        <h2>Authorizations</h2>
        <p>There is one for each time that you allowed the app, usually one for each device or browser.</p>
        <Cards
          rows={authorizations.rows}
          card={(one) => <AuthorizationCard clientId={app.clientId} authorization={one} />}
        />
        <Pager {...authorizations} shown={authorizations.rows.length} />
      </AccountPage>,
    )
  })

const findConnectedApp = async ({ door, session }: Visit, clientId: string): Promise<ConnectedApp | null> =>
  (await listConnectedApps(door.platform, session)).find((app) => app.clientId === clientId) ?? null

type AuthorizationCardProps = {
  readonly clientId: string
  readonly authorization: ConnectedGrant
}

const AuthorizationCard = ({ clientId, authorization }: AuthorizationCardProps) => (
  <article>
    <h3>
      Allowed <Time at={authorization.since} />
    </h3>
    <ScopeList scopes={authorization.scopes} />
    <Facts
      of={{
        'Last fetched a token': <Time at={authorization.lastFetchedAt} otherwise="Never" />,
        'Ends if unused': <Time at={authorization.expiresAt} />,
      }}
    />
    <a class="button small outline" href={revokeAuthorizationPath(clientId, authorization.grantId)}>
      Revoke this one
      <span class="unseen">
        , allowed <Time at={authorization.since} />
      </span>
    </a>
  </article>
)
