import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { OperatorStep } from '../../domain/install.ts'
import { scopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { type DescribedInstall, listDecidedInstalls, listPendingInstalls } from '../../operations/installs/lists.ts'
import { moveInstall } from '../../operations/installs/move-install.ts'
import { InstallStatusBadge } from '../design/badge.tsx'
import { ButtonForm, Problem } from '../design/field.tsx'
import { SearchForm } from '../design/list-tools.tsx'
import { Cards, Older, Table } from '../design/table.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { confirmPath } from '../confirmation.tsx'
import { answerForm, emptyForm, outcomeOf, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { resourceKindWords } from '../words.ts'
import { AppLink, DeskPage, deskPaths, onTheDesk, tooLate } from './desk-page.tsx'

const notices = {
  approve: 'The install is approved. The app can now work for this user.',
  reject: 'The install is rejected.',
  deactivate: 'The install is deactivated. The app can no longer access this user’s data through it.',
} as const satisfies Record<OperatorStep, string>

/** Installs that wait for a decision, decided installs, and the decisions. */
export const deskInstallRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.installs, async ({ request }) => await show(await requireOperator(door, request), null))
    .post('/desk/installs/:id/approve', async ({ request, params: { id } }) => {
      const { visit } = await receiveFromOperator(door, request, emptyForm)
      return await answerForm(moveInstall(...onTheDesk(visit), { id, step: 'approve' }), {
        done: () => seeOther(`${deskPaths.installs}?done=approve`),
        refused: async () => await show(visit, refuse('version_not_eligible', { message: tooLate })),
      })
    })

const show = async (visit: Visit, error: PlatformError | null): Promise<Response> => {
  const { platform } = visit.door
  const path = deskPaths.installs
  // The slug of the app whose decided installs are shown; empty for all apps.
  const app = parameterOf(visit, 'app')
  const query = { app }
  const pending = await readList(visit, { list: 'desk-pending', path, query, param: 'waiting' }, (part) =>
    listPendingInstalls(platform, part),
  )
  const found = await outcomeOf(
    readList(visit, { list: 'desk-decided', path, query, param: 'decided' }, (part) =>
      listDecidedInstalls(platform, app === '' ? null : app, part),
    ),
  )
  const decided = found.kind === 'done' ? found.value : { rows: [], olderHref: null }
  const refusal = found.kind === 'done' ? error : found.error
  return page(
    <DeskPage title="Installs" visit={visit} tab={path} notices={notices}>
      <Problem error={refusal} />
      <h2>Waiting for your decision</h2>
      {pending.rows.length === 0 ? null : (
        <p>
          If you approve an install, the app can work for this user at once. Rejecting is final for this install, but
          the user can install the app again.
        </p>
      )}
      <Cards
        rows={pending.rows}
        card={(install) => <PendingInstall visit={visit} install={install} />}
        empty="No install is waiting. It appears here when a user installs an app on a website or store."
      />
      <Older href={pending.olderHref} name="More waiting installs" />
      <h2>Decided</h2>
      <SearchForm path={path} name="app" label="Slug of an app" value={app} maxLength={63} button="Show its installs" />
      {decided.rows.length === 0 ? null : (
        <p>Deactivating ends an install for good. The app loses access to this user’s data at once.</p>
      )}
      <Table
        label="Decided installs"
        rows={decided.rows}
        columns={{
          App: ({ app: slug, appName }) => <Lines of={[<AppLink slug={slug} />, <SmallName name={appName} />]} />,
          Status: (install) => <InstallStatusBadge install={install} />,
          User: ({ user }) => <bdi>{user}</bdi>,
          'Installed on': ({ kind, resource }) => (
            <>
              {resourceKindWords[kind]} <code>{resource}</code>
            </>
          ),
          'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
          Action: (install) => <StepForms visit={visit} install={install} />,
        }}
        empty={app === '' ? 'No install has been decided yet.' : 'No install of this app has been decided.'}
      />
      <Older href={decided.olderHref} name="Older installs" />
    </DeskPage>,
    { refusal },
  )
}

const SmallName = ({ name }: { readonly name: string }) => (
  <small>
    <bdi>{name}</bdi>
  </small>
)

type InstallProps = { readonly visit: Visit; readonly install: DescribedInstall }

/** An install that waits, with what an operator needs to know to decide. */
const PendingInstall = ({ visit, install }: InstallProps) => (
  <article>
    <h3>
      <bdi>{install.appName}</bdi>
    </h3>
    <Facts
      of={{
        App: <AppLink slug={install.app} />,
        User: install.user,
        [resourceKindWords[install.kind]]: <code>{install.resource}</code>,
        'It may': scopesInWords(install),
        Version: install.environment === 'development' ? 'The development head, for its own developer' : null,
        Requested: <Time at={install.createdAt} />,
      }}
    />
    <StepForms visit={visit} install={install} />
  </article>
)

const scopesInWords = ({ scopes }: DescribedInstall): string =>
  scopes.length === 0
    ? 'Nothing except know an ID for the user'
    : scopes.map((name) => scopeCatalogue[name].words).join(' · ')

/** The decisions that are possible now; none for an install that has ended. */
const StepForms = ({ visit, install }: InstallProps) => (
  <div class="beside">
    {stepsOf(install).map((step) => {
      const path = `${deskPaths.installs}/${install.id}/${step}`
      const words = (
        <>
          {buttons[step]}
          <span class="unseen">
            {' '}
            <bdi>{install.appName}</bdi> for {install.user}
          </span>
        </>
      )
      return step === 'approve' ? (
        <ButtonForm key={step} action={path} visit={visit} look="small">
          {words}
        </ButtonForm>
      ) : (
        <a key={step} class="button outline secondary small" href={confirmPath(path, visit)}>
          {words}
        </a>
      )
    })}
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
