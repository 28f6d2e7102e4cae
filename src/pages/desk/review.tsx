import { appFactsIn, lackOfManifest } from '../../domain/manifest.ts'
import { visibleJson, visibleProse, visibleText } from '../../domain/text.ts'
import { approveAndActivate, moveVersion } from '../../operations/versions/move-version.ts'
import { listReviewMessages, writeReviewMessage } from '../../operations/versions/review.ts'
import { readReview, type Review } from '../../operations/versions/lists.ts'
import { linksOf, OutLink } from '../app-facts.tsx'
import { changed, pageFor, routes } from '../change.tsx'
import { AppStatusBadge, type BadgeWords, StateBadge, VersionStatusBadge } from '../design/badge.tsx'
import { Facts, Time } from '../design/values.tsx'
import { readIconOfVersion } from '../../operations/directory/directory.ts'
import { formOf, outcomeOf, text } from '../form.ts'
import { iconAnswer } from '../assets.ts'
import { page, seeOther } from '../page.ts'
import { artifactDownload, messageForms, readSeen, ReviewMessages, seenField } from '../version.tsx'
import type { Visit } from '../visit.ts'
import { type Notices, parameterOf } from '../query.ts'
import { afterDecision, Decisions, rejection } from './decisions.tsx'
import { AppLink, DeskPage, deskPaths, mixedScriptsFact, notAsShown, Owner, reviewPath } from './desk-page.tsx'
import { reviewFilesPath, reviewFilesRoutes } from './review-files.tsx'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import type { ManifestChange } from '../../domain/manifest-difference.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { ScopeChanges } from '../design/scopes.tsx'
import { Table } from '../design/table.tsx'
import { SmallLink } from '../design/form.tsx'

const notices = {
  approved: 'The version is approved. It is not live yet.',
  published: 'The version is approved and live.',
  activated: 'The version is live.',
  asked: 'The question is sent. The answer appears here.',
  ...rejection.done,
} as const

/** The same about another version, on the page of the one that is decided next. */
const noticesAbout = (decided: string, next: string): Notices => {
  const said = (what: string) => (
    <>
      {what} <bdi>{decided}</bdi>. Next: <bdi>{next}</bdi>.
    </>
  )
  return {
    approved: said('Approved, but not live yet:'),
    published: said('Approved and live:'),
    activated: said('Live:'),
    rejected: said('Rejected:'),
  }
}

const reviewPattern = '/desk/reviews/:slug/:version'
type Named = { readonly slug: string; readonly version: string }

const decisionForm = formOf({ seen: text })

/** The review of one version, and the decisions about it. */
export const reviewRoutes = routes(() => [
  rejection.routes,
  reviewFilesRoutes,
  pageFor('operator', reviewPattern, show),
  pageFor('operator', `${reviewPattern}/artifact`, async ({ door, call }, params) => {
    const { version } = await readReview(door.platform, params.slug, params.version)
    return await artifactDownload(door, call, version)
  }),
  pageFor('operator', `${reviewPattern}/manifest`, async (visit, params) => {
    const review = await readReview(visit.door.platform, params.slug, params.version)
    return page(<ManifestPage visit={visit} review={review} />)
  }),
  pageFor('operator', `${reviewPattern}/icon`, async ({ door }, params) => {
    const { app, version } = await readReview(door.platform, params.slug, params.version)
    return iconAnswer(await readIconOfVersion(door.platform, app.id, version.id), 'operators')
  }),
  changed(`${reviewPattern}/ask`, {
    by: 'operator',
    effect: 'asks somebody to decide',
    form: messageForms.operators,
    show,
    act: async ({ visit, fields: { text: asked }, ticket }, { slug, version }) => {
      const message = { slug, version, side: 'operators', text: asked } as const
      await visit.asOperator({ ticket }).do(writeReviewMessage, message)
      return seeOther(`${reviewPath(slug, version)}?done=asked`)
    },
    again: (_, { slug, version }) => ({
      section: 'desk',
      href: reviewPath(slug, version),
      name: 'See the questions about the version',
    }),
  }),
  decision('approve', 'approved'),
  decision('publish', 'published'),
  decision('activate', 'activated'),
])

const decision = (step: 'approve' | 'publish' | 'activate', done: 'approved' | 'published' | 'activated') =>
  changed(`${reviewPattern}/${step}`, {
    by: 'operator',
    effect: 'gives users a version',
    form: decisionForm,
    show,
    act: async ({ visit, fields }, { slug, version }) => {
      const seen = readSeen(fields.seen)
      const decided = await outcomeOf(
        step === 'publish'
          ? visit.asOperator().do(approveAndActivate, { slug, version, seen })
          : visit.asOperator().do(moveVersion, { slug, version, step, rejection: null, seen }),
      )
      if (decided.kind === 'done') return await afterDecision(visit, { slug, version }, step, done)
      const now = await readReview(visit.door.platform, slug, version)
      const isAsShown = fields.seen === seenField(now.seen) && decided.error.code !== 'version_not_eligible'
      throw isAsShown ? decided.error : notAsShown(now.version.status)
    },
  })

const show = async (visit: Visit, { slug, version }: Named): Promise<Response> => {
  const { platform } = visit.door
  const review = await readReview(platform, slug, version)
  const catalogue = await readCatalogue(platform)
  const title = `${review.app.name} ${review.version.version}`
  const decided = parameterOf(visit, 'after')
  return page(
    <DeskPage
      title={title}
      belongsTo="Review"
      avatarId={review.app.id}
      icon={review.hasIcon ? reviewPath(slug, version, 'icon') : null}
      badges={<VersionStatusBadge status={review.version.status} />}
      visit={visit}
      tab={deskPaths.reviews}
      notices={decided === '' ? notices : noticesAbout(visibleText(decided), title)}
    >
      <ManifestNotice review={review} />
      {review.owner.id === visit.userId ? <OwnAppNotice /> : null}
      <ReviewFacts review={review} />
      <Rejection review={review} />
      <ReviewedScopes catalogue={catalogue} review={review} />
      <ManifestChanges review={review} />
      <ReviewMessages
        visit={visit}
        side="operators"
        status={review.version.status}
        messages={await listReviewMessages(platform, review.version.id)}
        action={reviewPath(slug, version, 'ask')}
      />
      <Decisions visit={visit} review={review} />
    </DeskPage>,
  )
}

/** What a version does not say about itself comes before everything that it says. */
const ManifestNotice = ({ review: { version } }: { readonly review: Review }) => {
  const lack = lackOfManifest(version.manifest)
  return lack === null ? null : (
    <p class="problem">
      {lack} Its developer was told before submitting it. Users learn nothing about the app from it.
    </p>
  )
}

/** Nothing forbids it, because the only operator may be the only developer. The audit log names who decided. */
const OwnAppNotice = () => (
  <p class="problem">
    This is your own app. If there is another operator, leave the decision to them. The audit log shows that you decided
    about your own app.
  </p>
)

const ReviewFacts = ({ review: { app, owner, version, live } }: { readonly review: Review }) => (
  <Facts
    of={{
      App: (
        <>
          <bdi>{app.name}</bdi> <AppLink slug={app.slug} />{' '}
          {app.status === 'active' ? null : <AppStatusBadge status={app.status} />}
        </>
      ),
      ...mixedScriptsFact(app.name),
      Owner: <Owner owner={owner} />,
      Submitted: (
        <>
          <Time at={version.submittedAt} otherwise="Not submitted" />
          {version.revision === 1 ? null : `, revision ${version.revision}`}
        </>
      ),
      Decided: version.reviewedAt && <Time at={version.reviewedAt} />,
      'Live now': live === null ? 'Nothing' : live.version,
      Artifact: (
        <Artifact
          artifact={version.artifact}
          href={reviewPath(app.slug, version.version, 'artifact')}
          files={reviewFilesPath(app.slug, version.version)}
        />
      ),
      ...Object.fromEntries(
        Object.entries(linksOf(appFactsIn(version.manifest))).map(([words, href]) => [
          words,
          href && <OutLink href={href}>{visibleText(href)}</OutLink>,
        ]),
      ),
      Notes: version.notes === null ? 'None' : <bdi class="as-written">{visibleProse(version.notes)}</bdi>,
    }}
  />
)

type ArtifactProps = Pick<Review['version'], 'artifact'> & { readonly href: string; readonly files: string }

const Artifact = ({ artifact, href, files }: ArtifactProps) =>
  artifact === null ? (
    <>None</>
  ) : (
    <>
      <a href={href}>
        <bdi>{visibleText(artifact.filename)}</bdi>
      </a>
      , {artifact.sizeBytes.toLocaleString('en')} bytes
      <br />
      <a href={files}>See the files in it, and what has changed</a>
      <br />
      <small>
        SHA-256 <code>{artifact.sha256}</code>
      </small>
    </>
  )

/** The reasons that the developer was given, for a rejected version. */
const Rejection = ({ review: { version } }: { readonly review: Review }) =>
  version.rejection === null ? null : (
    <section aria-labelledby="rejection">
      <h2 id="rejection">Why it was rejected</h2>
      <p>
        <bdi class="as-written">{version.rejection.message}</bdi>
      </p>
      <dl>
        {version.rejection.items.map(({ path, message }, index) => (
          <div class="pair" key={index}>
            <dt>
              <code>{path}</code>
            </dt>
            <dd>
              <bdi>{message}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )

/** The complete manifest. */
const ManifestPage = ({ visit, review: { app, version } }: { readonly visit: Visit; readonly review: Review }) => (
  <DeskPage
    title={`Manifest of version ${version.version}`}
    belongsTo={app.name}
    crumbs={[{ href: reviewPath(app.slug, version.version), name: `${app.name} ${version.version}` }]}
    visit={visit}
    tab={deskPaths.reviews}
  >
    <p class="muted">Invisible characters are shown as escapes.</p>
    <pre tabIndex={0} role="region" aria-label={`The manifest of ${version.version}`}>
      {visibleJson(version.manifest)}
    </pre>
  </DeskPage>
)

type ReviewedScopesProps = { readonly catalogue: ScopeCatalogue; readonly review: Review }

/** The scopes of a version, compared with those of the live one. */
const ReviewedScopes = ({ catalogue, review }: ReviewedScopesProps) => {
  const { version, live, newScopes, droppedScopes } = review
  return (
    <section aria-labelledby="scopes">
      <h2 id="scopes">Scopes</h2>
      <p class="muted">{scopeSentence(review)}</p>
      <ScopeChanges
        catalogue={catalogue}
        scopes={version.scopes}
        added={live === null ? [] : newScopes}
        dropped={droppedScopes}
      />
    </section>
  )
}

const scopeSentence = ({ version, live, newScopes, droppedScopes }: Review): string => {
  if (version.scopes.length === 0 && droppedScopes.length === 0) return 'It asks for no scopes.'
  if (live === null) return 'Nothing is live yet, so all of them are new.'
  if (live.id === version.id) return 'This is the live version.'
  if (newScopes.length > 0) {
    return `${newScopes.length === 1 ? 'One new scope' : `${newScopes.length} new scopes`}, compared with the live version ${live.version}.`
  }
  return `No new scopes, compared with the live version ${live.version}.`
}

/** Longer values and manifests are cut here. The complete manifest has its own page. */
const longestValue = 600
const longestManifest = 20_000

/** The manifest, and its differences from the live manifest. */
const ManifestChanges = ({ review }: { readonly review: Review }) => {
  const { app, version, live, changes, moreChanges } = review
  return (
    <section aria-labelledby="manifest">
      <h2 id="manifest">Manifest</h2>
      <p class="muted">{manifestSentence(review)}</p>
      <ChangeTable changes={changes} columns={['Live now', 'In this version']} />
      {moreChanges === 0 ? null : (
        <p class="problem">
          {moreChanges} more changes are not shown here. Compare the complete manifests before you decide.
        </p>
      )}
      <details open={live === null}>
        <summary>Show the manifest</summary>
        <pre tabIndex={0} role="region" aria-label={`The manifest of ${version.version}`}>
          {cut(visibleJson(version.manifest), longestManifest)}
        </pre>
      </details>
      <p class="beside apart">
        <SmallLink href={reviewPath(app.slug, version.version, 'manifest')}>
          Complete manifest of {version.version}
        </SmallLink>
        {live === null || live.id === version.id ? null : (
          <>
            {' '}
            <SmallLink href={reviewPath(app.slug, live.version, 'manifest')}>
              Complete manifest of {live.version}
            </SmallLink>
          </>
        )}
      </p>
    </section>
  )
}

const manifestSentence = ({ version, live, changes, moreChanges }: Review): string => {
  if (live === null) return 'Nothing is live yet, so there is nothing to compare it with.'
  if (live.id === version.id) return 'This is the live version.'
  const count = changes.length + moreChanges
  if (count === 0) return `The same as in the live version ${live.version}.`
  return `${count === 1 ? 'One change' : `${count} changes`}, compared with the live version ${live.version}.`
}

const marks = {
  added: ['good', 'Added'],
  removed: ['bad', 'Removed'],
  changed: ['waiting', 'Changed'],
} as const satisfies Record<ManifestChange['kind'], BadgeWords>

type ChangeTableProps = {
  readonly changes: readonly ManifestChange[]
  /** The names of the two manifests. */
  readonly columns: readonly [before: string, after: string]
}

/** The differences of two manifests. */
export const ChangeTable = ({ changes, columns: [before, after] }: ChangeTableProps) => (
  <Table
    label="Changes of the manifest"
    rows={changes}
    rowHeader="Where"
    columns={{
      Change: ({ kind }) => <StateBadge of={marks[kind]} />,
      // The developer chose the path as well as the value.
      Where: ({ path }) => <code>{visibleText(cut(path, longestValue))}</code>,
      [before]: (change) => (change.kind === 'added' ? <Nothing /> : <Value value={change.before} />),
      [after]: (change) => (change.kind === 'removed' ? <Nothing /> : <Value value={change.after} />),
    }}
  />
)

const Nothing = () => <span class="muted">nothing</span>
const Value = ({ value }: { readonly value: unknown }) => (
  <code class="value">{cut(visibleJson(value), longestValue)}</code>
)

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`
