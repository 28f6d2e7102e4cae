import { Elysia } from 'elysia'
import { parseStoredScope, type ScopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { listConnectedApps } from '../../operations/connected-apps.ts'
import { ownsInstall, agreeToScopes } from '../../operations/installs/installs.ts'
import { listOfferedApps, listOwnInstalls, type OfferedApp } from '../../operations/installs/lists.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { changed } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { formOf, text } from '../form.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { installLivePath } from '../../domain/install.ts'
import { AccountPage, accountPaths, agreePath } from './account-page.tsx'
import { InstallRow } from './install-row.tsx'
import { isOf, uninstall } from './steps.tsx'

const notices = {
  pending: 'You agreed. The install now waits for an operator’s approval.',
  approved: 'The app is installed and can start to work.',
  ...uninstall.done,
  agree: 'You agreed. The app can now use the new permissions.',
} as const

/** The ticket binds the agreement to the scopes that the page showed. */
const agreeForm = formOf({ scopes: text }, ['scopes'])

/** The installs of the signed-in person, and the apps that they can install. */
export const ownInstallRoutes = (door: Door) =>
  new Elysia()
    .use(listRoutes(door, installsAndApps, { by: 'user', show }))
    .use(
      changed(door, agreePath(':id'), {
        by: 'user',
        effect: 'decides for oneself',
        form: agreeForm,
        show,
        act: async ({ visit, fields, ticket }, { id }) => {
          await visit.as(ownsInstall(id), ticket).do(agreeToScopes, { id, agreedTo: parseStoredScope(fields.scopes) })
          return seeOther(`${accountPaths.installs}?done=agree`)
        },
      }),
    )
    // An install has no page of its own. This is what is loaded instead of an address that only takes a form.
    .get(`${accountPaths.installs}/:id`, async ({ request }) => {
      await requireVisit(door, request)
      return seeOther(accountPaths.installs)
    })

const nothingOffered = 'There are no apps to install yet. An app appears here when its first version goes live.'

const installsAndApps = list(
  'own',
  accountPaths.installs,
  {
    status: choice('Status', [
      ['waiting', 'Waiting for approval'],
      ['active', 'Active'],
      ['deactivated', 'Deactivated'],
      ['rejected', 'Rejected'],
      ['withdrawn', 'Withdrawn'],
    ]),
    q: search('Name or slug of an app'),
    sort: order(timeOrders),
  },
  { parts: { installs: ['status', 'sort'], apps: ['q'] } },
)

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = installsAndApps.read(visit)
  const { status, q, sort } = asked.values
  const installs = await asked.rows(
    (window) => listOwnInstalls(platform, visit.session, window, status, sort),
    'installs',
  )
  const connected = await listConnectedApps(platform, visit.session)
  const apps = await asked.rows((window) => listOfferedApps(platform, window, q), 'apps')
  const catalogue = await readCatalogue(platform)
  return page(
    <AccountPage title="Installs" visit={visit} tab={accountPaths.installs} notices={notices}>
      <h2>Your installs</h2>
      <FilterBar of={asked} part="installs" label="Your installs" isShown={installs.rows.length > 0} />
      <RowList
        rows={installs.rows}
        row={(install) => (
          <InstallRow
            visit={visit}
            catalogue={catalogue}
            install={install}
            connectedAs={connected.find(isOf(install))?.clientId ?? null}
          />
        )}
        empty={noMatch(installs, 'You have no installs. Choose an app below.')}
      />
      <Pager of={installs} label="Pages of your installs" />
      <h2>Apps you can install</h2>
      <FilterBar of={asked} part="apps" label="Apps you can install" isShown={apps.rows.length > 0} />
      <RowList
        rows={apps.rows}
        row={(app) => <OfferedAppRow catalogue={catalogue} app={app} />}
        empty={noMatch(apps, nothingOffered)}
      />
      <Pager of={apps} label="Pages of apps" />
    </AccountPage>,
  )
}

const OfferedAppRow = ({ catalogue, app }: { readonly catalogue: ScopeCatalogue; readonly app: OfferedApp }) => (
  <Row
    avatar={<Avatar id={app.id} name={app.name} />}
    title={<bdi>{app.name}</bdi>}
    facts={[
      <>
        Published by <bdi>{app.publisher}</bdi>
      </>,
    ]}
    actions={
      <a class="button small" href={installLivePath(app.slug)}>
        Install
        <span class="unseen">
          {': '}
          <bdi>{app.name}</bdi>
        </span>
      </a>
    }
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={app.scopes} />
  </Row>
)
