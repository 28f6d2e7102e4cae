import type { Environment } from '../../domain/app.ts'
import { parseManifest } from '../../domain/app-json.ts'
import { lackOfManifest } from '../../domain/manifest.ts'
import { visibleJson, visibleText } from '../../domain/text.ts'
import { isProductionRollbackTarget, type VersionStatus } from '../../domain/version.ts'
import { listVersionSummaries } from '../../operations/versions/lists.ts'
import { moveVersion, removeDraft } from '../../operations/versions/move-version.ts'
import { type AppEvent, findCreation } from '../../operations/audit/read-audit.ts'
import { namesOf, type Names } from '../../operations/audit/names.ts'
import { findVersion, type VersionRecord } from '../../operations/versions/version-record.ts'
import { listReviewMessages, writeReviewMessage } from '../../operations/versions/review.ts'
import { changed, pageFor, routes } from '../change.tsx'
import { Badge, VersionStatusBadge } from '../design/badge.tsx'
import { Form, LinkButton } from '../design/form.tsx'
import { AuditEvents } from '../audit-events.tsx'
import { Copyable, Details as Folded, Facts, Time } from '../design/values.tsx'
import { formOf, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { artifactDownload, messageForms, readSeen, ReviewMessages, seenField } from '../version.tsx'
import type { Visit } from '../visit.ts'
import { StepButton } from '../step.tsx'
import {
  acting,
  appFor,
  AppPage,
  type AppVisit,
  type AtApp,
  consoleAppPath,
  inConsole,
  pageOfApp,
  stepsBelow,
  whyNot,
} from './app-area.tsx'
import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'

const notices = {
  uploaded: 'The draft is created. Submit it for review when it is ready.',
  replaced: 'The draft has new content.',
  submitted: 'The version is submitted. An operator reviews it next.',
  withdrawn: 'The version is withdrawn and is a draft again.',
  answered: 'The answer is sent.',
} as const

const seenThere = (_: unknown, { slug, version }: Named) => ({
  href: consoleAppPath(slug, 'versions', version),
  name: 'See the current state of the version',
})

/** The state of the version when the developer decided. */
const moveForm = formOf({ seen: text })

const pattern = '/console/:slug/versions/:version'

/** One version: its content, its artifact, and the forms that submit or withdraw it. */
export const appVersionRoutes = routes(() => [
  pageFor('user', pattern, show),
  pageOfApp(
    inConsole,
    'versions/:version/artifact',
    async ({ visit: { door, call }, app }, { version }) =>
      await artifactDownload(door, call, await findVersion(door.platform, app, version)),
  ),
  move('submit', 'submitted'),
  move('withdraw', 'withdrawn'),
  changed(`${pattern}/answer`, {
    by: 'user',
    effect: 'asks somebody to decide',
    form: messageForms.members,
    show,
    act: async ({ visit, fields: { text: answer }, ticket }, { slug, version }) => {
      const message = { slug, version, side: 'members', text: answer } as const
      await visit.as(mayInActiveApp(slug, 'release'), ticket).do(writeReviewMessage, message)
      return seeOther(`${consoleAppPath(slug, 'versions', version)}?done=answered`)
    },
    again: seenThere,
  }),
])

const ofVersion = stepsBelow(
  'versions/:version',
  ['versions', 'Versions'],
  async (at, { version }): Promise<OfVersion> => ({
    at,
    version: await findVersion(at.visit.door.platform, at.app, version),
  }),
  ['console'],
)

export const draftRemoval = ofVersion('delete', {
  link: ['Delete'],
  unless: ({ at, version }) =>
    version.status === 'draft' ? whyNot(at, 'release') : 'Only a draft can be deleted. This version was submitted.',
  effect: 'takes away',
  form: formOf({ id: text }),
  ask: (_, { version }) => ({
    title: `Delete the draft ${version.version}?`,
    says: (
      <p>
        Its content and its file are removed. If it is the development head, the newest version that is left becomes the
        head. Nothing changes for users.
      </p>
    ),
    button: 'Delete this draft',
    fields: <input type="hidden" name="id" value={version.id} />,
  }),
  act: async ({ visit, fields: { id }, ticket }, _, { slug }) =>
    await acting(visit, mayInApp(slug, 'release'), ticket).do(removeDraft, { slug, id }),
  done: { 'draft-removed': 'The draft is deleted.' },
})

type Named = { readonly slug: string; readonly version: string }

const move = (step: 'submit' | 'withdraw', done: keyof typeof notices) =>
  changed(`${pattern}/${step}`, {
    by: 'user',
    effect: step === 'submit' ? 'asks somebody to decide' : 'takes away',
    shareOf: step === 'withdraw' ? 'session' : 'account',
    form: moveForm,
    show,
    act: async ({ visit, fields, ticket }, { slug, version }) => {
      const input = { slug, version, step, rejection: null, seen: readSeen(fields.seen) }
      await visit.as(mayInActiveApp(slug, 'release'), ticket).do(moveVersion, input)
      return seeOther(`${consoleAppPath(slug, 'versions', version)}?done=${done}`)
    },
    again: seenThere,
  })

const show = async (visit: Visit, { slug, version: name }: Named): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { app } = at
  const { platform } = visit.door
  const version = await findVersion(platform, app, name)
  const [live = null] = (await listVersionSummaries(platform, app.id, { status: 'active' }, { limit: 1, cursor: null }))
    .data
  return page(
    <AppPage
      at={at}
      tab="versions"
      title={`Version ${version.version}`}
      notices={notices}
      badges={
        <>
          <VersionStatusBadge status={version.status} />
          {version.current.development ? <Badge>Development head</Badge> : null}
        </>
      }
      about={meanings[version.status]}
      actions={<Actions at={at} version={version} />}
    >
      <Rejection rejection={version.rejection} />
      <MoveForm at={at} version={version} liveId={live?.id ?? null} />
      <ReviewMessages
        visit={visit}
        side="members"
        status={version.status}
        messages={await listReviewMessages(platform, version.id)}
        action={at.may('release') ? at.path('versions', version.version, 'answer') : null}
      />
      <h2>Notes</h2>
      {version.notes === null || version.notes === '' ? (
        <p class="muted">None.</p>
      ) : (
        <p class="as-written" dir="auto">
          {version.notes}
        </p>
      )}
      <h2>Details</h2>
      <Author of={await creationOf(at, version)} />
      <Details version={version} />
      <h2>Artifact</h2>
      <Artifact artifact={version.artifact} href={at.path('versions', version.version, 'artifact')} />
      <h2>Manifest</h2>
      <Manifest manifest={version.manifest} />
    </AppPage>,
  )
}

type OfVersion = AtApp & { readonly version: VersionRecord }

/** What the developer can do with this version besides the next step. */
const Actions = ({ at, version }: OfVersion) => {
  const rollback = (environment: Environment) =>
    `${at.path('rollbacks', 'new')}?${new URLSearchParams({ environment, to: version.version }).toString()}`
  const { current, status } = version
  return (
    <>
      {status === 'draft' ? <LinkButton href={at.path('versions', version.version, 'edit')}>Edit</LinkButton> : null}
      <StepButton
        visit={at.visit}
        step={draftRemoval}
        of={{ at, version }}
        params={{ slug: at.app.slug, version: version.version }}
      />
      {current.development ? null : (
        <LinkButton href={rollback('development')}>Make it the development head</LinkButton>
      )}
      {isProductionRollbackTarget(status) ? (
        <LinkButton href={rollback('production')}>Roll production back to it</LinkButton>
      ) : null}
    </>
  )
}

/** What each status means for the developer. */
const meanings = {
  draft: 'Users do not see it. Edit it, or submit it for review.',
  submitted: 'An operator is reviewing it. Its content cannot change now.',
  approved: 'It passed the review, and waits until an operator makes it live.',
  active: 'This is what users get.',
  superseded: 'It was live before. A production rollback can make it live again.',
  rejected: 'It can no longer change. Upload a corrected version with a new number.',
} as const satisfies Record<VersionStatus, string>

/** Why an operator rejected the version; nothing for any other version. */
const Rejection = ({ rejection }: Pick<VersionRecord, 'rejection'>) =>
  rejection === null ? null : (
    <section class="problem" aria-labelledby="rejection">
      <h2 id="rejection">Why it was rejected</h2>
      <p class="as-written" dir="auto">
        {rejection.message}
      </p>
      {rejection.items.length === 0 ? null : (
        <ul>
          {rejection.items.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path === '' ? null : (
                <code>
                  <bdi>{path}</bdi>
                </code>
              )}{' '}
              <span class="as-written" dir="auto">
                {message}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )

type MoveFormProps = OfVersion & {
  /** The live version, which the decision is bound to; null without one. */
  readonly liveId: string | null
}

/** The next step that the developer can take; the form sends back the state that the page shows. */
const MoveForm = ({ at, version, liveId }: MoveFormProps) => {
  if (version.status !== 'draft' && version.status !== 'submitted') return null
  const { step, button, hint } = moves[version.status]
  const lack = step === 'submit' ? lackOfManifest(version.manifest) : null
  return (
    <>
      {lack === null ? null : (
        <p class="problem">
          {lack} The operator who reviews it, and people who are asked for access, learn nothing about the app from it.
          Edit the draft and add <code>app.json</code>, or submit it as it is.
        </p>
      )}
      <Form action={at.path('versions', version.version, step)} visit={at.visit}>
        <input type="hidden" name="seen" value={seenField({ ...version, liveId })} />
        <button
          type="submit"
          class={step === 'submit' && lack === null ? 'primary' : undefined}
          aria-describedby="step-hint"
        >
          {lack === null ? button : 'Submit it as it is'}
        </button>
        <small id="step-hint">{hint}</small>
      </Form>
    </>
  )
}

const moves = {
  draft: {
    step: 'submit',
    button: 'Submit for review',
    hint: 'Its content cannot change after that, unless you withdraw it. An operator reviews it before it can go live.',
  },
  submitted: {
    step: 'withdraw',
    button: 'Withdraw from review',
    hint: 'It becomes a draft again, which you can edit and submit. It loses its place in the queue.',
  },
} as const

const creationOf = async ({ visit, app }: AppVisit, { id }: VersionRecord): Promise<Creation | null> => {
  const { platform } = visit.door
  const event = await findCreation(platform, { app, userId: visit.userId }, { action: 'version.created', target: id })
  if (event === null) return null
  return { event, names: await namesOf(platform, [event], 'members'), now: platform.clock.now() }
}

type Creation = { readonly event: AppEvent; readonly names: Names; readonly now: number }

/** The upload, by whom it was; nothing if its event is not kept any more. */
const Author = ({ of }: { readonly of: Creation | null }) =>
  of === null ? null : (
    <AuditEvents
      events={[of.event]}
      names={of.names}
      hrefOf={() => null}
      pageOfApp={of.event.appId ?? ''}
      now={of.now}
      empty=""
    />
  )

const Details = ({ version }: { readonly version: VersionRecord }) => (
  <>
    <Facts
      of={{
        Scopes: version.scopes.length === 0 ? 'None' : <code>{version.scopes.join(' ')}</code>,
        Created: <Time at={version.createdAt} />,
        'Last changed': <Time at={version.updatedAt} />,
        Submitted: version.submittedAt && <Time at={version.submittedAt} />,
        Reviewed: version.reviewedAt && <Time at={version.reviewedAt} />,
        'Last went live': version.activatedAt && <Time at={version.activatedAt} />,
      }}
    />
    <Folded summary="ID, number and revision">
      <Facts of={{ ID: <code>{version.id}</code>, Number: version.number, Revision: version.revision }} />
    </Folded>
  </>
)

type ArtifactProps = Pick<VersionRecord, 'artifact'> & { readonly href: string }

/** The uploaded file, with its hash to compare a copy. */
const Artifact = ({ artifact, href }: ArtifactProps) =>
  artifact === null ? (
    <p class="muted">No file was uploaded with this version.</p>
  ) : (
    <Facts
      of={{
        File: (
          <a href={href}>
            <bdi>{visibleText(artifact.filename)}</bdi>
          </a>
        ),
        Size: `${artifact.sizeBytes.toLocaleString('en')} bytes`,
        'SHA-256': <Copyable id="sha256" value={artifact.sha256} what="the SHA-256" />,
      }}
    />
  )

/** A manifest can have megabytes, which would make the page unusable. */
const longestShown = 100_000

/** The manifest with indentation; invisible characters are shown as escapes. */
const Manifest = ({ manifest }: Pick<VersionRecord, 'manifest'>) => {
  const shown = visibleJson(manifest)
  const parsed = parseManifest(shown)
  const warnings = parsed.kind === 'manifest' ? parsed.warnings : []
  return (
    <>
      {warnings.map(({ line, sentence }) => (
        <p class="muted">
          Line {line}: {sentence}
        </p>
      ))}
      <pre tabIndex={0} role="region" aria-label="Manifest">
        <code>{shown.slice(0, longestShown)}</code>
      </pre>
      {shown.length > longestShown ? (
        <p class="muted">{`Only the first ${longestShown.toLocaleString('en')} of ${shown.length.toLocaleString('en')} characters are shown.`}</p>
      ) : null}
    </>
  )
}
