import type { PlatformError } from '../../../domain/errors.ts'
import type { VersionStatus } from '../../../domain/version.ts'
import type { VersionRecord } from '../../../operations/versions/version-record.ts'
import { Problem } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import { VersionStatusBadge } from '../../components/badges.tsx'
import { AppPage } from '../components/app-page.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { Artifact } from './artifact.tsx'
import { HeadBadge } from './head-badge.tsx'
import { Manifest } from './manifest.tsx'
import { Rejection } from './rejection.tsx'
import { VersionActions } from './version-actions.tsx'

type VersionPageProps = OwnApp & {
  readonly version: VersionRecord
  /** The live version, which a decision is bound to; null when there is none. */
  readonly liveId: string | null
  readonly notice: string | null
  readonly error: PlatformError | null
}

export const VersionPage = ({ visit, app, version, liveId, notice, error }: VersionPageProps) => (
  <AppPage visit={visit} app={app} tab="versions" title={`Version ${version.version}`} notice={notice}>
    <Problem error={error} />
    <p>
      <VersionStatusBadge status={version.status} /> <HeadBadge isHead={version.current.development} />
    </p>
    <p>{meanings[version.status]}</p>
    <Rejection rejection={version.rejection} />
    <VersionActions visit={visit} app={app} version={version} liveId={liveId} />
    <h2>Details</h2>
    <Facts version={version} />
    <h2>Notes</h2>
    {version.notes === null || version.notes === '' ? (
      <p class="muted">None.</p>
    ) : (
      <p class="as-written" dir="auto">
        {version.notes}
      </p>
    )}
    <h2>Artifact</h2>
    <Artifact artifact={version.artifact} href={appPath(app.slug, 'versions', version.version, 'artifact')} />
    <h2>Manifest</h2>
    <Manifest manifest={version.manifest} />
    <p>
      <a href={appPath(app.slug, 'versions')}>All versions</a>
    </p>
  </AppPage>
)

/** What each status means for the developer. */
const meanings = {
  draft: 'Only you see it. Upload it again to replace it, or submit it for review.',
  submitted: 'An operator looks at it. Its content cannot change now.',
  approved: 'It passed the review and goes live when an operator makes it live.',
  active: 'This is what users get.',
  superseded: 'It was live before. A production rollback can bring it back.',
  rejected: 'It stays as it is. Upload what you mended under a new version.',
} as const satisfies Record<VersionStatus, string>

const Facts = ({ version }: { readonly version: VersionRecord }) => (
  <dl>
    <dt>Number</dt>
    <dd>{version.number}</dd>
    <dt>Revision</dt>
    <dd>{version.revision}</dd>
    <dt>Scopes</dt>
    <dd>{version.scopes.length === 0 ? 'None' : <code>{version.scopes.join(' ')}</code>}</dd>
    <Moment name="Created" at={version.createdAt} />
    <Moment name="Last changed" at={version.updatedAt} />
    <Moment name="Submitted" at={version.submittedAt} />
    <Moment name="Reviewed" at={version.reviewedAt} />
    <Moment name="Last went live" at={version.activatedAt} />
    <dt>ID</dt>
    <dd>
      <code>{version.id}</code>
    </dd>
  </dl>
)

const Moment = ({ name, at }: { readonly name: string; readonly at: number | null }) =>
  at === null ? null : (
    <>
      <dt>{name}</dt>
      <dd>
        <Time at={at} />
      </dd>
    </>
  )
