import { type AppOverview, appOverview, inspectApp, type InspectedApp } from '../../operations/apps/lists.ts'
import { countActiveInstalls, listAttention, readActivity, readLatestEvents } from '../../operations/counts/counts.ts'
import { AppStatusBadge, MemberBadges, VersionStatusBadge } from '../design/badge.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { ActivityTiles, AttentionList, LatestEventList } from '../dashboard.tsx'
import { isNewApp, SetUp, setUpSteps } from '../set-up.tsx'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { appFor, AppPage, type AppVisit, type AtApp, ClientId, DeskAppPage } from './app-area.tsx'
import { AddUri } from './redirect-uris.tsx'
import { changed, pageFor, routes } from '../change.tsx'
import { isUndeletable } from '../../domain/app.ts'
import { bytesInWords } from '../../domain/text.ts'
import { setAppStatus, undeleteApp } from '../../operations/apps/apps.ts'
import { listMembers, type TeamMember } from '../../operations/apps/members.ts'
import { artifactUse } from '../../operations/artifacts/artifacts.ts'
import { operatorSteps } from './app-steps.tsx'
import { Avatar } from '../design/avatar.tsx'
import { ButtonForm } from '../design/form.tsx'
import { emptyForm } from '../form.ts'
import { type Effect, proveFirst } from '../proof.ts'
import { noticesOf, StepLinks } from '../step.tsx'
import { installCountsInWords } from '../words.ts'
import { deskAudit } from '../desk/audit.tsx'
import { deskAppPath, deskPaths, mixedScriptsFact, Owner, reviewPath, userPath } from '../desk/desk-page.tsx'
import { deskInstalls } from '../desk/installs.tsx'

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

const operatorNotices = {
  created: 'The app is registered. Create a secret, and give it to the developer.',
  active: 'The app is active. Its secrets and all tokens that have not expired work again.',
  undeleted: 'The app is restored and suspended. Activate it when it should work again.',
  ...noticesOf(...operatorSteps),
} as const

const deskPattern = '/desk/apps/:slug'

/** One app at a glance, for operators, and what they can do about it. Its other pages are those of its members, in `pages/app`. */
export const deskAppRoutes = routes(() => [
  pageFor('operator', deskPattern, showToOperator),
  deskButton('activate', 'gives a right', async ({ visit }, slug) => {
    await visit.asOperator().do(setAppStatus, { slug, status: 'active' })
    return 'active'
  }),
  deskButton('undelete', 'gives an app to somebody', async ({ visit }, slug) => {
    await visit.asOperator().do(undeleteApp, slug)
    return 'undeleted'
  }),
])

/** A button on that page. It answers which of the sentences of the page is shown then. */
const deskButton = (
  step: 'activate' | 'undelete',
  effect: Effect,
  act: (submission: { readonly visit: Visit }, slug: string) => Promise<keyof typeof operatorNotices>,
) =>
  changed(`${deskPattern}/${step}`, {
    by: 'operator',
    effect,
    form: emptyForm,
    show: showToOperator,
    act: async (submission, { slug }) => {
      await inspectApp(submission.visit.door.platform, slug)
      return seeOther(`${deskAppPath(slug)}?done=${await act(submission, slug)}`)
    },
  })

const showToOperator = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { platform } = visit.door
  const app = await inspectApp(platform, slug)
  const use = await artifactUse(platform, app.id)
  const members = await listMembers(platform, slug)
  const at = app.deletedAt === null ? await appFor(visit, slug) : null
  return page(
    <DeskAppPage
      title={app.name}
      avatarId={app.id}
      badges={<AppStatusBadge status={app.status} deletedAt={app.deletedAt} />}
      about={<code>{app.slug}</code>}
      app={app}
      tab=""
      visit={visit}
      notices={operatorNotices}
    >
      <AppFacts app={app} use={use} />
      <h2>Members</h2>
      <RowList rows={members} row={(member) => <TeamRow member={member} />} />
      <h2>Access and ownership</h2>
      {at === null ? (
        <Deleted visit={visit} slug={slug} isRestorable={isUndeletable(app.deletedAt ?? 0, platform.clock.now())} />
      ) : (
        <>
          {app.status === 'active' ? null : (
            <div class="step">
              <p>
                The app is suspended. If you activate it, its secrets work again at once, and so do all tokens that have
                not expired or been revoked.
              </p>
              <ButtonForm action={deskAppPath(slug, 'activate')} visit={visit} asks={proveFirst(visit)}>
                Activate this app
              </ButtonForm>
            </div>
          )}
          <StepLinks visit={visit} steps={operatorSteps} of={at} params={{ slug }} />
        </>
      )}
    </DeskAppPage>,
  )
}

const TeamRow = ({ member }: { readonly member: TeamMember }) => (
  <Row
    key={member.userId}
    href={userPath(member.userId)}
    avatar={<Avatar id={member.userId} name={member.name} />}
    title={<bdi>{member.name}</bdi>}
    badge={<MemberBadges member={member} />}
    facts={[<bdi>{member.email}</bdi>]}
  />
)

type DeletedProps = { readonly visit: Visit; readonly slug: string; readonly isRestorable: boolean }

const Deleted = ({ visit, slug, isRestorable }: DeletedProps) =>
  isRestorable ? (
    <div class="step">
      <p>
        This app is deleted. After 7 days everything except its audit log is removed. Until then you can restore it. It
        is then suspended, and its earlier tokens and grants stay revoked.
      </p>
      <ButtonForm action={deskAppPath(slug, 'undelete')} visit={visit} asks={proveFirst(visit)}>
        Restore this app
      </ButtonForm>
    </div>
  ) : (
    <p>This app was deleted more than 7 days ago. Everything except its audit log is being removed.</p>
  )

type AppFactsProps = { readonly app: InspectedApp; readonly use: Awaited<ReturnType<typeof artifactUse>> }

const AppFacts = ({ app, use }: AppFactsProps) => (
  <Facts
    of={{
      ...mixedScriptsFact(app.name),
      Owner: <Owner owner={app.owner} />,
      Registered: <Time at={app.createdAt} />,
      'Scopes it may ask for': app.scopes.length === 0 ? 'None' : <code>{app.scopes.join(' ')}</code>,
      'Live version': <VersionLink slug={app.slug} version={app.live} />,
      'Waiting for review': <VersionLink slug={app.slug} version={app.submitted} />,
      Installs: (
        <>
          <a href={deskInstalls.to({ app: app.slug, status: 'all' })}>{installCountsInWords(app.installs)}</a>
          {app.deletedAt === null ? (
            <>
              {' '}
              · <a href={`${deskPaths.newInstall}?app=${app.slug}`}>Install it for a user</a>
            </>
          ) : null}
        </>
      ),
      Artifacts: `${bytesInWords(use.bytes)} of ${bytesInWords(use.allowedBytes)}`,
      'Client IDs': <Lines of={[<code>{app.clientIds.production}</code>, <code>{app.clientIds.development}</code>]} />,
      Events: <a href={deskAudit.to({ app: app.slug })}>App audit log</a>,
    }}
  />
)

type VersionLinkProps = { readonly slug: string; readonly version: InspectedApp['live'] }
const VersionLink = ({ slug, version }: VersionLinkProps) =>
  version === null ? <>None</> : <a href={reviewPath(slug, version.version)}>{version.version}</a>
