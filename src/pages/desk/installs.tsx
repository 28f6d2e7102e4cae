import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { OperatorStep } from '../../domain/install.ts'
import { scopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { type DescribedInstall, listDecidedInstalls, listPendingInstalls } from '../../operations/installs/lists.ts'
import { moveInstall } from '../../operations/installs/move-install.ts'
import { InstallStatusBadge } from '../components/badges.tsx'
import { Form, Problem, SearchForm } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { answerForm, emptyForm, outcomeOf, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { listPart, noticeFor, olderPath, parameterOf } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { resourceKindWords } from '../words.ts'
import { onTheDesk, deskAppPath, DeskPage, deskPaths } from './desk-page.tsx'

const notices = {
  approve: 'The install is approved. The app can now work for this user.',
  reject: 'The install is rejected.',
  deactivate: 'The install is deactivated. The app can no longer access this user’s data through it.',
} as const satisfies Record<OperatorStep, string>

/** Installs that wait for a decision, decided installs, and the decisions. */
export const deskInstallRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.installs, async ({ request }) => await show(await requireOperator(door, request), null))
    .post('/desk/installs/:id/approve', async ({ request, params }) => await move(door, request, params.id, 'approve'))
    .post('/desk/installs/:id/reject', async ({ request, params }) => await move(door, request, params.id, 'reject'))
    .post(
      '/desk/installs/:id/deactivate',
      async ({ request, params }) => await move(door, request, params.id, 'deactivate'),
    )

const move = async (door: Door, request: Request, id: string, step: OperatorStep): Promise<Response> => {
  const { visit } = await receiveFromOperator(door, request, emptyForm)
  const { platform, trace, actor } = onTheDesk(visit)
  return await answerForm(moveInstall(platform, trace, actor, { id, step }), {
    done: () => seeOther(`${deskPaths.installs}?done=${step}`),
    refused: async () => await show(visit, refuse('version_not_eligible', { message: tooLate })),
  })
}

const tooLate = 'This install is already decided, or does not exist any more. Nothing was changed.'

const show = async (visit: Visit, error: PlatformError | null): Promise<Response> => {
  const { platform } = visit.door
  const app = parameterOf(visit, 'app')
  const pending = await listPendingInstalls(platform, listPart(visit, 'desk-pending', 'waiting'))
  const slug = app === '' ? null : app
  const found = await outcomeOf(listDecidedInstalls(platform, slug, listPart(visit, 'desk-decided', 'decided')))
  const decided = found.kind === 'done' ? found.value : { data: [], nextCursor: null }
  const refusal = found.kind === 'done' ? error : found.error
  const query = app === '' ? {} : { app }
  return page(
    <DeskInstallsPage
      visit={visit}
      notice={noticeFor(visit, notices)}
      error={refusal}
      app={app}
      pending={pending.data}
      morePending={olderPath(deskPaths.installs, 'desk-pending', pending.nextCursor, query, 'waiting')}
      decided={decided.data}
      olderDecided={olderPath(deskPaths.installs, 'desk-decided', decided.nextCursor, query, 'decided')}
    />,
    { refusal },
  )
}

type DeskInstallsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
  /** The slug of the app whose decided installs are shown; empty for all apps. */
  readonly app: string
  readonly pending: readonly DescribedInstall[]
  readonly morePending: string | null
  readonly decided: readonly DescribedInstall[]
  readonly olderDecided: string | null
}

const DeskInstallsPage = (props: DeskInstallsPageProps) => {
  const { visit, notice, error, app, pending, morePending, decided, olderDecided } = props
  return (
    <DeskPage title="Installs" visit={visit} tab={deskPaths.installs} notice={notice}>
      <Problem error={error} />
      <h2>Waiting for your decision</h2>
      {pending.length === 0 ? (
        <p class="muted">No install is waiting. It appears here when a user installs an app on a website or store.</p>
      ) : (
        <>
          <p>
            If you approve an install, the app can work for this user at once. Rejecting is final for this install, but
            the user can install the app again.
          </p>
          <div class="cards">
            {pending.map((install) => (
              <PendingInstall key={install.id} visit={visit} install={install} />
            ))}
          </div>
        </>
      )}
      <Older href={morePending} name="More waiting installs" />
      <h2>Decided</h2>
      <SearchForm
        path={deskPaths.installs}
        name="app"
        label="Slug of an app"
        value={app}
        maxLength={63}
        button="Show its installs"
      />
      {decided.length === 0 ? (
        <p class="muted">
          {app === '' ? 'No install has been decided yet.' : 'No install of this app has been decided.'}
        </p>
      ) : (
        <>
          <p>Deactivating ends an install for good. The app loses access to this user’s data at once.</p>
          <Table label="Decided installs" columns={['App', 'Status', 'User', 'Installed on', 'Last changed', 'Action']}>
            {decided.map((install) => (
              <DecidedInstall key={install.id} visit={visit} install={install} />
            ))}
          </Table>
        </>
      )}
      <Older href={olderDecided} name="Older installs" />
    </DeskPage>
  )
}

type InstallProps = { readonly visit: Visit; readonly install: DescribedInstall }

/** An install that waits, with what an operator needs to know to decide. */
const PendingInstall = ({ visit, install }: InstallProps) => (
  <article>
    <h3>
      <bdi>{install.appName}</bdi>
    </h3>
    <dl>
      <dt>App</dt>
      <dd>
        <a href={deskAppPath(install.app)}>
          <code>{install.app}</code>
        </a>
      </dd>
      <dt>User</dt>
      <dd>{install.user}</dd>
      <dt>{resourceKindWords[install.kind]}</dt>
      <dd>
        <code>{install.resource}</code>
      </dd>
      <dt>It may</dt>
      <dd>{scopesInWords(install)}</dd>
      {install.environment === 'development' ? (
        <>
          <dt>Version</dt>
          <dd>The development head, for its own developer</dd>
        </>
      ) : null}
      <dt>Requested</dt>
      <dd>
        <Time at={install.createdAt} />
      </dd>
    </dl>
    <StepForms visit={visit} install={install} />
  </article>
)

const scopesInWords = ({ scopes }: DescribedInstall): string =>
  scopes.length === 0
    ? 'Nothing except know an ID for the user'
    : scopes.map((name) => scopeCatalogue[name].words).join(' · ')

const DecidedInstall = ({ visit, install }: InstallProps) => (
  <tr>
    <td>
      <a href={deskAppPath(install.app)}>
        <code>{install.app}</code>
      </a>
      <br />
      <small>
        <bdi>{install.appName}</bdi>
      </small>
    </td>
    <td>
      <InstallStatusBadge install={install} />
    </td>
    <td>
      <bdi>{install.user}</bdi>
    </td>
    <td>
      {resourceKindWords[install.kind]} <code>{install.resource}</code>
    </td>
    <td>
      <Time at={install.updatedAt} />
    </td>
    <td>
      <StepForms visit={visit} install={install} />
    </td>
  </tr>
)

/** The decisions that are possible now; none for an install that has ended. */
const StepForms = ({ visit, install }: InstallProps) => (
  <div class="beside">
    {stepsOf(install).map((step) => (
      <Form key={step} action={`${deskPaths.installs}/${install.id}/${step}`} visit={visit}>
        <button type="submit" class={step === 'approve' ? 'small' : 'danger small'}>
          {buttons[step]}
          <span class="unseen">
            {' '}
            <bdi>{install.appName}</bdi> for {install.user}
          </span>
        </button>
      </Form>
    ))}
  </div>
)

const stepsOf = ({ approval, state }: DescribedInstall): readonly OperatorStep[] => {
  if (approval === 'pending') return ['approve', 'reject']
  return state === 'active' ? ['deactivate'] : []
}

const buttons = { approve: 'Approve', reject: 'Reject', deactivate: 'Deactivate' } as const satisfies Record<
  OperatorStep,
  string
>
