import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { OperatorStep } from '../../domain/install.ts'
import { formatScope } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import {
  countInstalls,
  type DescribedInstall,
  type InstallSearch,
  searchInstalls,
} from '../../operations/installs/lists.ts'
import { moveInstall } from '../../operations/installs/installs.ts'
import { Avatar } from '../design/avatar.tsx'
import { InstallStatusBadge } from '../design/badge.tsx'
import { changed } from '../change.tsx'
import { confirmPath } from '../confirmation.tsx'
import { Problem } from '../design/field.tsx'
import { ButtonForm } from '../design/form.tsx'
import { ExportForm, FilterBar, noMatch, Pager, Segments } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { formOf, optionalText, outcomeOf } from '../form.ts'
import {
  countOfSegment,
  type InstallSegment,
  installSegments,
  noStates,
  segmentNames,
  segmentStatus,
} from '../install-segments.ts'
import { page, seeOther } from '../page.ts'
import {
  addressOf,
  backTo,
  choiceParameter,
  emptyPart,
  keysOf,
  parameterOf,
  readList,
  sortOf,
  timeOrders,
} from '../query.ts'
import { proveFirst } from '../proof.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { resourceKindWords } from '../words.ts'
import { deskAppPath, DeskPage, deskPaths, tooLate, userPath } from './desk-page.tsx'

const notices = {
  approve: 'The install is approved. The app can now work for this user.',
  reject: 'The install is rejected.',
  deactivate: 'The install is deactivated. The app can no longer access this user’s data through it.',
  created: 'The install is created and waits for approval.',
  installed: 'The install is created and active.',
} as const satisfies Record<OperatorStep | 'created' | 'installed', string>

/** Where the list was when its form was sent. */
const listForm = formOf({ back: optionalText })

/** The installs of every app, and the decisions about them. */
export const deskInstallRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.installs, async ({ request }) => await show(await requireOperator(door, request)))
    .use(
      changed(door, '/desk/installs/:id/approve', {
        by: 'operator',
        proof: 'asked',
        form: listForm,
        show,
        act: async ({ visit, fields }, { id }) => {
          const moved = await outcomeOf(visit.asOperator().do(moveInstall, { id, step: 'approve' }))
          if (moved.kind === 'refused') throw refuse('version_not_eligible', { message: tooLate })
          return seeOther(backTo(deskPaths.installs, fields.back, 'approve'))
        },
      }),
    )

const kinds = [
  ['site', 'Websites'],
  ['store', 'Stores'],
] as const

/** The search that the fields of an export describe. */
export const readInstallSearch = (fields: InstallFields): InstallSearch => ({
  app: fields.app ?? '',
  user: fields.user ?? '',
  part: fields.q ?? '',
  kind: keysOf(kinds).find((kind) => kind === fields.kind) ?? null,
  status: segmentStatus(fields.status),
})

export type InstallFields = Readonly<Partial<Record<'app' | 'user' | 'q' | 'kind' | 'status', string | undefined>>>

/** Who has waited longest is decided first; every other list begins with the newest. */
export const usualInstallOrder = (status: string | undefined) => (status === 'waiting' ? 'oldest' : 'newest')

/** The filters of the address. Without any, the installs that wait for a decision. */
const filtersOf = (visit: Visit) => {
  const { request } = visit.call
  const asked = { app: parameterOf(visit, 'app'), user: parameterOf(visit, 'user'), part: parameterOf(visit, 'q') }
  const kind = choiceParameter(request, 'kind', keysOf(kinds))
  const isNarrow = asked.app !== '' || asked.user !== '' || asked.part !== ''
  const status = choiceParameter(request, 'status', segmentNames) ?? (isNarrow ? 'all' : 'waiting')
  const usualOrder = usualInstallOrder(status)
  const { order, sort } = sortOf(request, timeOrders, usualOrder)
  return {
    search: { ...asked, kind, status: segmentStatus(status) },
    order,
    usualOrder,
    segment: status,
    query: {
      q: asked.part,
      app: asked.app,
      user: asked.user,
      kind: kind ?? '',
      status,
      sort,
    },
  } as const
}

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const path = deskPaths.installs
  const filters = filtersOf(visit)
  const { search, order, usualOrder, query, segment } = filters
  const found = await outcomeOf(
    readList(visit, { list: `desk-installs-${order}`, path, query }, (part) =>
      searchInstalls(platform, search, order, part),
    ),
  )
  const installs = found.kind === 'done' ? found.value : emptyPart
  const refusal = found.kind === 'done' ? null : found.error
  const counts = found.kind === 'done' ? await countInstalls(platform, search) : noStates
  return page(
    <DeskPage
      title="Installs"
      visit={visit}
      tab={path}
      notices={notices}
      actions={
        <a class="button" href={deskPaths.newInstall}>
          Install an app for a user
        </a>
      }
    >
      <Problem error={refusal} />
      <Segments label="Status" links={installSegments(counts, segment, path, query)} />
      <FilterBar
        path={path}
        kept={{ status: query.status }}
        fields={[
          { kind: 'search', name: 'q', label: 'App, user or place', value: query.q },
          // Links from an app or a user set these. The search finds both as well.
          ...(query.app === ''
            ? []
            : [{ kind: 'text', name: 'app', label: 'Slug of an app', value: query.app, maxLength: 63 } as const]),
          ...(query.user === ''
            ? []
            : [{ kind: 'text', name: 'user', label: 'Address of a user', value: query.user } as const]),
          {
            kind: 'choice',
            name: 'kind',
            label: 'Installed on',
            all: 'All',
            options: kinds,
            selected: search.kind,
          },
          { kind: 'choice', name: 'sort', label: 'Order', options: timeOrders, selected: order, usual: usualOrder },
        ]}
      />
      {aboutSegment[segment] === '' ? null : <p class="muted">{aboutSegment[segment]}</p>}
      <RowList
        label="Installs"
        rows={installs.rows}
        row={(install) => <InstallRow visit={visit} install={install} />}
        empty={refusal === null ? noMatch(installs, segment !== 'waiting' || query.q !== '', nothingWaits) : null}
      />
      <Pager {...installs} shown={installs.rows.length} total={countOfSegment(counts, segment)} />
      <ExportForm visit={visit} action={`${path}/export`} fields={query} what="installs" shown={installs.rows.length} />
    </DeskPage>,
    { refusal },
  )
}

const nothingWaits = 'No install is waiting. It appears here when a user installs an app on a website or store.'

const aboutSegment: Readonly<Record<InstallSegment, string>> = {
  all: '',
  waiting:
    'If you approve an install, the app can work for this user at once. Rejecting is final for this install, but the user can install the app again.',
  active: 'Deactivating an install is final. The app loses access to this user’s data at once.',
  deactivated: 'These installs were in use and have ended.',
  rejected: 'An operator has rejected these installs.',
  withdrawn: 'Their users withdrew these installs before a decision.',
}

type InstallProps = { readonly visit: Visit; readonly install: DescribedInstall }

/** An install, with what an operator needs to know to decide. */
const InstallRow = ({ visit, install }: InstallProps) => (
  <Row
    avatar={<Avatar id={install.appId} name={install.appName} />}
    title={
      <a href={deskAppPath(install.app)}>
        <bdi>{install.appName}</bdi>
      </a>
    }
    badge={<InstallStatusBadge install={install} />}
    facts={[
      <a href={userPath(install.userId)}>
        <bdi>{install.user}</bdi>
      </a>,
      <>
        {resourceKindWords[install.kind]} <code>{install.resource}</code>
      </>,
      install.environment === 'development' ? 'Development head, for its own developer' : null,
    ]}
    time={install.approval === 'pending' ? ['Requested', install.createdAt] : ['Changed', install.updatedAt]}
    actions={stepsOf(install).length === 0 ? undefined : <StepForms visit={visit} install={install} />}
  >
    {install.approval === 'pending' ? (
      <p class="row-facts">{install.scopes.length === 0 ? 'No scopes' : `Scopes: ${formatScope(install.scopes)}`}</p>
    ) : null}
  </Row>
)

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
        <ButtonForm
          key={step}
          action={path}
          visit={visit}
          class="inline"
          hidden={{ back: addressOf(visit) }}
          look="small"
          asks={proveFirst(visit)}
        >
          {words}
        </ButtonForm>
      ) : (
        <a key={step} class="button small" href={confirmPath(path, visit)}>
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
