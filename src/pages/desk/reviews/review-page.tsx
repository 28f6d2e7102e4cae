import type { PlatformError } from '../../../domain/errors.ts'
import { visibleText } from '../../../domain/text.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import { AppStatusBadge, VersionStatusBadge } from '../../components/badges.tsx'
import { Problem } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { MixedScripts } from '../mixed-scripts.tsx'
import { appPath, deskPaths, reviewPath, userPath } from '../paths.ts'
import { Decisions } from './decisions.tsx'
import { ManifestChanges } from './manifest-changes.tsx'
import type { RejectionDraft } from './rejection-draft.ts'
import { ScopeChanges } from './scope-changes.tsx'

type ReviewPageProps = {
  readonly visit: Visit
  readonly review: Review
  readonly notice: string | null
  readonly draft: RejectionDraft
  readonly error: PlatformError | null
}

export const ReviewPage = ({ visit, review, notice, draft, error }: ReviewPageProps) => (
  <DeskPage
    title={`Version ${review.version.version}`}
    about={review.app.name}
    visit={visit}
    tab={deskPaths.reviews}
    notice={notice}
  >
    <Problem error={error} />
    <Facts review={review} />
    <Rejection review={review} />
    <ScopeChanges review={review} />
    <ManifestChanges review={review} />
    <Decisions visit={visit} review={review} draft={draft} error={error} />
  </DeskPage>
)

const Facts = ({ review: { app, owner, version, live } }: { readonly review: Review }) => (
  <dl>
    <dt>App</dt>
    <dd>
      <bdi>{app.name}</bdi>{' '}
      <a href={appPath(app.slug)}>
        <code>{app.slug}</code>
      </a>{' '}
      {app.status === 'active' ? null : <AppStatusBadge status={app.status} />}
    </dd>
    <MixedScripts name={app.name} />
    <dt>Owner</dt>
    <dd>
      <bdi>{owner.name}</bdi>, <a href={userPath(owner.id)}>{owner.email}</a>
    </dd>
    <dt>Status</dt>
    <dd>
      <VersionStatusBadge status={version.status} />
    </dd>
    <dt>Submitted</dt>
    <dd>
      {version.submittedAt === null ? 'Not submitted' : <Time at={version.submittedAt} />}
      {version.revision === 1 ? null : `, revision ${version.revision}`}
    </dd>
    <dt>Live now</dt>
    <dd>{live === null ? 'Nothing' : live.version}</dd>
    <dt>Artifact</dt>
    <dd>
      <Artifact artifact={version.artifact} href={reviewPath(app.slug, version.version, 'artifact')} />
    </dd>
    <dt>Notes</dt>
    <dd>{version.notes === null ? 'None' : <bdi class="as-written">{visibleText(version.notes)}</bdi>}</dd>
  </dl>
)

const Artifact = ({ artifact, href }: Pick<Review['version'], 'artifact'> & { readonly href: string }) =>
  artifact === null ? (
    <>None</>
  ) : (
    <>
      <a href={href}>
        <bdi>{visibleText(artifact.filename)}</bdi>
      </a>
      , {artifact.sizeBytes.toLocaleString('en')} bytes
      <br />
      <small>
        SHA-256 <code>{artifact.sha256}</code>
      </small>
    </>
  )

/** What its developer was told, once it is rejected. */
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
