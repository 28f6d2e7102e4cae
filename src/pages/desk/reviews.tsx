import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listQueue, type QueuedVersion } from '../../operations/versions/lists.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { type Columns, Older, Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page, seeOther } from '../page.ts'
import { readList } from '../query.ts'
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
      return page(
        <DeskPage title="Reviews" visit={visit} tab={deskPaths.reviews}>
          <h2>Waiting for review</h2>
          <Table
            label="Versions that wait for review"
            rows={review.rows}
            columns={columns('Submitted')}
            empty="No version is waiting for review. Versions appear here when developers submit them."
          />
          <Older href={review.olderHref} name="More that wait for review" />
          <h2>Approved, not live yet</h2>
          <Table
            label="Approved versions"
            rows={activation.rows}
            columns={columns('Approved')}
            empty="No approved version is waiting to go live."
          />
          <Older href={activation.olderHref} name="More that are approved" />
        </DeskPage>,
      )
    })

const queueOf = async (visit: Visit, what: 'review' | 'activation') =>
  await readList(visit, { list: `desk-${what}`, path: deskPaths.reviews, param: what }, (part) =>
    listQueue(visit.door.platform, what, part),
  )

const columns = (since: string): Columns<QueuedVersion> => ({
  Version: ({ slug, version }) => <a href={reviewPath(slug, version)}>{version}</a>,
  App: ({ appName, appStatus, slug }) => (
    <>
      <bdi>{appName}</bdi> {appStatus === 'active' ? null : <AppStatusBadge status="suspended" />}
      <br />
      <small>
        <code>{slug}</code>
      </small>
    </>
  ),
  [since]: ({ since: at }) => <Time at={at} />,
  Owner: ({ ownerEmail }) => <bdi>{ownerEmail}</bdi>,
})
