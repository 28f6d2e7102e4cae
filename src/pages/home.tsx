import { ownedApp } from '../operations/apps/app-record.ts'
import { appOverview, listOwnApps, type OwnAppSummary } from '../operations/apps/lists.ts'
import { type ConnectedApp, listConnectedApps } from '../operations/connected-apps.ts'
import {
  countActiveInstalls,
  countedWaiting,
  listAttention,
  readActivity,
  readLatestEvents,
} from '../operations/counts/counts.ts'
import { readConditions } from '../operations/health/health.ts'
import { listOwnInstalls, type OwnInstall } from '../operations/installs/lists.ts'
import { ActivityTiles, AttentionList, LatestEventList } from './dashboard.tsx'
import { Avatar } from './design/avatar.tsx'
import { AppStatusBadge, InstallStatusBadge } from './design/badge.tsx'
import { Count, EmptyState } from './design/list-tools.tsx'
import { IconTile } from './design/icon.tsx'
import { Row, RowList } from './design/row-list.tsx'
import { Layout } from './design/shell.tsx'
import { LastUsed } from './design/values.tsx'
import { LinkButton } from './design/form.tsx'
import { canOpen, OpenButton } from './open-button.tsx'
import { page } from './page.ts'
import type { Visit } from './visit.ts'
import { isNewApp, SetUp, setUpSteps, type SetUpStep } from './set-up.tsx'
import { resourceKindWords } from './words.ts'
import { pageFor } from './change.tsx'

/** The start page: what waits for this person, and what their apps did. */
export const homeRoutes = pageFor('user', '/', async (visit) => {
  const apps = await listOwnApps(visit.door.platform, visit.userId)
  return page(
    <Layout title="Home" visit={visit} section="home">
      {visit.session.user.isOperator ? await waitingForOperators(visit) : null}
      {apps.length === 0 ? null : await withApps(visit, apps, await setUpOf(visit, apps))}
      {await ownAccess(visit, apps.length === 0)}
    </Layout>,
  )
})

/** Of longer lists, the start page shows the first ones. */
const shownRows = 5

const waitingForOperators = async ({ door, waiting }: Visit) => {
  const conditions = await readConditions(door.platform)
  const tasks = [
    { title: 'Versions to review', count: waiting?.reviews ?? 0, href: '/desk/reviews' },
    { title: 'Approved versions to make live', count: waiting?.activations ?? 0, href: '/desk/reviews' },
    { title: 'Installs to approve', count: waiting?.installs ?? 0, href: '/desk/installs' },
  ].filter(({ count }) => count > 0)
  return (
    <section aria-labelledby="operator">
      <h2 id="operator">Waiting for you</h2>
      {conditions.map(({ name, sentence }) => (
        <p key={name} class="problem">
          {sentence} <a href="/desk/health">Health</a>
        </p>
      ))}
      <RowList
        rows={tasks}
        empty={
          conditions.length === 0
            ? 'Nothing is waiting, and the server reports no problem.'
            : 'No review or install is waiting.'
        }
        row={({ title, count, href }) => (
          <Row href={href} title={title} badge={<Count of={count} most={countedWaiting - 1} />} />
        )}
      />
      <p>
        <a href="/desk/users/new">Invite a user</a> · <a href="/desk/backups">Backups</a>
      </p>
    </section>
  )
}

/** The steps of the only app, while it is new; null for other people. */
const setUpOf = async ({ door: { platform }, userId }: Visit, [only, another]: readonly OwnAppSummary[]) => {
  if (only === undefined || another !== undefined) return null
  const overview = await appOverview(platform, await ownedApp(platform, userId, only.slug))
  const steps = setUpSteps(only.slug, overview)
  return isNewApp(overview, steps) ? steps : null
}

const withApps = async (
  { door: { platform }, userId }: Visit,
  apps: readonly OwnAppSummary[],
  steps: readonly SetUpStep[] | null,
) => {
  const of = { memberId: userId }
  const [attention, activity, activeInstalls, latest] = await Promise.all([
    listAttention(platform, of),
    readActivity(platform, of, null),
    countActiveInstalls(platform, of, null),
    readLatestEvents(platform, of, userId),
  ])
  const newest = apps.toSorted((one, other) => other.createdAt - one.createdAt)
  return (
    <>
      <AttentionList items={attention} namesApps={true} />
      {steps === null ? null : <SetUp steps={steps} />}
      <section aria-labelledby="activity">
        <h2 id="activity">{apps.length === 1 ? 'Your app' : `Your ${apps.length} apps`}</h2>
        {steps === null ? <ActivityTiles activity={activity} activeInstalls={activeInstalls} /> : null}
        <RowList rows={newest.slice(0, shownRows)} label="Newest apps" row={(app) => <AppRow app={app} />} />
        <p>
          <a href="/console">All apps</a> · <a href="/console/new">Create an app</a>
        </p>
      </section>
      <section aria-labelledby="events">
        <h2 id="events">Latest events</h2>
        <LatestEventList latest={latest} now={platform.clock.now()} />
      </section>
    </>
  )
}

const AppRow = ({ app: { id, slug, name, icon, status, live, developmentHead } }: { readonly app: OwnAppSummary }) => (
  <Row
    href={`/console/${slug}`}
    avatar={<Avatar id={id} name={name} icon={icon} />}
    title={<bdi>{name}</bdi>}
    badge={status === 'active' ? undefined : <AppStatusBadge status={status} />}
    facts={[
      live === null ? 'Not live yet' : `${live} is live`,
      developmentHead === null || developmentHead === live ? null : `${developmentHead} in development`,
    ]}
  />
)

/** What apps may do for this person, also if they have apps of their own; then what they do not use is left out. */
const ownAccess = async (visit: Visit, isWithoutApps: boolean) => {
  const { platform } = visit.door
  const { isOperator } = visit.session.user
  const installs = await listOwnInstalls(platform, visit.session, { limit: shownRows, cursor: null }, 'open')
  const connected = await listConnectedApps(platform, visit.session)
  return (
    <>
      {installs.data.length === 0 && !isWithoutApps ? null : (
        <section aria-labelledby="installs">
          <h2 id="installs">Your installs</h2>
          <RowList
            rows={installs.data}
            row={(install) => <InstallRow install={install} />}
            empty={
              <EmptyState title="No app is installed yet" action={<LinkButton href="/apps">Find apps</LinkButton>}>
                <p>Apps add something to your websites and stores. You agree to what each may do.</p>
              </EmptyState>
            }
          />
          {installs.data.length === 0 ? null : (
            <p>
              <a href="/installs">All installs</a> · <a href="/apps">Find apps</a>
            </p>
          )}
        </section>
      )}
      {connected.length === 0 && !isWithoutApps ? null : (
        <section aria-labelledby="connected">
          <h2 id="connected">Connected apps</h2>
          <RowList
            rows={connected.slice(0, shownRows)}
            row={(app) => <ConnectedRow app={app} />}
            empty="No app can act for you. When you allow one, it appears here."
          />
          {connected.length > shownRows ? (
            <p>
              <a href="/account/apps">{`All ${connected.length} connected apps`}</a>
            </p>
          ) : null}
        </section>
      )}
      {isWithoutApps ? (
        <section aria-labelledby="next">
          <h2 id="next">Next steps</h2>
          <RowList
            rows={[...(isOperator ? operatorSteps : []), ...nextSteps].filter(
              ({ href }) => href !== newAppPath || isOperator || platform.appCreation === 'everyone',
            )}
            row={({ href, name, about, icon }) => (
              <Row key={href} href={href} avatar={<IconTile name={icon} />} title={name} facts={[about]} />
            )}
          />
        </section>
      ) : null}
    </>
  )
}

const InstallRow = ({ install }: { readonly install: OwnInstall }) => (
  <Row
    avatar={<Avatar id={install.appId} name={install.appName} icon={install.icon} />}
    title={<bdi>{install.appName}</bdi>}
    badge={<InstallStatusBadge install={install} />}
    facts={[resourceKindWords[install.kind], <bdi>{install.resourceName}</bdi>]}
    time={['Requested', install.createdAt]}
    actions={canOpen(install) ? <OpenButton install={install} /> : undefined}
  />
)

const ConnectedRow = ({ app }: { readonly app: ConnectedApp }) => (
  <Row
    href={`/account/apps/${app.clientId}`}
    avatar={<Avatar id={app.appId} name={app.name} icon={app.icon} />}
    title={<bdi>{app.name}</bdi>}
    facts={[
      <>
        Published by <bdi>{app.publisher}</bdi>
      </>,
      <LastUsed at={app.lastFetchedAt} />,
    ]}
  />
)

const operatorSteps = [
  {
    href: '/desk/users/new',
    name: 'Invite a user',
    icon: 'users',
    about: 'Developers and owners of websites and stores need an account.',
  },
  {
    href: '/desk/health',
    name: 'Check the server',
    icon: 'pulse',
    about: 'See its health, its backups and what it stores.',
  },
] as const

const newAppPath = '/console/new'

const nextSteps = [
  {
    href: '/apps',
    name: 'Install an app',
    icon: 'box',
    about: 'See the apps for your websites and stores, and what each asks for.',
  },
  {
    href: newAppPath,
    name: 'Build an app',
    icon: 'code',
    about: 'Register it, get a secret and make the first call. That takes a minute.',
  },
  {
    href: '/account/sessions',
    name: 'Check your account',
    icon: 'shield',
    about: 'See where you are signed in, and end sessions that you do not know.',
  },
] as const
