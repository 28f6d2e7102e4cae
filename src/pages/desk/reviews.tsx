import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listQueue, type QueuedVersion } from '../../operations/versions/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge, Badge } from '../design/badge.tsx'
import { FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { list, listRoutes, search } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskPage, deskPaths, reviewPath } from './desk-page.tsx'

const deskReviews = list(
  'desk',
  deskPaths.reviews,
  { q: search('Name or slug of the app') },
  { parts: { review: ['q'], activation: ['q'] } },
)

/** The versions that wait for a decision. `/desk` leads here. */
export const reviewsRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.desk, async ({ request }) => {
      await requireOperator(door, request)
      return seeOther(deskPaths.reviews)
    })
    .use(listRoutes(door, deskReviews, { by: 'operator', show }))

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskReviews.read(visit)
  const { q } = asked.values
  const review = await asked.rows((window) => listQueue(platform, 'review', window, q), 'review')
  const activation = await asked.rows((window) => listQueue(platform, 'activation', window, q), 'activation')
  return page(
    <DeskPage title="Reviews" visit={visit} tab={deskPaths.reviews}>
      <FilterBar of={asked} isShown={isLong(review) || isLong(activation)} />
      <h2>Waiting for review</h2>
      <RowList
        label="Versions that wait for review"
        rows={review.rows}
        row={(of) => <QueueRow of={of} since="Submitted" />}
        empty={noMatch(review, nothingToReview)}
      />
      <Pager of={review} label="Pages of versions that wait for review" />
      <h2>Approved, not live yet</h2>
      <RowList
        label="Approved versions"
        rows={activation.rows}
        row={(of) => <QueueRow of={of} since="Approved" />}
        empty={noMatch(activation, 'No approved version is waiting to go live.')}
      />
      <Pager of={activation} label="Pages of approved versions" />
    </DeskPage>,
  )
}

const nothingToReview = 'No version is waiting for review. Versions appear here when developers submit them.'

const QueueRow = ({ of, since }: { readonly of: QueuedVersion; readonly since: string }) => (
  <Row
    key={of.id}
    href={reviewPath(of.slug, of.version)}
    avatar={<Avatar id={of.appId} name={of.appName} />}
    title={
      <>
        <bdi>{of.appName}</bdi>
        <span class="unseen"> {of.version}</span>
      </>
    }
    badge={
      <>
        <Badge>{of.version}</Badge> {of.appStatus === 'active' ? null : <AppStatusBadge status="suspended" />}
      </>
    }
    facts={[<code>{of.slug}</code>, <bdi>{of.ownerEmail}</bdi>]}
    time={[since, of.since]}
  />
)
