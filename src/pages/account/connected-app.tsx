import { refuse } from '../../domain/errors.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { type ConnectedGrant, listAuthorizations } from '../../operations/connected-apps.ts'
import type { ParamsOf } from '../change.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Pager } from '../design/list-tools.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { list, listRoutes } from '../list.ts'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths, connectedAppPath, revokeAppPath, revokeAuthorizationPath } from './account-page.tsx'
import { ConnectedAppBadges, ConnectedAppFacts, findConnectedApp, lastFetched } from './connected-apps.tsx'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

const notices = { 'revoked-one': 'This authorization is revoked. All its tokens have stopped working.' } as const

/** One connected app, and each authorization of it. */
export const connectedAppRoutes = (door: Door) => listRoutes(door, authorizationList, { by: 'user', show })

const authorizationList = list('authorizations', connectedAppPath(':clientId'), {})

const show = async (visit: Visit, { clientId }: ParamsOf<typeof authorizationList.path>): Promise<Response> => {
  const app = await findConnectedApp(visit, clientId)
  if (app === null) throw refuse('route_not_found')
  const catalogue = await readCatalogue(visit.door.platform)
  const authorizations = await authorizationList
    .read(visit, { clientId })
    .rows((part) => listAuthorizations(visit.door.platform, visit.session, clientId, part))
  return page(
    <AccountPage
      title={app.name}
      avatarId={app.appId}
      about={
        app.status === 'suspended'
          ? 'This app can do nothing until an operator activates it again.'
          : 'This app can act for you until you revoke its access.'
      }
      badges={<ConnectedAppBadges app={app} />}
      actions={
        <a class="button" href={revokeAppPath(app.clientId)}>
          Revoke all its access
        </a>
      }
      visit={visit}
      tab={accountPaths.apps}
      notices={notices}
    >
      <ConnectedAppFacts app={app} />
      <h2>Permissions</h2>
      <ScopeList catalogue={catalogue} scopes={app.scopes} />
      <h2>Authorizations</h2>
      <p class="muted">Each time that you allow the app adds one, usually for another device or browser.</p>
      <RowList
        rows={authorizations.rows}
        row={(one) => <AuthorizationRow catalogue={catalogue} clientId={app.clientId} authorization={one} />}
      />
      <Pager of={authorizations} />
      <p class="muted">A token lets an app act for you for up to an hour. Then the app has to fetch a new one.</p>
    </AccountPage>,
  )
}

type AuthorizationRowProps = {
  readonly catalogue: ScopeCatalogue
  readonly clientId: string
  readonly authorization: ConnectedGrant
}

const AuthorizationRow = ({ catalogue, clientId, authorization }: AuthorizationRowProps) => (
  <Row
    title={
      <>
        Allowed <Time at={authorization.since} />
      </>
    }
    facts={[
      lastFetched(authorization.lastFetchedAt),
      <>
        Ends <Time at={authorization.expiresAt} /> if unused
      </>,
    ]}
    actions={
      <a class="button small" href={revokeAuthorizationPath(clientId, authorization.grantId)}>
        Revoke this authorization
        <span class="unseen">
          , allowed <Time at={authorization.since} />
        </span>
      </a>
    }
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={authorization.scopes} />
  </Row>
)
