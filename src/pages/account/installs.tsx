import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { ownsInstall } from '../../operations/installs/install-record.ts'
import { listOfferedApps, listOwnInstalls, type OfferedApp, type OwnInstall } from '../../operations/installs/lists.ts'
import { agreeToScopes, endInstall } from '../../operations/installs/move-install.ts'
import { Problem } from '../components/form.tsx'
import { ScopeList } from '../components/scopes.tsx'
import { Older } from '../components/table.tsx'
import { answerForm, asUser, emptyForm, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { listPart, noticeFor, olderPath } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, agreePath, endInstallPath, installLivePath } from './account-page.tsx'
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
    .post(endInstallPath(':id'), async ({ request, params: { id } }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm)
      const { platform, trace, actor } = asUser(visit, ownsInstall(visit.userId, id))
      return await answerForm(endInstall(platform, trace, actor, id), {
        done: (step) => settled(step),
        refused: async (error) => await show(visit, error),
      })
    })
    .post(agreePath(':id'), async ({ request, params: { id } }) => {
      const { visit, fields, ticket } = await receiveFromUser(door, request, agreeForm)
      const { platform, trace, actor } = asUser(visit, ownsInstall(visit.userId, id), ticket)
      const agreedTo = parseStoredScope(fields.scopes)
      return await answerForm(agreeToScopes(platform, trace, actor, { id, agreedTo }), {
        done: () => settled('agree'),
        refused: async (error) => await show(visit, error),
      })
    })

const settled = (done: keyof typeof notices): Response => seeOther(`${accountPaths.installs}?done=${done}`)

const show = async (visit: Visit, error: PlatformError | null): Promise<Response> => {
  const { platform } = visit.door
  const installs = await listOwnInstalls(platform, visit.session, listPart(visit, 'own-installs', 'installs'))
  const apps = await listOfferedApps(platform, listPart(visit, 'offered-apps', 'apps'))
  const path = accountPaths.installs
  return page(
    <InstallsPage
      visit={visit}
      notice={noticeFor(visit, notices)}
      error={error}
      installs={installs.data}
      olderInstalls={olderPath(path, 'own-installs', installs.nextCursor, {}, 'installs')}
      apps={apps.data}
      moreApps={olderPath(path, 'offered-apps', apps.nextCursor, {}, 'apps')}
    />,
    { refusal: error },
  )
}

type InstallsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
  readonly installs: readonly OwnInstall[]
  readonly olderInstalls: string | null
  readonly apps: readonly OfferedApp[]
  readonly moreApps: string | null
}

const InstallsPage = ({ visit, notice, error, installs, olderInstalls, apps, moreApps }: InstallsPageProps) => (
  <AccountPage title="Installs" visit={visit} tab={accountPaths.installs} notice={notice}>
    <Problem error={error} />
    <h2>Your installs</h2>
    {installs.length === 0 ? (
      <p class="muted">You have no installs. Choose an app below.</p>
    ) : (
      <>
        <p>Ending an install works at once. The app gets nothing through it any more.</p>
        <div class="cards">
          {installs.map((install) => (
            <InstallCard key={install.id} visit={visit} install={install} />
          ))}
        </div>
      </>
    )}
    <Older href={olderInstalls} name="Older installs" />
    <h2>Apps you can install</h2>
    {apps.length === 0 ? (
      <p class="muted">There are no apps to install yet. An app appears here when its first version goes live.</p>
    ) : (
      <div class="cards">
        {apps.map((app) => (
          <OfferedAppCard key={app.slug} app={app} />
        ))}
      </div>
    )}
    <Older href={moreApps} name="More apps" />
  </AccountPage>
)

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
