import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listQueue, type QueuedVersion } from '../../operations/versions/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge, Badge } from '../design/badge.tsx'
import { noMatch, Pager, SearchBar } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { page, seeOther } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
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
      const path = deskPaths.reviews
      const q = parameterOf(visit, 'q')
      const review = await queueOf(visit, 'review', q)
      const activation = await queueOf(visit, 'activation', q)
      const isFiltered = q !== ''
      return page(
        <DeskPage title="Reviews" visit={visit} tab={path}>
          <SearchBar
            path={path}
            label="Name or slug of the app"
            part={q}
            shown={review.rows.length > activation.rows.length ? review : activation}
          />
          <h2>Waiting for review</h2>
          <RowList
            label="Versions that wait for review"
            rows={review.rows}
            row={(of) => <QueueRow of={of} since="Submitted" />}
            empty={noMatch(review, isFiltered, nothingToReview)}
          />
          <Pager {...review} shown={review.rows.length} label="Pages of versions that wait for review" />
          <h2>Approved, not live yet</h2>
          <RowList
            label="Approved versions"
            rows={activation.rows}
            row={(of) => <QueueRow of={of} since="Approved" />}
            empty={noMatch(activation, isFiltered, 'No approved version is waiting to go live.')}
          />
          <Pager {...activation} shown={activation.rows.length} label="Pages of approved versions" />
        </DeskPage>,
      )
    })

const nothingToReview = 'No version is waiting for review. Versions appear here when developers submit them.'

const queueOf = async (visit: Visit, what: 'review' | 'activation', q: string) =>
  await readList(visit, { list: `desk-${what}`, path: deskPaths.reviews, query: { q }, param: what }, (part) =>
    listQueue(visit.door.platform, what, part, q),
  )

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
