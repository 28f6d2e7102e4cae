import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { ownsInstall } from '../../operations/installs/install-record.ts'
import { listOfferedApps, listOwnInstalls, type OfferedApp } from '../../operations/installs/lists.ts'
import { agreeToScopes } from '../../operations/installs/move-install.ts'
import { Problem } from '../design/field.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Cards, Older } from '../design/table.tsx'
import { answerForm, asUser, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { readList } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, agreePath, installLivePath } from './account-page.tsx'
import { InstallCard } from './install-card.tsx'

const notices = {
  pending: 'You agreed. The install now waits for an operator’s approval.',
  approved: 'The app is installed and can start to work.',
  withdraw: 'The install is withdrawn.',
  deactivate: 'The install has ended. The app gets nothing through it any more.',
  agree: 'You agreed. The app can now use the new permissions.',
} as const

/** The ticket binds the agreement to the scopes that the page showed. */
const agreeForm = formOf({ scopes: text }, ['scopes'])

/** The installs of the signed-in person, and the apps that they can install. */
export const ownInstallRoutes = (door: Door) =>
  new Elysia()
    .get(accountPaths.installs, async ({ request }) => await show(await requireVisit(door, request), null))
    .post(agreePath(':id'), async ({ request, params: { id } }) => {
      const { visit, fields, ticket } = await receiveFromUser(door, request, agreeForm)
      const input = { id, agreedTo: parseStoredScope(fields.scopes) }
      return await answerForm(agreeToScopes(...asUser(visit, ownsInstall(visit.userId, id), ticket), input), {
        done: () => settled('agree'),
        refused: async (error) => await show(visit, error),
      })
    })

const settled = (done: keyof typeof notices): Response => seeOther(`${accountPaths.installs}?done=${done}`)

const show = async (visit: Visit, error: PlatformError | null): Promise<Response> => {
  const { platform } = visit.door
  const path = accountPaths.installs
  const installs = await readList(visit, { list: 'own-installs', path, param: 'installs' }, (part) =>
    listOwnInstalls(platform, visit.session, part),
  )
  const apps = await readList(visit, { list: 'offered-apps', path, param: 'apps' }, (part) =>
    listOfferedApps(platform, part),
  )
  return page(
    <AccountPage title="Installs" visit={visit} tab={path} notices={notices}>
      <Problem error={error} />
      <h2>Your installs</h2>
      <Cards
        rows={installs.rows}
        card={(install) => <InstallCard visit={visit} install={install} />}
        empty="You have no installs. Choose an app below."
      />
      <Older href={installs.olderHref} name="Older installs" />
      <h2>Apps you can install</h2>
      <Cards
        rows={apps.rows}
        card={(app) => <OfferedAppCard app={app} />}
        empty="There are no apps to install yet. An app appears here when its first version goes live."
      />
      <Older href={apps.olderHref} name="More apps" />
    </AccountPage>,
    { refusal: error },
  )
}

const OfferedAppCard = ({ app }: { readonly app: OfferedApp }) => (
  <article>
    <h3>
      <bdi>{app.name}</bdi>
    </h3>
    <p class="muted">
      Published by <bdi>{app.publisher}</bdi>
    </p>
    <p>It may:</p>
    <ScopeList scopes={app.scopes} />
    <a class="button small outline" href={installLivePath(app.slug)}>
      Install
      <span class="unseen">
        {': '}
        <bdi>{app.name}</bdi>
      </span>
    </a>
  </article>
)
