import { visibleJson } from '../../../domain/text.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths, reviewPath } from '../paths.ts'

type ManifestPageProps = { readonly visit: Visit; readonly review: Review }

/** A manifest from its first to its last character. */
export const ManifestPage = ({ visit, review: { app, version } }: ManifestPageProps) => (
  <DeskPage title={`Manifest of version ${version.version}`} about={app.name} visit={visit} tab={deskPaths.reviews}>
    <p>
      <bdi>{app.name}</bdi> · <a href={reviewPath(app.slug, version.version)}>Back to version {version.version}</a>
    </p>
    <p class="muted">Characters that cannot be seen are written as escapes.</p>
    <pre tabIndex={0} role="region" aria-label={`The manifest of ${version.version}`}>
      {visibleJson(version.manifest)}
    </pre>
  </DeskPage>
)
