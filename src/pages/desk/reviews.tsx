import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listQueue, type QueuedVersion } from '../../operations/versions/lists.ts'
import { AppStatusBadge } from '../components/badges.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page, seeOther } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskPage, deskPaths, reviewPath } from './desk-page.tsx'

/** The versions that wait for a decision. `/desk` leads here. */
export const reviewsRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.desk, async ({ request }) => {
      await requireOperator(door, request)
      return seeOther(deskPaths.reviews)
    })
    .get(deskPaths.reviews, async ({ request }) => {
      const visit = await requireOperator(door, request)
      const review = await queueOf(visit, 'review')
      const activation = await queueOf(visit, 'activation')
      return page(<ReviewsPage visit={visit} review={review} activation={activation} />)
    })

type Queue = { readonly versions: readonly QueuedVersion[]; readonly moreHref: string | null }

const queueOf = async (visit: Visit, what: 'review' | 'activation'): Promise<Queue> => {
  const list = `desk-${what}`
  const { data, nextCursor } = await listQueue(visit.door.platform, what, listPart(visit, list, what))
  return { versions: data, moreHref: olderPath(deskPaths.reviews, list, nextCursor, {}, what) }
}

type ReviewsPageProps = { readonly visit: Visit; readonly review: Queue; readonly activation: Queue }

const ReviewsPage = ({ visit, review, activation }: ReviewsPageProps) => (
  <DeskPage title="Reviews" visit={visit} tab={deskPaths.reviews}>
    <h2>Waiting for review</h2>
    {review.versions.length === 0 ? (
      <p class="muted">No version is waiting for review. Versions appear here when developers submit them.</p>
    ) : (
      <QueueTable label="Versions that wait for review" since="Submitted" versions={review.versions} />
    )}
    <Older href={review.moreHref} name="More that wait for review" />
    <h2>Approved, not live yet</h2>
    {activation.versions.length === 0 ? (
      <p class="muted">No approved version is waiting to go live.</p>
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
