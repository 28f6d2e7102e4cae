import { Elysia } from 'elysia'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { listConnectedApps } from '../../operations/connected-apps.ts'
import { ownsInstall, agreeToScopes } from '../../operations/installs/installs.ts'
import { countEndedInstalls, listOwnInstalls } from '../../operations/installs/lists.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { changed } from '../change.tsx'
import { EmptyState, FilterBar, isLong, Pager, Segments } from '../design/list-tools.tsx'
import { RowList } from '../design/row-list.tsx'
import { formOf, text } from '../form.ts'
import { list, listRoutes, order, tabs, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AppsPage, accountPaths, agreePath } from './account-page.tsx'
import { InstallRow } from './install-row.tsx'
import { isOf, uninstall } from './steps.tsx'

const notices = {
  pending: 'You agreed. The install now waits for an operator’s approval.',
  approved: 'The app is installed and starts working right away.',
  ...uninstall.done,
  agree: 'You agreed. The app can now use the new permissions.',
} as const

/** The ticket binds the agreement to the scopes that the page showed. */
const agreeForm = formOf({ scopes: text }, ['scopes'])

/** The installs of the signed-in person. */
export const ownInstallRoutes = (door: Door) =>
  new Elysia()
    .use(listRoutes(door, ownInstalls, { by: 'user', show }))
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

/** Removed installs are behind a link, so that what is in use comes first. */
const ownInstalls = list('own', accountPaths.installs, {
  show: tabs('Show', [
    ['open', 'In use or waiting'],
    ['ended', 'Removed'],
  ]),
  sort: order(timeOrders),
})

const mostCounted = 99

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = ownInstalls.read(visit)
  const { show: status, sort } = asked.values
  const installs = await asked.rows((window) => listOwnInstalls(platform, visit.session, window, status, sort))
  const connected = await listConnectedApps(platform, visit.session)
  const ended = await countEndedInstalls(platform, visit.session, mostCounted + 1)
  const catalogue = await readCatalogue(platform)
  return page(
    <AppsPage title="Installs" visit={visit} tab={accountPaths.installs} notices={notices}>
      {ended === 0 && status === 'open' ? null : (
        <Segments
          label="Installs"
          links={[
            { href: asked.with({ show: 'open' }), name: 'In use or waiting', count: null, current: status === 'open' },
            {
              href: asked.with({ show: 'ended' }),
              name: 'Removed',
              count: { count: Math.min(ended, mostCounted), exact: ended <= mostCounted },
              current: status === 'ended',
            },
          ]}
        />
      )}
      <FilterBar of={asked} isShown={isLong(installs)} />
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
        empty={
          status === 'ended' ? (
            'You have removed no installs.'
          ) : (
            <EmptyState
              title="No app is installed"
              action={
                <a class="button primary" href={accountPaths.directory}>
                  Find apps
                </a>
              }
            >
              Apps add something to your websites and stores. You see what each may do before you install it.
            </EmptyState>
          )
        }
      />
      <Pager of={installs} />
    </AppsPage>,
  )
}
