import { refuse } from '../../domain/errors.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { type ConnectedApp, type ConnectedGrant, listAuthorizations } from '../../operations/connected-apps.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import type { ParamsOf } from '../change.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Pager } from '../design/list-tools.tsx'
import { LastUsed, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { list, listRoutes } from '../list.ts'
import { StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { AppsPage, accountPaths, connectedAppPath } from './account-page.tsx'
import { ConnectedAppBadges, ConnectedAppFacts } from './connected-apps.tsx'
import { authorizationEnd, findConnectedApp, revocation } from './steps.tsx'

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
      <RowList
        rows={authorizations.rows}
        row={(one) => <AuthorizationRow visit={visit} catalogue={catalogue} app={app} authorization={one} />}
      />
      <Pager of={authorizations} />
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
    title={
      <>
        Allowed <Time at={authorization.since} />
      </>
    }
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
