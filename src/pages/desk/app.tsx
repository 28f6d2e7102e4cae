import { Elysia } from 'elysia'
import { isUndeletable } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { bytesInWords } from '../../domain/text.ts'
import type { Door } from '../../http/door.ts'
import { setAppStatus, undeleteApp } from '../../operations/apps/apps.ts'
import { listMembers, type TeamMember } from '../../operations/apps/members.ts'
import { inspectApp, type InspectedApp } from '../../operations/apps/lists.ts'
import { artifactUse } from '../../operations/artifacts/artifacts.ts'
import { changed } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge, MemberBadges } from '../design/badge.tsx'
import { ButtonForm } from '../design/form.tsx'
import { Row, RowList, type StepLink, StepLinks } from '../design/row-list.tsx'
import { type FrameProps, Tabs } from '../design/shell.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { emptyForm } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { installCountsInWords } from '../words.ts'
import { deskAudit } from './audit.tsx'
import { deskAppPath, DeskPage, deskPaths, mixedScriptsFact, Owner, reviewPath, userPath } from './desk-page.tsx'
import { deskInstalls } from './installs.tsx'

const notices = {
  created: 'The app is registered. Create a secret, and give it to the developer.',
  suspended: 'The app is suspended. Its secrets and tokens have stopped working.',
  active: 'The app is active. Its secrets and all tokens that have not expired work again.',
  deleted: 'The app is deleted. It can be restored for 7 days.',
  undeleted: 'The app is restored and suspended. Activate it when it should work again.',
  transferred: 'The app has a new owner. The previous owner may know its secrets. Rotate them.',
  'end-access': 'All access of the app has ended, as listed in the audit log. Its client secrets stay valid.',
} as const

const pattern = '/desk/apps/:slug'

/** One app, and what can be changed about it. `app-steps.tsx` has what asks first. */
export const deskAppRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params }) => await show(await requireOperator(door, request), params))
    .use(
      changed(door, `${pattern}/activate`, {
        by: 'operator',
        proof: 'asked',
        form: emptyForm,
        show,
        act: async ({ visit }, { slug }) => {
          await inspectApp(door.platform, slug)
          await visit.asOperator().do(setAppStatus, { slug, status: 'active' })
          return seeOther(`${deskAppPath(slug)}?done=active`)
        },
      }),
    )
    .use(
      changed(door, `${pattern}/undelete`, {
        by: 'operator',
        proof: 'asked',
        form: emptyForm,
        show,
        act: async ({ visit }, { slug }) => {
          await inspectApp(door.platform, slug)
          await visit.asOperator().do(undeleteApp, slug)
          return seeOther(`${deskAppPath(slug)}?done=undeleted`)
        },
      }),
    )

/** An app that is not deleted. @throws route_not_found for any other: a deleted app can only be restored */
export const undeletedApp = async (door: Door, slug: string): Promise<InspectedApp> => {
  const app = await inspectApp(door.platform, slug)
  if (app.deletedAt !== null) throw refuse('route_not_found')
  return app
}

type DeskAppPageProps = FrameProps & {
  readonly app: InspectedApp
  readonly part: 'overview' | 'credentials' | 'settings'
}

/** The frame of the pages of one app. */
export const DeskAppPage = ({ app, part, children, ...frame }: DeskAppPageProps) => {
  const paths = {
    overview: deskAppPath(app.slug),
    credentials: deskAppPath(app.slug, 'credentials'),
    settings: deskAppPath(app.slug, 'settings'),
  }
  return (
    <DeskPage
      {...frame}
      belongsTo={app.name}
      tab={deskPaths.apps}
      crumbs={[{ href: paths.overview, name: app.name, avatarId: app.id }]}
    >
      {app.deletedAt === null ? (
        <Tabs
          label="App"
          links={[
            { path: paths.overview, name: 'Overview' },
            { path: paths.credentials, name: 'Credentials' },
            { path: paths.settings, name: 'Settings' },
          ]}
          current={paths[part]}
        />
      ) : null}
      {children}
    </DeskPage>
  )
}

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { platform } = visit.door
  const app = await inspectApp(platform, slug)
  const use = await artifactUse(platform, app.id)
  const members = await listMembers(platform, slug)
  return page(
    <DeskAppPage
      title={app.name}
      avatarId={app.id}
      badges={<AppStatusBadge status={app.status} deletedAt={app.deletedAt} />}
      about={<code>{app.slug}</code>}
      app={app}
      part="overview"
      visit={visit}
      notices={notices}
    >
      <AppFacts app={app} use={use} />
      <h2>Members</h2>
      <RowList rows={members} row={(member) => <TeamRow member={member} />} />
      <p class="muted">
        Members invite and remove each other in the developer console. To do it for them, use{' '}
        <code>app-platform app member</code>.
      </p>
      <h2>Access and ownership</h2>
      {app.deletedAt === null ? (
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
          <StepLinks steps={stepsFor(app)} pathOf={(step) => deskAppPath(slug, step)} />
        </>
      ) : (
        <Deleted visit={visit} slug={slug} isRestorable={isUndeletable(app.deletedAt, platform.clock.now())} />
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

const steps = {
  transfer: ['transfer', 'Transfer this app', 'Another active user becomes its owner. Secrets, tokens and users stay.'],
  suspend: ['suspend', 'Suspend this app', 'Its secrets and tokens stop working until you activate it again.'],
  end: ['end-access', 'End all access', 'Every grant, session and token of the app ends. Users have to consent again.'],
  delete: ['delete', 'Delete this app', 'Its access ends at once, and after 7 days it is removed.'],
} as const satisfies Record<string, StepLink>

const stepsFor = (app: InspectedApp): readonly StepLink[] => [
  steps.transfer,
  ...(app.status === 'active' ? [steps.suspend] : []),
  steps.end,
  steps.delete,
]

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
