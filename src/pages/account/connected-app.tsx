import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { actingAs } from '../../operations/acting-as.ts'
import {
  type ConnectedApp,
  type ConnectedGrant,
  listAuthorizations,
  listConnectedApps,
} from '../../operations/connected-apps.ts'
import { revokeByUser } from '../../operations/oauth/revoke.ts'
import { Form } from '../components/form.tsx'
import { ScopeList } from '../components/scopes.tsx'
import { Older } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { emptyForm, receiveFromUser } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { listPart, noticeFor, olderPath } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, connectedAppPath, revokeAppPath, revokeAuthorizationPath } from './account-page.tsx'
import { ConnectedAppBadges, ConnectedAppFacts } from './connected-apps.tsx'

const notices = { 'revoked-one': 'This authorization is revoked. All its tokens have stopped working.' } as const

/** The name in its cursors. */
const list = 'authorizations'

/** One connected app, and each authorization of it. */
export const connectedAppRoutes = (door: Door) =>
  new Elysia()
    .get(connectedAppPath(':clientId'), async ({ request, params: { clientId } }) => {
      const visit = await requireVisit(door, request)
      const app = await findConnectedApp(visit, clientId)
      if (app === null) throw refuse('route_not_found')
      const found = await listAuthorizations(door.platform, visit.session, clientId, listPart(visit, list))
      const olderHref = olderPath(connectedAppPath(clientId), list, found.nextCursor)
      const notice = noticeFor(visit, notices)
      return page(
        <ConnectedAppPage visit={visit} notice={notice} app={app} authorizations={found.data} olderHref={olderHref} />,
      )
    })
    .post(revokeAuthorizationPath(':clientId', ':grantId'), async ({ request, params: { clientId, grantId } }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm)
      const { session, call: trace } = visit
      await revokeByUser(actingAs(door.platform, trace, session), trace, session, grantId)
      const isConnected = (await findConnectedApp(visit, clientId)) !== null
      return seeOther(
        isConnected ? `${connectedAppPath(clientId)}?done=revoked-one` : `${accountPaths.apps}?done=revoked`,
      )
    })

const findConnectedApp = async ({ door, session }: Visit, clientId: string): Promise<ConnectedApp | null> =>
  (await listConnectedApps(door.platform, session)).find((app) => app.clientId === clientId) ?? null

type ConnectedAppPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly app: ConnectedApp
  readonly authorizations: readonly ConnectedGrant[]
  readonly olderHref: string | null
}

const ConnectedAppPage = ({ visit, notice, app, authorizations, olderHref }: ConnectedAppPageProps) => (
  <AccountPage title={app.name} visit={visit} tab={accountPaths.apps} notice={notice}>
    <ConnectedAppBadges app={app} />
    <p>In total, it may:</p>
    <ScopeList scopes={app.scopes} />
    <ConnectedAppFacts app={app} />
    <p class="muted">With each token an app can act for you for up to an hour. Then it has to fetch a new one.</p>
    <Form action={revokeAppPath(app.clientId)} visit={visit}>
      <p>
        Revoking access works at once on every device. The app can then do nothing for you until you allow it again. It
        may keep what it has already read.
      </p>
      <button type="submit" class="danger small">
        Revoke all its access
      </button>
    </Form>
    <h2>Authorizations</h2>
    <p>There is one for each time that you allowed the app, usually one for each device or browser.</p>
    <div class="cards">
      {authorizations.map((authorization) => (
        <AuthorizationCard
          key={authorization.grantId}
          visit={visit}
          clientId={app.clientId}
          authorization={authorization}
        />
      ))}
    </div>
    <Older href={olderHref} name="Older authorizations" />
  </AccountPage>
)

type AuthorizationCardProps = {
  readonly visit: Visit
  readonly clientId: string
  readonly authorization: ConnectedGrant
}

const AuthorizationCard = ({ visit, clientId, authorization }: AuthorizationCardProps) => (
  <article>
    <h3>
      Allowed <Time at={authorization.since} />
    </h3>
    <ScopeList scopes={authorization.scopes} />
    <dl>
      <dt>Last fetched a token</dt>
      <dd>{authorization.lastFetchedAt === null ? 'Never' : <Time at={authorization.lastFetchedAt} />}</dd>
      <dt>Ends if unused</dt>
      <dd>
        <Time at={authorization.expiresAt} />
      </dd>
    </dl>
    <Form action={revokeAuthorizationPath(clientId, authorization.grantId)} visit={visit}>
      <button type="submit" class="danger small">
        Revoke this one
        <span class="unseen">
          , allowed <Time at={authorization.since} />
        </span>
      </button>
    </Form>
  </article>
)
