import { bytesInWords, visibleText } from '../../domain/text.ts'
import { versionLimits, versionStatuses } from '../../domain/version.ts'
import { artifactUse } from '../../operations/artifacts/artifacts.ts'
import {
  countVersions,
  listLiveChanges,
  listRollbacks,
  listVersionSummaries,
  type LiveChange,
} from '../../operations/versions/lists.ts'
import { formPage, type ParamsOf, routes } from '../change.tsx'
import { Badge, VersionStatusBadge, versionStatusWords } from '../design/badge.tsx'
import { Choices, EmptyState, FilterBar, isLong, noMatch, Pager, timeSort } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { isReading, page, seeOther } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { appFor, AppPage, type AppVisit, type AtApp, consoleAppPath, environmentField } from './app-area.tsx'
import { draftRemoval } from './version.tsx'
import { notOurForm } from '../version.tsx'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { badInput } from '../../operations/decide.ts'
import { previewRollback, rollBackOwnVersion } from '../../operations/versions/move-version.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { Fields, line, Problem } from '../design/field.tsx'
import { Form, LinkButton, MainLink, SendOrCancel } from '../design/form.tsx'
import { ScopeChanges } from '../design/scopes.tsx'
import { ChangeTable } from '../desk/review.tsx'
import { formOf, outcomeOf, text, textOf } from '../form.ts'
import { parameterOf } from '../query.ts'
import { mayInActiveApp } from '../../operations/acting-as.ts'

const appVersions = list('versions', '/console/:slug/versions', {
  q: search('Version', { maxLength: 100 }),
  status: choice(
    'Status',
    versionStatuses.map((value) => [value, versionStatusWords[value][1]] as const),
  ),
  sort: order(timeOrders),
})

/** The versions of an app, its rollbacks, and from when to when each version was live in production. */
export const appVersionsRoutes = routes(() => [
  listRoutes(appVersions, { by: 'user', show: showVersions }),
  listRoutes(rollbackList, { by: 'user', show: showRollbacks }),
  listRoutes(liveVersions, { by: 'user', show: showLive }),
  newRollback,
])

type AtSlug = ParamsOf<typeof appVersions.path>

const showVersions = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const { platform } = visit.door
  const at = await appFor(visit, slug)
  const { app } = at
  const asked = appVersions.read(visit, { slug })
  const { q: part, status, sort } = asked.values
  const question = { status, part, order: sort === 'newest' ? 'descending' : 'ascending' } as const
  const versions = await asked.rows((page) => listVersionSummaries(platform, app.id, question, page))
  const artifacts = await artifactUse(platform, app.id)
  const isEmpty = versions.rows.length === 0 && !versions.isFiltered
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="Versions"
      notices={draftRemoval.done}
      about={
        isEmpty
          ? undefined
          : `The artifacts use ${bytesInWords(artifacts.bytes)} of ${bytesInWords(artifacts.allowedBytes)}.`
      }
      actions={
        <>
          {isEmpty ? null : (
            <>
              <LinkButton href={at.path('rollbacks')}>Rollbacks</LinkButton>
              <LinkButton href={at.path('rollbacks', 'new')}>Roll back</LinkButton>
            </>
          )}
          <MainLink href={at.path('versions', 'new')}>Upload a version</MainLink>
        </>
      }
    >
      <FilterBar of={asked} isShown={isLong(versions)} />
      <Table
        label="Versions"
        rows={versions.rows}
        rowHeader="Version"
        sort={{ Created: timeSort(asked) }}
        columns={{
          Version: ({ version }) => <a href={at.path('versions', version)}>{version}</a>,
          Status: ({ id, status }) => (
            <>
              <VersionStatusBadge status={status} />{' '}
              {app.developmentVersionId === id ? <Badge>Development head</Badge> : null}
            </>
          ),
          Created: ({ createdAt }) => <Time at={createdAt} />,
          'Last changed': ({ updatedAt }) => <Time at={updatedAt} />,
        }}
        empty={noMatch(versions, <HowToUpload />)}
      />
      <Pager of={versions} total={await countVersions(platform, app.id, question)} />
    </AppPage>,
  )
}

const HowToUpload = () => (
  <EmptyState title="No versions yet">
    Upload one here, or with the command line: <code>app-platform versions create</code>. It stays a draft until you
    submit it for review.
  </EmptyState>
)

const rollbackNotices = {
  production: 'Production is rolled back. Users get the other version now.',
  development: 'The development head has moved.',
} as const

const rollbackWords = {
  production: 'In production a rollback makes an earlier version live again.',
  development: 'In development a rollback moves the development head.',
} as const

const rollbackList = list('rollbacks', '/console/:slug/rollbacks', {})

/** Null for a draft that was removed. */
const VersionLink = ({ at, version }: AtApp & { readonly version: string | null }) =>
  version === null ? <span class="muted">a removed draft</span> : <a href={at.path('versions', version)}>{version}</a>

const showRollbacks = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const rollbacks = await rollbackList
    .read(visit, { slug })
    .rows((page) => listRollbacks(visit.door.platform, at.app.id, page, at.environment))
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="Rollbacks"
      switches
      notices={rollbackNotices}
      about={rollbackWords[at.environment]}
      actions={
        <>
          <LinkButton href={at.path('live')}>What was live</LinkButton>
          <MainLink href={at.path('rollbacks', 'new')}>Roll back</MainLink>
        </>
      }
    >
      <Table
        label="Rollbacks"
        rows={rollbacks.rows}
        columns={{
          Time: ({ createdAt }) => <Time at={createdAt} />,
          From: ({ from }) => <VersionLink at={at} version={from} />,
          To: ({ to }) => <VersionLink at={at} version={to} />,
          Reason: ({ reason }) => (reason === null ? null : <bdi>{reason}</bdi>),
        }}
        empty={noMatch(rollbacks, `No rollbacks in ${at.environment} yet.`)}
      />
      <Pager of={rollbacks} />
    </AppPage>,
  )
}

const liveVersions = list('live-versions', '/console/:slug/live', {})

const showLive = async (visit: Visit, { slug }: AtSlug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { app } = at
  const changes = await liveVersions
    .read(visit, { slug })
    .rows((page) => listLiveChanges(visit.door.platform, app.id, page))
  return page(
    <AppPage
      at={at}
      tab="versions"
      title="What was live"
      about="From when to when each version was live in production, and why it was rolled back."
    >
      <LiveVersions at={at} changes={changes.rows} />
      <Pager of={changes} />
    </AppPage>,
  )
}

/** What was live, newest first. A version that was rolled back has the reason that was given. */
const LiveVersions = ({ at, changes }: AtApp & { readonly changes: readonly LiveChange[] }) => (
  <Table
    label="What was live"
    rows={changes}
    rowHeader="Version"
    columns={{
      Version: ({ version }) => <a href={at.path('versions', version)}>{version}</a>,
      From: ({ from }) => <Time at={from} />,
      Until: ({ until }) => <Time at={until} otherwise="It is live now" />,
      Then: ({ after, rollbackId }) =>
        after === null ? null : rollbackId === null ? `Replaced by ${after}` : `Rolled back to ${after}`,
      Reason: ({ reason }) => (reason === null ? null : <bdi>{reason}</bdi>),
    }}
    empty="No version has been live yet."
  />
)

/** `seen` has the IDs of the current version and of the target that the preview showed. */
const rollbackForm = formOf({
  environment: environmentField,
  to: text,
  seen: text,
  reason: line('Reason', {
    hint: 'Optional. It is shown in the list of rollbacks.',
    rows: 2,
    maxLength: versionLimits.reason,
    required: false,
  }),
})

/** What a rollback would change, and the form that confirms it. */
const newRollback = formPage('/console/:slug/rollbacks/new', {
  sentTo: '/console/:slug/rollbacks',
  by: 'user',
  effect: 'gives users a version',
  form: rollbackForm,
  show: async (visit, { slug }, sent) => {
    const at = await appFor(visit, slug)
    return await show(at, isReading(visit.call.request) ? parameterOf(visit, 'to') : textOf(sent['to']))
  },
  act: async ({ visit, fields, ticket }, { slug }) => {
    const { environment, reason } = fields
    if (reason.length > versionLimits.reason) throw badInput('reason', tooLong)
    const input = { slug, environment, reason: reason === '' ? null : reason, seen: readSeen(fields.seen) }
    await visit.as(mayInActiveApp(slug, 'release'), ticket).do(rollBackOwnVersion, input)
    return seeOther(`${consoleAppPath(slug, 'rollbacks')}?done=${environment}`)
  },
  again: (_, { slug }) => ({ href: consoleAppPath(slug, 'rollbacks'), name: 'See the rollbacks' }),
})

const tooLong = `Write at most ${versionLimits.reason} characters.`

/** @throws invalid_request for a field that no page of ours has */
const readSeen = (field: string) => {
  const [, fromId, toId] = /^(ver_[0-9a-f]{32}) (ver_[0-9a-f]{32})$/.exec(field) ?? []
  if (fromId === undefined || toId === undefined) throw badInput('seen', notOurForm)
  return { fromId, toId }
}

/** `to` is the version to go back to; empty for the one before the current one. */
const show = async (at: AppVisit, to: string): Promise<Response> => {
  const { visit, app, environment } = at
  const { platform } = visit.door
  const catalogue = await readCatalogue(platform)
  const status = environment === 'production' ? 'superseded' : null
  const listed = await listVersionSummaries(platform, app.id, { status }, { limit: 100, cursor: null })
  const targets = listed.data.filter(({ id }) => status !== null || id !== app.developmentVersionId)
  const target = to === '' ? null : { version: to }
  const found = await outcomeOf(previewRollback(platform, app.id, { environment, target }))
  const changes =
    status === null ? null : await listLiveChanges(platform, app.id, { limit: changesShown, cursor: null })
  const error = found.kind === 'refused' && to !== '' && visit.refused === undefined ? found.error : null
  return page(
    <AppPage
      at={at}
      tab="versions"
      title={titles[environment]}
      about={abouts[environment]}
      switches={at.path('rollbacks', 'new')}
    >
      <Problem error={error} />
      <TargetForm at={at} versions={targets.map(({ version }) => version)} to={to} />
      {found.kind === 'refused' ? (
        <EmptyState title={to === '' ? 'There is no previous version' : 'This version cannot be chosen'}>
          {to === '' && targets.length > 0 ? 'Choose another version above.' : nothing[environment]}
        </EmptyState>
      ) : (
        <Preview at={at} catalogue={catalogue} preview={found.value} />
      )}
      {changes === null || changes.data.length === 0 ? null : (
        <section>
          <h2>What was live</h2>
          <LiveVersions at={at} changes={changes.data} />
          {changes.nextCursor === null ? null : (
            <p>
              <a href={at.path('live')}>Everything that was live</a>
            </p>
          )}
        </section>
      )}
    </AppPage>,
    { refusal: error },
  )
}

/** The last changes of the live version that the page shows. */
const changesShown = 10

const titles = { production: 'Roll back production', development: 'Move the development head' } as const
const abouts = {
  production: 'Users get an earlier live version again. It replaces the current one at once.',
  development: 'Development credentials get another version. Nothing changes for users.',
} as const
const nothing = {
  production: 'Only a version that was live before can be live again.',
  development: 'The development head can move to any other version of the app.',
} as const

type TargetFormProps = AtApp & {
  readonly versions: readonly string[]
  readonly to: string
}

/** Chooses another target, and shows what it would change. */
const TargetForm = ({ at, versions, to }: TargetFormProps) =>
  versions.length === 0 ? null : (
    <form method="get" action={at.path('rollbacks', 'new')} class="filter-bar">
      <div class="filter-field search">
        <Choices
          name="to"
          label="Version"
          all="Previous version"
          options={versions.map((version) => [version, version] as const)}
          selected={to}
        />
      </div>
      <button type="submit">Preview</button>
    </form>
  )

type PreviewProps = AtApp & {
  readonly catalogue: ScopeCatalogue
  readonly preview: Awaited<ReturnType<typeof previewRollback>>
}

const Preview = ({ at, catalogue, preview }: PreviewProps) => {
  const { environment } = at
  const { from, to, activeInstalls, newScopes, droppedScopes, changes, moreChanges } = preview
  return (
    <>
      <section aria-labelledby="before-after">
        <h2 id="before-after">{environment === 'production' ? 'What users see' : 'What development sees'}</h2>
        <Table
          label="Before and after"
          rows={[
            { when: 'Now', version: from },
            { when: 'After', version: to },
          ]}
          rowHeader="When"
          columns={{
            When: ({ when }) => when,
            Version: ({ version }) => (
              <>
                <a href={at.path('versions', version.version)}>{version.version}</a>{' '}
                <VersionStatusBadge status={version.status} />
              </>
            ),
            File: ({ version }) => <bdi>{visibleText(version.artifact?.filename ?? 'None')}</bdi>,
            'Last live': ({ version }) => <Time at={version.activatedAt} otherwise="Never" />,
          }}
        />
        <p>{environment === 'production' ? reachOf(activeInstalls) : 'Nothing changes for users.'}</p>
      </section>
      <section aria-labelledby="scopes">
        <h2 id="scopes">Scopes</h2>
        {to.scopes.length === 0 && droppedScopes.length === 0 ? (
          <p class="muted">Neither version asks for a scope.</p>
        ) : (
          <ScopeChanges catalogue={catalogue} scopes={to.scopes} added={newScopes} dropped={droppedScopes} />
        )}
      </section>
      <section aria-labelledby="manifest">
        <h2 id="manifest">Manifest</h2>
        {changes.length === 0 ? (
          <p class="muted">Nothing changes.</p>
        ) : (
          <ChangeTable changes={changes} columns={['Now', 'After']} />
        )}
        {moreChanges === 0 ? null : (
          <p class="muted">
            {moreChanges} more changes are not shown here. Compare the manifests on the pages of the versions.
          </p>
        )}
      </section>
      <Form action={at.path('rollbacks')} visit={at.visit} class="measure">
        <input type="hidden" name="environment" value={environment} />
        <input type="hidden" name="to" value={to.version} />
        <input type="hidden" name="seen" value={`${from.id} ${to.id}`} />
        <Fields of={rollbackForm} />
        <SendOrCancel
          button={
            environment === 'production' ? `Roll back to ${to.version}` : `Make ${to.version} the development head`
          }
          back={at.path('versions')}
        />
      </Form>
    </>
  )
}

const reachOf = (installs: number): string =>
  installs === 0
    ? 'No install is active. New installs get it.'
    : `${installs === 1 ? 'One active install gets' : `${installs} active installs get`} it at once.`
