import { formatScope, isSubset, parseStoredScope, type ScopeCatalogue } from '../../domain/scope.ts'
import { listConnectedApps } from '../../operations/connected-apps.ts'
import { agreeToScopes, ownsInstall } from '../../operations/installs/installs.ts'
import { countEndedInstalls, listOwnInstalls, type OwnInstall } from '../../operations/installs/lists.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { changed, pageFor, routes } from '../change.tsx'
import { EmptyState, FilterBar, isLong, Pager, Segments } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { formOf, text } from '../form.ts'
import { list, listRoutes, order, tabs, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { accountPaths, agreePath, AppsPage, connectedAppPath } from './account-page.tsx'
import { isOf, uninstall } from './steps.tsx'
import { endingStep, installPath } from '../../domain/install.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge, InstallStatusBadge } from '../design/badge.tsx'
import { Form, MainLink, SmallLink } from '../design/form.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { TimeFact } from '../design/values.tsx'
import { StepButton } from '../step.tsx'
import { resourceKindInSentence, resourceKindWords } from '../words.ts'
import { canOpen, NamedInstall, OpenButton } from '../open-button.tsx'

const notices = {
  pending: 'You agreed. The install now waits for an operator’s approval.',
  approved: 'The app is installed and starts working right away.',
  ...uninstall.done,
  agree: 'You agreed. The app can now use the new permissions.',
} as const

/** The ticket binds the agreement to the scopes that the page showed. */
const agreeForm = formOf({ scopes: text }, ['scopes'])

/** The installs of the signed-in person. */
export const ownInstallRoutes = routes(() => [
  listRoutes(ownInstalls, { by: 'user', show }),
  changed(agreePath(':id'), {
    by: 'user',
    effect: 'decides for oneself',
    form: agreeForm,
    show,
    act: async ({ visit, fields, ticket }, { id }) => {
      await visit.as(ownsInstall(id), ticket).do(agreeToScopes, { id, agreedTo: parseStoredScope(fields.scopes) })
      return seeOther(`${accountPaths.installs}?done=agree`)
    },
  }),
  // An install has no page of its own. This is what is loaded instead of an address that only takes a form.
  pageFor('user', `${accountPaths.installs}/:id`, () => seeOther(accountPaths.installs)),
])

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
              action={<MainLink href={accountPaths.directory}>Find apps</MainLink>}
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

type InstallRowProps = {
  readonly visit: Visit
  readonly catalogue: ScopeCatalogue
  readonly install: OwnInstall
  /** The client ID with which the app can act for the person; null if it cannot. */
  readonly connectedAs?: string | null
}

/** One install: its place, its permissions, its status, and what its owner can do with it. */
export const InstallRow = ({ visit, catalogue, install, connectedAs = null }: InstallRowProps) => (
  <Row
    avatar={<Avatar id={install.appId} name={install.appName} icon={install.icon} />}
    title={<bdi>{install.appName}</bdi>}
    badge={<States install={install} />}
    facts={[
      <>
        {resourceKindWords[install.kind]} <bdi>{install.resourceName}</bdi> (<code>{install.resource}</code>)
      </>,
      <>
        Published by <bdi>{install.publisher}</bdi>
      </>,
      <TimeFact words="Since" at={install.createdAt} />,
      connectedAs === null ? null : <a href={connectedAppPath(connectedAs)}>Connected to your account</a>,
    ]}
    actions={<Actions visit={visit} install={install} />}
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={install.scopes} />
    <NewScopes visit={visit} catalogue={catalogue} install={install} />
  </Row>
)

const States = ({ install }: { readonly install: OwnInstall }) => (
  <>
    <InstallStatusBadge install={install} />{' '}
    {install.environment === 'development' ? <Badge tone="waiting">Test of your own app</Badge> : null}{' '}
    {install.appStatus === 'suspended' ? <Badge tone="bad">App suspended</Badge> : null}
  </>
)

/** A newer version asks for more scopes. Until the owner agrees, the install keeps the scopes it has. */
const NewScopes = ({ visit, catalogue, install }: InstallRowProps) => {
  const { asked, scopes } = install
  if (asked === null || isSubset(asked, scopes) || endingStep(install) === null) return null
  return (
    <section
      class="asks-more"
      aria-label={`What ${install.appName} on the ${resourceKindInSentence(install.kind)} ${install.resource} asks for now`}
    >
      <p>
        <strong>This app asks for more.</strong> It keeps its current permissions, and gets the new ones only if you
        agree:
      </p>
      <ScopeList catalogue={catalogue} scopes={asked} agreed={scopes} />
      <Form action={agreePath(install.id)} visit={visit} bound={[formatScope(asked)]}>
        <input type="hidden" name="scopes" value={formatScope(asked)} />
        <button type="submit" class="small">
          Agree
          <span class="unseen">
            {' to what '}
            <bdi>{install.appName}</bdi> asks for
          </span>
        </button>
      </Form>
    </section>
  )
}

/** The way to install an app again that was removed. */
const Again = ({ install: { app, appName, appStatus, environment } }: Pick<InstallRowProps, 'install'>) =>
  appStatus === 'suspended' ? null : (
    <SmallLink href={installPath(app, environment)}>
      Install again
      <span class="unseen">
        {': '}
        <bdi>{appName}</bdi>
      </span>
    </SmallLink>
  )

const Actions = ({ visit, install }: Pick<InstallRowProps, 'visit' | 'install'>) =>
  endingStep(install) === null ? (
    <Again install={install} />
  ) : (
    <>
      {canOpen(install) ? <OpenButton install={install} /> : null}
      <StepButton visit={visit} step={uninstall} of={install} params={{ id: install.id }} look="small">
        <NamedInstall install={install} />
      </StepButton>
    </>
  )
