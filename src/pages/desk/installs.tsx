import { formatScope } from '../../domain/scope.ts'
import { visibleText } from '../../domain/text.ts'
import { isOperator } from '../../operations/acting-as.ts'
import { badInput } from '../../operations/decide.ts'
import { exportInstalls } from '../../operations/exports.ts'
import {
  countInstalls,
  type DescribedInstall,
  describeInstall,
  findInstall,
  type InstallSearch,
  searchInstalls,
} from '../../operations/installs/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { InstallStatusBadge } from '../design/badge.tsx'
import { changed, pageFor, routes } from '../change.tsx'
import { email, line, Problem, SelectField } from '../design/field.tsx'
import { ButtonForm, Form, LinkButton } from '../design/form.tsx'
import { ExportForm, FilterBar, Segments } from '../design/list-tools.tsx'
import { ListRows, Row, RowList } from '../design/row-list.tsx'
import { formOf, optionalText, outcomeOf, sentTo, texts, valuesIn } from '../form.ts'
import {
  countOfSegment,
  type InstallSegment,
  installSegments,
  installTabs,
  noStates,
  resourceKindOptions,
  segmentStatus,
} from '../install-segments.ts'
import { choice, entry, list, listRoutes, type ListValues, order, search, tabs, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { addressOf, backTo, parameterOf } from '../query.ts'
import { proveFirst } from '../proof.ts'
import { noticesOf, StepButton, stepRoutes, stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence, resourceKindWords } from '../words.ts'
import { deskAppPath, deskArea, deskForm, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { Type } from '@sinclair/typebox'
import { resourceKinds } from '../../domain/resource.ts'
import { createInstall, moveInstall } from '../../operations/installs/installs.ts'
import { refuse } from '../../domain/errors.ts'
import { ChosenName } from '../design/values.tsx'

// What ends an install.

const ofInstall = stepsOf({
  area: deskArea,
  root: '/desk/installs/:id',
  find: async ({ door }, { id }) => await describeInstall(door.platform, id),
  belongsTo: ({ appName }) => appName,
  back: () => ({ href: deskPaths.installs, name: 'Installs' }),
})

/** Decides about an install. @throws version_not_eligible if it is decided already */
const decideInstall = async (visit: Visit, id: string, step: 'approve' | 'reject' | 'deactivate') => {
  const moved = await outcomeOf(visit.asOperator().do(moveInstall, { id, step }))
  if (moved.kind === 'refused') throw refuse('version_not_eligible', { message: tooLate })
}

const tooLate = 'This install has already been decided, or no longer exists. Nothing has changed.'

const Where = ({ install }: { readonly install: DescribedInstall }) => (
  <p>
    <ChosenName name={install.appName} /> on the {resourceKindInSentence(install.kind)} <code>{install.resource}</code>{' '}
    of {install.user}.
  </p>
)

const rejection = ofInstall('reject', {
  link: ['Reject'],
  unless: ({ approval }) => (approval === 'pending' ? null : 'This install is already decided.'),
  effect: 'takes away',
  ask: (_, install) => ({
    title: 'Reject this install?',
    says: (
      <>
        <Where install={install} />
        <p>Rejecting is final for this install. The user can install the app again.</p>
      </>
    ),
    button: 'Reject',
  }),
  act: async ({ visit }, { id }) => await decideInstall(visit, id, 'reject'),
  done: { reject: 'The install is rejected.' },
})

const deactivation = ofInstall('deactivate', {
  link: ['Deactivate'],
  unless: ({ approval, state }) => {
    if (approval === 'pending') return 'This install waits for a decision.'
    return state === 'active' ? null : 'This install has ended.'
  },
  effect: 'takes away',
  ask: (_, install) => ({
    title: 'Deactivate this install?',
    says: (
      <>
        <Where install={install} />
        <p>
          The app loses access to this user’s data at once. The install cannot be reactivated, but the user can install
          the app again.
        </p>
      </>
    ),
    button: 'Deactivate',
  }),
  act: async ({ visit }, { id }) => await decideInstall(visit, id, 'deactivate'),
  done: {
    deactivate: 'The install is deactivated. The app can no longer access this user’s data through it.',
  },
})

const deskInstallSteps = [rejection, deactivation]

const notices = {
  approve: 'The install is approved. The app can now work for this user.',
  ...noticesOf(...deskInstallSteps),
  created: 'The install is created and waits for approval.',
  installed: 'The install is created and active.',
} as const

/** Where the list was when its form was sent. */
const listForm = formOf({ back: optionalText })

/** Every install. Without any filter, those that wait for a decision; who has waited longest is decided first. */
export const deskInstalls = list(
  'desk-installs',
  deskPaths.installs,
  {
    q: search('App, user or place'),
    // Links from an app or a user set these. The search finds both as well.
    app: entry('Slug of an app', { maxLength: 63, isLinked: true }),
    user: entry('Address of a user', { isLinked: true }),
    kind: choice('Installed on', resourceKindOptions),
    status: tabs('Status', installTabs),
    sort: order(timeOrders),
  },
  {
    usual: ({ q, app, user, status: asked }) => {
      const status = q + app + user === '' ? 'waiting' : 'all'
      return { status, sort: (asked || status) === 'waiting' ? 'oldest' : 'newest' }
    },
  },
)

type InstallFields = ListValues<typeof deskInstalls.fields>

const searchOf = ({ q: part, app, user, kind, status }: InstallFields): InstallSearch => ({
  app,
  user,
  part,
  kind,
  status: segmentStatus(status),
})

/** The installs of every app, the decisions about them, and the form of a new one. */
export const deskInstallRoutes = routes(() => [
  stepRoutes(...deskInstallSteps),
  // An install has no page of its own. This is what is loaded instead of an address that only takes a form.
  pageFor('operator', '/desk/installs/:id', () => seeOther(deskPaths.installs)),
  listRoutes(deskInstalls, {
    by: 'operator',
    show,
    csv: {
      name: () => 'installs',
      may: () => isOperator,
      rows: (visit, values) => visit.asOperator().do(exportInstalls, searchOf(values), values.sort),
      columns,
    },
  }),
  approveSeveral,
  newInstall,
  changed('/desk/installs/:id/approve', {
    by: 'operator',
    effect: 'gives a right',
    form: listForm,
    show,
    act: async ({ visit, fields }, { id }) => {
      await decideInstall(visit, id, 'approve')
      return seeOther(backTo(deskPaths.installs, fields.back, { done: 'approve' }))
    },
  }),
])

const severalForm = formOf({ id: texts, back: optionalText })
const severalPath = `${deskPaths.installs}/approve`
/** As many as one page has. */
const mostAtOnce = 50

/** Approves the chosen installs. Each is decided by itself, and the answer says what became of each. */
const approveSeveral = routes(() => [
  changed(severalPath, {
    by: 'operator',
    effect: 'gives a right',
    form: severalForm,
    show,
    act: async ({ visit, fields }) => {
      const ids = [...new Set(fields.id)]
      if (ids.length === 0) throw badInput('id', 'Choose at least one install.')
      if (ids.length > mostAtOnce) throw badInput('id', `Choose at most ${mostAtOnce} installs.`)
      const decided: Decided[] = []
      for (const id of ids) {
        const { kind } = await outcomeOf(decideInstall(visit, id, 'approve'))
        decided.push({ id, isApproved: kind === 'done', install: await findInstall(visit.door.platform, id) })
      }
      return page(
        <SeveralDecided visit={visit} decided={decided} back={backTo(deskPaths.installs, fields.back, { done: '' })} />,
      )
    },
  }),
])

type Decided = {
  readonly id: string
  readonly isApproved: boolean
  /** Null if there is none. */
  readonly install: DescribedInstall | null
}

type SeveralDecidedProps = { readonly visit: Visit; readonly decided: readonly Decided[]; readonly back: string }

const SeveralDecided = ({ visit, decided, back }: SeveralDecidedProps) => {
  const approved = decided.filter(({ isApproved }) => isApproved).length
  const others = decided.length - approved
  return (
    <DeskPage
      title={`${approved} approved${others === 0 ? '' : `, ${others} not`}`}
      visit={visit}
      tab={deskPaths.installs}
      actions={<LinkButton href={back}>Back to the installs</LinkButton>}
    >
      <RowList
        label="Chosen installs"
        rows={decided}
        row={({ id, isApproved, install }) => (
          <Row
            key={id}
            title={install === null ? <code>{visibleText(id.slice(0, 40))}</code> : <bdi>{install.appName}</bdi>}
            badge={install === null ? undefined : <InstallStatusBadge install={install} />}
            facts={[
              isApproved ? 'Approved. The app can now work for this user.' : tooLate,
              install === null ? null : <bdi>{install.user}</bdi>,
              install === null ? null : <Place install={install} />,
            ]}
          />
        )}
      />
    </DeskPage>
  )
}

const Place = ({ install: { kind, resource } }: { readonly install: DescribedInstall }) => (
  <>
    {resourceKindWords[kind]} <code>{resource}</code>
  </>
)

const columns = {
  id: ({ id }: DescribedInstall) => id,
  app: ({ app }: DescribedInstall) => app,
  app_name: ({ appName }: DescribedInstall) => appName,
  user: ({ user }: DescribedInstall) => user,
  kind: ({ kind }: DescribedInstall) => kind,
  installed_on: ({ resource }: DescribedInstall) => resource,
  environment: ({ environment }: DescribedInstall) => environment,
  approval: ({ approval }: DescribedInstall) => approval,
  state: ({ state }: DescribedInstall) => state,
  scopes: ({ scopes }: DescribedInstall) => formatScope(scopes),
  requested: ({ createdAt }: DescribedInstall) => new Date(createdAt).toISOString(),
  changed: ({ updatedAt }: DescribedInstall) => new Date(updatedAt).toISOString(),
} as const

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskInstalls.read(visit)
  const { status, sort } = asked.values
  const search = searchOf(asked.values)
  const installs = await asked.found((window) => searchInstalls(platform, search, sort, window))
  const { refusal } = installs
  const counts = refusal === null ? await countInstalls(platform, search) : noStates
  return page(
    <DeskPage
      title="Installs"
      visit={visit}
      tab={deskPaths.installs}
      notices={notices}
      actions={<LinkButton href={deskPaths.newInstall}>Install an app for a user</LinkButton>}
    >
      <Problem error={refusal} />
      <Segments label="Status" links={installSegments(counts, asked)} />
      <FilterBar of={asked} />
      {aboutSegment[status] === '' ? null : <p class="muted">{aboutSegment[status]}</p>}
      {installs.rows.some(isPending) ? (
        <Form
          id={chosen}
          action={severalPath}
          visit={visit}
          hidden={{ back: addressOf(visit) }}
          asks={proveFirst(visit)}
          class="beside"
        >
          <button type="submit">Approve the chosen ones</button>
          <small>Tick installs below. Each is decided by itself, and you see what became of each.</small>
        </Form>
      ) : null}
      <ListRows
        label="Installs"
        of={installs}
        row={(install) => <InstallRow visit={visit} install={install} />}
        empty={nothingWaits}
        total={countOfSegment(counts, status)}
      />
      <ExportForm visit={visit} of={asked} part={installs} what="installs" />
    </DeskPage>,
    { refusal },
  )
}

/** The form whose boxes are in the rows, among other forms. */
const chosen = 'chosen'
const isPending = ({ approval }: DescribedInstall): boolean => approval === 'pending'

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
    avatar={<Avatar id={install.appId} name={install.appName} icon={install.icon} />}
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
      <Place install={install} />,
      install.environment === 'development' ? 'Development head, for its own developer' : null,
    ]}
    time={isPending(install) ? ['Requested', install.createdAt] : ['Changed', install.updatedAt]}
    actions={
      isPending(install) || install.state === 'active' ? <Decisions visit={visit} install={install} /> : undefined
    }
  >
    {isPending(install) ? (
      <p class="row-facts">{install.scopes.length === 0 ? 'No scopes' : `Scopes: ${formatScope(install.scopes)}`}</p>
    ) : null}
  </Row>
)

/** The decisions that are possible now. */
const Decisions = ({ visit, install }: InstallProps) => {
  const named = (
    <>
      {' '}
      <bdi>{install.appName}</bdi> for {install.user}
    </>
  )
  return (
    <div class="beside">
      {isPending(install) ? (
        <label>
          <input
            type="checkbox"
            name="id"
            form={chosen}
            value={install.id}
            checked={valuesIn(sentTo(visit, severalPath)?.['id']).includes(install.id)}
          />
          Choose
          <span class="unseen">{named}</span>
        </label>
      ) : null}
      {isPending(install) ? (
        <ButtonForm
          action={`${deskPaths.installs}/${install.id}/approve`}
          visit={visit}
          class="inline"
          hidden={{ back: addressOf(visit) }}
          look="small"
          asks={proveFirst(visit)}
        >
          Approve
          <span class="unseen">{named}</span>
        </ButtonForm>
      ) : null}
      {deskInstallSteps.map((step) => (
        <StepButton visit={visit} step={step} of={install} params={{ id: install.id }} look="small">
          {named}
        </StepButton>
      ))}
    </div>
  )
}

const kinds = resourceKinds.map((kind) => [kind, resourceKindWords[kind]] as const)

/** The form that installs an app for a user. */
const newInstall = deskForm(deskPaths.newInstall, {
  title: 'Install an app for a user',
  about: 'The install waits for approval, unless installs are approved automatically. The user is not asked.',
  tab: deskPaths.installs,
  effect: 'gives a right',
  form: formOf({
    app: line('App', {
      hint: 'The slug of the app. It gets the scopes of its live version, or none without a live version.',
      maxLength: 63,
      spellcheck: false,
    }),
    user: email('User’s email address'),
    resource: line('Slug of the website or store', { hint: 'It must belong to this user.', spellcheck: false }),
    kind: Type.Union(resourceKinds.map((kind) => Type.Literal(kind))),
  }),
  values: (visit) => ({ app: parameterOf(visit, 'app') }),
  more: () => <SelectField label="Kind" name="kind" options={kinds} value="site" />,
  button: 'Install',
  act: async ({ visit, fields: { app: slug, user: userEmail, kind, resource: resourceSlug }, ticket }) => {
    const input = { slug, userEmail, kind, resourceSlug }
    const { state } = await visit.asOperator({ ticket }).do(createInstall, input)
    return seeOther(`${deskPaths.installs}?done=${state === 'active' ? 'installed' : 'created'}`)
  },
})
