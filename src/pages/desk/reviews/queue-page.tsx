import type { QueuedVersion } from '../../../operations/versions/lists.ts'
import { AppStatusBadge } from '../../components/badges.tsx'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths, reviewPath } from '../paths.ts'

type Queue = { readonly versions: readonly QueuedVersion[]; readonly moreHref: string | null }
type QueuePageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly review: Queue
  readonly activation: Queue
}

export const QueuePage = ({ visit, notice, review, activation }: QueuePageProps) => (
  <DeskPage title="Reviews" visit={visit} tab={deskPaths.reviews} notice={notice}>
    <h2>Waiting for review</h2>
    {review.versions.length === 0 ? (
      <p class="muted">Nothing waits for you. Versions appear here when developers submit them.</p>
    ) : (
      <QueueTable label="Versions that wait for review" since="Submitted" versions={review.versions} />
    )}
    <Older href={review.moreHref} name="More that wait for review" />
    <h2>Approved, not live yet</h2>
    {activation.versions.length === 0 ? (
      <p class="muted">No approved version waits to go live.</p>
    ) : (
      <QueueTable label="Approved versions" since="Approved" versions={activation.versions} />
    )}
    <Older href={activation.moreHref} name="More that are approved" />
  </DeskPage>
)

type QueueTableProps = { readonly label: string; readonly since: string; readonly versions: readonly QueuedVersion[] }

const QueueTable = ({ label, since, versions }: QueueTableProps) => (
  <Table label={label} columns={['Version', 'App', since, 'Owner']}>
    {versions.map((version) => (
      <tr key={version.id}>
        <td>
          <a href={reviewPath(version.slug, version.version)}>{version.version}</a>
        </td>
        <td>
          <bdi>{version.appName}</bdi> {version.appStatus === 'active' ? null : <AppStatusBadge status="suspended" />}
          <br />
          <small>
            <code>{version.slug}</code>
          </small>
        </td>
        <td>
          <Time at={version.since} />
        </td>
        <td>
          <bdi>{version.ownerEmail}</bdi>
        </td>
      </tr>
    ))}
  </Table>
)
