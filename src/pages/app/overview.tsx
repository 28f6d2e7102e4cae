import { type AppOverview, appOverview } from '../../operations/apps/lists.ts'
import { readActivity, countActiveInstalls, listAttention, readLatestEvents } from '../../operations/counts/counts.ts'
import { AppStatusBadge, VersionStatusBadge } from '../design/badge.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Facts, Time } from '../design/values.tsx'
import { ActivityTiles, AttentionList, LatestEventList } from '../dashboard.tsx'
import { isNewApp, SetUp, setUpSteps } from '../set-up.tsx'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { appFor, AppPage, type AppVisit, type AtApp, ClientId } from './app-area.tsx'
import { AddUri } from './redirect-uris.tsx'
import { pageFor, routes } from '../change.tsx'

const notices = {
  app: 'Your app is registered. The steps below lead to its first call.',
} as const

/** An app at a glance, for its members. */
export const appOverviewRoutes = routes(() => [pageFor('user', '/console/:slug', show)])

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { app } = at
  const overview = await appOverview(visit.door.platform, app)
  const steps = setUpSteps(app.slug, overview)
  return page(
    <AppPage
      at={at}
      tab=""
      switches
      title={app.name}
      notices={notices}
      avatarId={app.id}
      badges={<AppStatusBadge status={app.status} />}
      about={<code>{app.slug}</code>}
    >
      {isNewApp(overview, steps) ? <SetUp steps={steps} /> : await dashboardOf(at, overview)}
      {isNewApp(overview, steps) &&
      at.environment === 'development' &&
      overview.redirectUris.development.length === 0 &&
      at.may('settings') ? (
        <AddUri at={at} environment="development" />
      ) : null}
      <h2>Identity</h2>
      <Facts
        of={{
          'Client ID': <ClientId at={at} environment={at.environment} />,
          'App ID': <code>{app.id}</code>,
          Registered: <Time at={app.createdAt} />,
          'Secret last used': <Time at={overview.lastUsedAt} otherwise="Never" />,
        }}
      />
    </AppPage>,
  )
}

/** What an app in use shows: what to do, what was counted in one environment, its versions, and what happened last. */
const dashboardOf = async (at: AppVisit, overview: AppOverview) => {
  const { environment } = at
  const { door, userId } = at.visit
  const of = { appId: at.app.id }
  const [attention, activity, activeInstalls, latest] = await Promise.all([
    listAttention(door.platform, of),
    readActivity(door.platform, of, environment),
    countActiveInstalls(door.platform, of, environment),
    readLatestEvents(door.platform, of, userId),
  ])
  return (
    <>
      <AttentionList items={attention.filter(({ kind }) => kind !== 'app_suspended')} namesApps={false} />
      <ActivityTiles
        activity={activity}
        activeInstalls={activeInstalls}
        installsHref={at.path('installs')}
        webhooksHref={at.path('webhooks')}
      />
      <StatusRows at={at} overview={overview} />
      <h2>Latest events</h2>
      <LatestEventList latest={latest} now={door.platform.clock.now()} pageOfApp={at.app.id} />
      <p>
        <a href={at.path('trail')}>All events</a>
      </p>
    </>
  )
}

const versionRows = [
  {
    which: 'live',
    since: ['Activated', 'activatedAt'],
    title: 'Live now',
    otherwise: 'Nothing is live yet. A version goes live after its review.',
  },
  {
    which: 'developmentHead',
    since: ['Uploaded', 'createdAt'],
    title: 'Development head',
    otherwise: 'No version has been uploaded yet.',
  },
  {
    which: 'submitted',
    since: ['Submitted', 'submittedAt'],
    title: 'Waiting for review',
    otherwise: 'No version is waiting. Submit a draft when it is ready.',
  },
] as const

/** The live version, the development head and the version in review. */
const StatusRows = ({ at, overview }: AtApp & { readonly overview: AppOverview }) => (
  <RowList
    label="Versions"
    rows={versionRows}
    row={({ which, since, title, otherwise }) => {
      const version = overview[which]
      return version === null ? (
        <Row key={which} title={title} facts={[otherwise]} />
      ) : (
        <Row
          key={which}
          href={at.path('versions', version.version)}
          title={`${title}: ${version.version}`}
          badge={which === 'developmentHead' ? <VersionStatusBadge status={version.status} /> : undefined}
          time={[since[0], version[since[1]]]}
        />
      )
    }}
  />
)
